//! Which items a user of a crate can name: those of public modules, and those that `pub use` gives on.

use std::collections::BTreeSet;

use proc_macro2::Span;
use syn::{Item, UseTree, Visibility};

use super::macros;
use crate::error::Error;
use crate::source::{Crate, join};

/// Module and name of the items that can be reached.
pub type Reached = BTreeSet<(String, String)>;

/// What a path leads to.
pub enum Found {
    Module(String),
    /// Its module and its name there.
    Item(String, String),
}

/// One name that a `use` brings in; `*` for all.
struct Import {
    path: Vec<String>,
    name: String,
    is_public: bool,
    line: usize,
}

pub fn of(all: &Crate) -> Result<Reached, Error> {
    let mut reached = Reached::new();
    all.reach("", &mut reached, &mut BTreeSet::new())?;
    Ok(reached)
}

impl Crate {
    fn reach(&self, at: &str, reached: &mut Reached, seen: &mut BTreeSet<String>) -> Result<(), Error> {
        let Some(module) = self.0.get(at).filter(|_| seen.insert(at.to_owned())) else { return Ok(()) };
        reached.extend(
            module
                .items
                .iter()
                .flat_map(defined)
                .filter_map(|(name, is_public)| is_public.then(|| (at.to_owned(), name))),
        );
        for (child, _) in module.children.iter().filter(|(_, is_public)| **is_public) {
            self.reach(&join(at, child), reached, seen)?;
        }
        for import in module.items.iter().flat_map(imports).filter(|import| import.is_public) {
            let glob = import.name == "*";
            let path = if glob { &import.path[..import.path.len() - 1] } else { &import.path[..] };
            match self.find(at, path, &mut BTreeSet::new()) {
                Some(Found::Item(module, name)) => drop(reached.insert((module, name))),
                Some(Found::Module(module)) => self.reach(&module, reached, seen)?,
                // Of another crate, unless it begins in this one.
                None if !self.is_own(at, path) => {}
                None => {
                    let path = import.path.join("::");
                    return Err(Error::Unresolved { file: module.file.clone(), line: import.line, path });
                }
            }
        }
        Ok(())
    }

    fn is_own(&self, at: &str, path: &[String]) -> bool {
        let first = path.first().map_or("", String::as_str);
        matches!(first, "crate" | "self" | "super") || self.0.get(at).is_some_and(|m| m.children.contains_key(first))
    }

    /// What `path`, written in module `at`, leads to in this crate.
    pub fn find(&self, at: &str, path: &[String], seen: &mut BTreeSet<(String, String)>) -> Option<Found> {
        let mut found = Found::Module(at.to_owned());
        for (index, segment) in path.iter().enumerate() {
            let Found::Module(module) = found else { return Some(found) };
            found = match segment.as_str() {
                "crate" if index == 0 => Found::Module(String::new()),
                "self" => Found::Module(module),
                "super" => Found::Module(module.rsplit_once("::").map_or("", |(parent, _)| parent).to_owned()),
                name => self.find_name(&module, name, seen)?,
            };
        }
        Some(found)
    }

    fn find_name(&self, at: &str, name: &str, seen: &mut BTreeSet<(String, String)>) -> Option<Found> {
        if !seen.insert((at.to_owned(), name.to_owned())) {
            return None;
        }
        let module = self.0.get(at)?;
        if module.children.contains_key(name) {
            return Some(Found::Module(join(at, name)));
        }
        if module.items.iter().flat_map(defined).any(|(defined, _)| defined == name) {
            return Some(Found::Item(at.to_owned(), name.to_owned()));
        }
        let imports: Vec<_> = module.items.iter().flat_map(imports).collect();
        let by_name = imports.iter().filter(|import| import.name == name).find_map(|i| self.find(at, &i.path, seen));
        by_name.or_else(|| {
            imports.iter().filter(|import| import.name == "*").find_map(|import| {
                let (_, path) = import.path.split_last()?;
                match self.find(at, path, seen)? {
                    Found::Module(module) if module != at => self.find_name(&module, name, seen),
                    _ => None,
                }
            })
        })
    }
}

/// The names that an item brings into its module, and whether they are public. What a macro makes is taken to be.
fn defined(item: &Item) -> Vec<(String, bool)> {
    let (name, visibility) = match item {
        Item::Const(i) => (&i.ident, &i.vis),
        Item::Enum(i) => (&i.ident, &i.vis),
        Item::Fn(i) => (&i.sig.ident, &i.vis),
        Item::Static(i) => (&i.ident, &i.vis),
        Item::Struct(i) => (&i.ident, &i.vis),
        Item::Trait(i) => (&i.ident, &i.vis),
        Item::Type(i) => (&i.ident, &i.vis),
        Item::Union(i) => (&i.ident, &i.vis),
        Item::Macro(i) if i.ident.is_none() => {
            return macros::documented(i.mac.tokens.clone()).into_iter().map(|made| (made.name, true)).collect();
        }
        _ => return Vec::new(),
    };
    vec![(name.to_string(), matches!(visibility, Visibility::Public(_)))]
}

fn imports(item: &Item) -> Vec<Import> {
    let mut found = Vec::new();
    if let Item::Use(item) = item {
        let is_public = matches!(item.vis, Visibility::Public(_));
        walk(&item.tree, &mut Vec::new(), is_public, &mut found);
    }
    found
}

fn walk(tree: &UseTree, path: &mut Vec<String>, is_public: bool, found: &mut Vec<Import>) {
    let mut add = |last: String, name: String, at: Span| {
        // `{self}` names the module before it.
        let name = if name == "self" { path.last().cloned().unwrap_or_default() } else { name };
        let path = path.iter().cloned().chain([last]).collect();
        found.push(Import { path, name, is_public, line: at.start().line });
    };
    match tree {
        UseTree::Name(name) => add(name.ident.to_string(), name.ident.to_string(), name.ident.span()),
        UseTree::Rename(name) => add(name.ident.to_string(), name.rename.to_string(), name.ident.span()),
        UseTree::Glob(glob) => add("*".into(), "*".into(), glob.star_token.spans[0]),
        UseTree::Path(step) => {
            path.push(step.ident.to_string());
            walk(&step.tree, path, is_public, found);
            path.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| walk(tree, path, is_public, found)),
    }
}
