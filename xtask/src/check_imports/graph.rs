//! The graph of names that each file of a crate imports from others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Item, ItemUse, UseTree};

use crate::source::{Crate, attrs, is_test, join};

/// Each file with the files that it names something from.
pub type Graph = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

const ROOTS: [&str; 3] = ["crate", "super", "self"];

/// How many re-exports are followed from one name.
const MOST_STEPS: usize = 8;

/// Names that `pub use` re-exports, with their origin: by the re-exporting module and the name.
type GivenOn = BTreeMap<(String, String), Vec<String>>;

/// Reads the paths of all modules except tests. A file that uses one of its own modules without an import is above it,
/// which is not counted.
pub fn of(modules: &Crate) -> Graph {
    let given_on = given_on(modules);
    let mut graph = Graph::new();
    for (path, module) in &modules.0 {
        let named = graph.entry(module.file.clone()).or_default();
        let items = module.items.iter().filter(|item| !is_test(attrs(item)));
        let imports: Vec<_> = items.flat_map(|item| paths(item.to_token_stream())).collect();
        // By the names that they have here: `cpu` of `use crate::cpu`, for `cpu::scan()`.
        let known: BTreeMap<_, _> =
            imports.iter().filter_map(|import| Some((import.alias.as_deref()?, &import.names))).collect();
        for import in &imports {
            let of_known = known.get(import.names[0].as_str()).filter(|_| import.alias.is_none());
            if of_known.is_none() && import.alias.is_none() && !ROOTS.contains(&import.names[0].as_str()) {
                continue;
            }
            let spelled = of_known.map(|names| names.iter().chain(&import.names[1..]).cloned().collect());
            let spelled = spelled.as_ref().unwrap_or(&import.names);
            // A re-exported name counts for its users; so does a module that is named in a file's imports.
            let Some(names) = absolute(modules, path, spelled).filter(|_| !import.gives_on) else { continue };
            if import.alias.is_some() && modules.0.contains_key(&names.join("::")) {
                continue;
            }
            let file = &modules.0[&owner(modules, &given_on, names, 0)].file;
            if *file != module.file {
                named.insert(file.clone());
            }
        }
    }
    graph
}

struct Import {
    names: Vec<String>,
    /// Alias in the `use`.
    alias: Option<String>,
    gives_on: bool,
}

fn given_on(modules: &Crate) -> GivenOn {
    let mut found = GivenOn::new();
    for (path, module) in &modules.0 {
        for item in &module.items {
            let Item::Use(item) = item else { continue };
            if matches!(item.vis, syn::Visibility::Inherited) {
                continue;
            }
            for (names, alias) in leaves(&item.tree) {
                if let Some(names) = absolute(modules, path, &names) {
                    found.insert((path.clone(), alias), names);
                }
            }
        }
    }
    found
}

/// Returns the names of a path from the crate's root; `None` for a path into another crate.
fn absolute(modules: &Crate, module: &str, names: &[String]) -> Option<Vec<String>> {
    let mut own: Vec<String> = module.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let mut rest = names;
    match names.first()?.as_str() {
        "crate" => {
            own.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|name| name == "super") {
                own.pop();
                rest = &rest[1..];
            }
        }
        first if modules.0.contains_key(&join(module, first)) => {}
        _ => return None,
    }
    own.extend_from_slice(rest);
    Some(own)
}

/// Returns the module whose file contains the item.
fn owner(modules: &Crate, given_on: &GivenOn, names: Vec<String>, step: usize) -> String {
    let mut path = String::new();
    for (at, name) in names.iter().enumerate() {
        let longer = join(&path, name);
        if modules.0.contains_key(&longer) {
            path = longer;
            continue;
        }
        return match given_on.get(&(path.clone(), name.clone())) {
            Some(to) if step < MOST_STEPS && *to != names => {
                let names = to.iter().chain(&names[at + 1..]).cloned().collect();
                owner(modules, given_on, names, step + 1)
            }
            _ => path,
        };
    }
    path
}

