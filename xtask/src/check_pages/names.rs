//! The page of public names beside what the facade gives on.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use syn::{Item, UseTree, Visibility};

use crate::error::Error;
use crate::source::Crate;

pub const FACADE: &str = "pixelferry";
const PAGE: &str = "docs/api.md";

/// The number of names that are listed, and a line for each that is missing or too much.
pub fn check(root: &Path) -> Result<(usize, Vec<String>), Error> {
    let page = root.join(PAGE);
    let text = fs::read_to_string(&page).map_err(Error::file("read", &page))?;
    let public =
        of_facade(&|krate: &str| Crate::load(&root.join("crates").join(krate.replace('_', "-")).join("src")), FACADE)?;
    if public.is_empty() {
        return Err(Error::NoItems(root.join("crates").join(FACADE)));
    }
    Ok((public.len(), compare(&public, &listed(&text))))
}

fn compare(public: &BTreeSet<String>, listed: &[String]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let twice =
        listed.iter().filter(|name| !seen.insert(name.as_str())).map(|name| format!("{PAGE}: {name} is listed twice"));
    let gone =
        listed.iter().filter(|name| !public.contains(*name)).map(|name| format!("{PAGE}: {FACADE} has no {name}"));
    let missing =
        public.iter().filter(|name| !listed.contains(name)).map(|name| format!("{PAGE}: {name} is not listed"));
    missing.chain(gone).chain(twice).collect()
}

/// The code in the first column of the page's tables.
fn listed(text: &str) -> Vec<String> {
    let names = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |"));
    names.map(|(name, _)| name.trim_end_matches('!').to_owned()).collect()
}

/// What a program can name of the facade: `Name`, and `module::Name` in its public modules.
pub fn of_facade(load: &dyn Fn(&str) -> Result<Crate, Error>, krate: &str) -> Result<BTreeSet<String>, Error> {
    let all = load(krate)?;
    let mut names = public(load, krate)?;
    let Some(top) = all.0.get("") else { return Ok(names) };
    for (module, _) in top.children.iter().filter(|(_, is_public)| **is_public) {
        names.extend(of_module(load, &all, module)?.iter().map(|name| format!("{module}::{name}")));
    }
    Ok(names)
}

/// What a program can name right behind `krate::`.
pub fn public(load: &dyn Fn(&str) -> Result<Crate, Error>, krate: &str) -> Result<BTreeSet<String>, Error> {
    let all = load(krate)?;
    let mut names = of_module(load, &all, "")?;
    for module in all.0.values() {
        names.extend(module.items.iter().filter_map(exported_macro));
    }
    Ok(names)
}

fn of_module(load: &dyn Fn(&str) -> Result<Crate, Error>, all: &Crate, at: &str) -> Result<BTreeSet<String>, Error> {
    let mut names = BTreeSet::new();
    let Some(module) = all.0.get(at) else { return Ok(names) };
    names.extend(module.children.iter().filter(|(_, is_public)| **is_public).map(|(name, _)| name.clone()));
    for item in &module.items {
        match item {
            Item::Use(import) if is_public(&import.vis) => {
                let mut all_of = Vec::new();
                leaves(&import.tree, "", &mut names, &mut all_of);
                for other in all_of {
                    names.extend(public(load, &other)?);
                }
            }
            Item::Fn(it) if is_public(&it.vis) => drop(names.insert(it.sig.ident.to_string())),
            Item::Struct(it) if is_public(&it.vis) => drop(names.insert(it.ident.to_string())),
            Item::Enum(it) if is_public(&it.vis) => drop(names.insert(it.ident.to_string())),
            Item::Trait(it) if is_public(&it.vis) => drop(names.insert(it.ident.to_string())),
            Item::Type(it) if is_public(&it.vis) => drop(names.insert(it.ident.to_string())),
            Item::Const(it) if is_public(&it.vis) => drop(names.insert(it.ident.to_string())),
            _ => {}
        }
    }
    Ok(names)
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn exported_macro(item: &Item) -> Option<String> {
    let Item::Macro(it) = item else { return None };
    it.attrs
        .iter()
        .any(|attribute| attribute.path().is_ident("macro_export"))
        .then(|| Some(it.ident.as_ref()?.to_string()))?
}

/// The names that a `use` brings in, and the crates of which it brings in all.
pub fn leaves(tree: &UseTree, below: &str, names: &mut BTreeSet<String>, all_of: &mut Vec<String>) {
    match tree {
        UseTree::Path(path) => leaves(&path.tree, &path.ident.to_string(), names, all_of),
        UseTree::Name(name) => drop(names.insert(name.ident.to_string())),
        UseTree::Rename(rename) => drop(names.insert(rename.rename.to_string())),
        UseTree::Glob(_) => all_of.push(below.to_owned()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, below, names, all_of)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_both_crates_are_found_but_for_private_ones() {
        let load = |krate: &str| {
            Crate::of_text(match krate {
                "facade" => {
                    "mod inner {} pub use inner::{open, Choice as Way}; pub use core_crate::*; pub use other as gl; fn no() {}"
                }
                _ => {
                    "pub mod path {} mod hidden {} pub use hidden::Link; #[macro_export] macro_rules! owned { () => {} } pub struct S;"
                }
            })
        };
        let names: Vec<_> = public(&load, "facade").unwrap().into_iter().collect();
        assert_eq!(names, ["Link", "S", "Way", "gl", "open", "owned", "path"]);
    }

    #[test]
    fn names_in_public_modules_of_the_facade_have_the_module_before_them() {
        let load = |_: &str| {
            Crate::of_text(
                "pub mod driver { pub use core_crate::{Part, owned}; } mod own { pub struct No; } pub use own::Yes;",
            )
        };
        let names: Vec<_> = of_facade(&load, "facade").unwrap().into_iter().collect();
        assert_eq!(names, ["Yes", "driver", "driver::Part", "driver::owned"]);
    }

    #[test]
    fn what_is_missing_gone_or_twice_is_told() {
        let listed =
            listed("| name | what |\n|---|---|\n| `Link` | a |\n| `owned!` | b |\n| `Old` | c |\n| `Link` | d |\n");
        let public = ["Link", "owned", "New"].map(str::to_owned).into();
        let wrong = compare(&public, &listed);
        assert_eq!(
            wrong,
            [
                "docs/api.md: New is not listed",
                "docs/api.md: pixelferry has no Old",
                "docs/api.md: Link is listed twice"
            ]
        );
    }
}