/// Returns paths that an item imports or spells out.
fn paths(tokens: TokenStream) -> Vec<Import> {
    let mut found = Vec::new();
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) => found.extend(paths(group.stream())),
            TokenTree::Ident(name) if name == "use" => {
                let end = tokens[at..].iter().position(|token| is(token, ';')).map_or(tokens.len(), |n| at + n + 1);
                let visible = at > 0 && !is(&tokens[at - 1], ';') && !is(&tokens[at - 1], ']');
                if let Ok(item) = syn::parse2::<ItemUse>(tokens[at..end].iter().cloned().collect()) {
                    let gives_on = visible && found.is_empty();
                    found.extend(leaves(&item.tree).into_iter().map(|(names, alias)| Import {
                        names,
                        alias: Some(alias),
                        gives_on,
                    }));
                }
                at = end;
                continue;
            }
            TokenTree::Ident(_) => {
                let names = spelled(&tokens[at..]);
                at += 3 * (names.len() - 1);
                if names.len() > 1 {
                    found.push(Import { names, alias: None, gives_on: false });
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Parses `a::b::c` at the beginning of the tokens.
fn spelled(tokens: &[TokenTree]) -> Vec<String> {
    let mut names = vec![tokens[0].to_string()];
    while let Some([a, b, TokenTree::Ident(next)]) = tokens.get(3 * names.len() - 2..3 * names.len() + 1)
        && is(a, ':')
        && is(b, ':')
    {
        names.push(next.to_string());
    }
    names
}

fn is(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

/// Returns the paths of a `use`, each with its local name.
fn leaves(tree: &UseTree) -> Vec<(Vec<String>, String)> {
    match tree {
        UseTree::Path(path) => {
            let mut found = leaves(&path.tree);
            for (names, alias) in &mut found {
                names.insert(0, path.ident.to_string());
                // `{self, ..}`.
                if alias.is_empty() {
                    *alias = path.ident.to_string();
                }
            }
            found
        }
        UseTree::Name(name) if name.ident == "self" => vec![(Vec::new(), String::new())],
        UseTree::Name(name) => vec![(vec![name.ident.to_string()], name.ident.to_string())],
        UseTree::Rename(name) => vec![(vec![name.ident.to_string()], name.rename.to_string())],
        UseTree::Glob(_) => vec![(Vec::new(), "*".into())],
        UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let file = syn::parse_file(text).unwrap();
        let all = file.items.iter().flat_map(|item| paths(item.to_token_stream()));
        all.filter(|import| !import.gives_on).map(|import| import.names.join("::")).collect()
    }

    #[test]
    fn imports_and_spelled_paths_are_found() {
        assert_eq!(names("use crate::a::{b, c::D};"), ["crate::a::b", "crate::a::c::D"]);
        assert_eq!(names("fn f() { use super::x; crate::y::z(self.w); }"), ["super::x", "crate::y::z"]);
        assert_eq!(
            names("impl crate::A for B { fn f(&self) -> super::C { g::<crate::d::E>() } }"),
            ["crate::A", "super::C", "crate::d::E"]
        );
        assert!(names("pub use crate::a::B;").is_empty(), "what is given on belongs to those who name it");
    }

    #[test]
    fn paths_are_counted_from_the_root() {
        let modules = Crate::of_text("mod a { pub mod b { pub struct C; } pub use b::C; } mod d {}").unwrap();
        let names = |path: &str| path.split("::").map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(absolute(&modules, "a::b", &names("super::super::d")).unwrap(), ["d"]);
        assert_eq!(absolute(&modules, "a", &names("b::C")).unwrap(), ["a", "b", "C"]);
        assert_eq!(absolute(&modules, "a", &names("std::mem")), None);
        let given_on = given_on(&modules);
        assert_eq!(owner(&modules, &given_on, names("a::C"), 0), "a::b");
        assert_eq!(owner(&modules, &given_on, names("a::Other"), 0), "a");
    }

    #[test]
    fn a_path_through_an_imported_module_leads_to_the_file_behind_it() {
        let folder = std::env::temp_dir().join(format!("pixelferry-graph-{}", std::process::id()));
        let files = [
            ("main.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b; pub fn f() { b::g() }"),
            ("b/mod.rs", "mod c; pub use c::g;"),
            ("b/c.rs", "use crate::a; pub fn g() { a::f() }"),
        ];
        std::fs::create_dir_all(folder.join("b")).unwrap();
        files.iter().for_each(|(file, text)| std::fs::write(folder.join(file), text).unwrap());
        let graph = Crate::load(&folder.join("main.rs")).map(|modules| of(&modules));
        std::fs::remove_dir_all(&folder).unwrap();
        let graph = graph.unwrap();
        assert_eq!(graph[&folder.join("a.rs")], [folder.join("b/c.rs")].into());
        assert_eq!(graph[&folder.join("b/c.rs")], [folder.join("a.rs")].into());
        assert!(graph[&folder.join("b/mod.rs")].is_empty(), "what is given on belongs to those who name it");
    }
}
