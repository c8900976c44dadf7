//! What the facade gives on of the core, and how many public types and traits have an example that runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use syn::{Attribute, Item};

use super::names;
use crate::check_docs::reach::Found;
use crate::error::Error;
use crate::source::{Crate, docs};

const CORE: &str = "interop-core";
/// What every machine has: its types are given on by name.
const THREADS: &str = "cpu-fallback";

/// So many have one. A change may raise this number, never lower it.
const LEAST: usize = 110;

/// How many have an example, and how many there are.
#[derive(Debug, PartialEq, Eq)]
pub struct Count {
    pub with: usize,
    pub all: usize,
}

/// The count, and lines that name what lacks an example where too many do.
pub fn check(root: &Path) -> Result<(Count, Vec<String>), Error> {
    let load = |krate: &str| Crate::load(&root.join("crates").join(krate.replace('_', "-")).join("src"));
    let leaf = |name: String| name.rsplit("::").next().unwrap_or_default().to_owned();
    let public = names::of_facade(&load, names::FACADE)?.into_iter().map(leaf).collect();
    let of_core = names::public(&load, CORE)?;
    let found = has_example(&load(names::FACADE)?, &[load(CORE)?, load(THREADS)?], &public);
    let count = Count { with: found.values().filter(|has| **has).count(), all: found.len() };
    let kept = of_core.difference(&public).map(|name| format!("{CORE} has {name}, the facade does not give it on"));
    if count.with >= LEAST {
        return Ok((count, kept.collect()));
    }
    let lacking = found.iter().filter(|(_, has)| !**has).map(|(name, _)| format!("{name} has no example that runs"));
    let summary = format!("{} public types have an example that runs, {LEAST} had one before", count.with);
    Ok((count, kept.chain(lacking).chain([summary]).collect()))
}

/// For each name that is a type or trait of these crates: whether an example stands where it is defined, or where the facade
/// gives it on.
fn has_example(facade: &Crate, others: &[Crate], public: &BTreeSet<String>) -> BTreeMap<String, bool> {
    let given_on = examples_of_imports(facade);
    let docs_of = |name: &String| [facade].into_iter().chain(others).find_map(|krate| defined(krate, name));
    let all = public.iter().filter_map(|name| Some((name, docs_of(name)?)));
    all.map(|(name, docs)| (name.clone(), runs(&docs) || given_on.contains(name))).collect()
}

/// The documentation of the type or trait that `krate::name` is.
fn defined(krate: &Crate, name: &str) -> Option<String> {
    let Some(Found::Item(module, name)) = krate.find("", &[name.to_owned()], &mut BTreeSet::new()) else { return None };
    let attrs = krate.0.get(&module)?.items.iter().find_map(|item| attributes(item, &name))?;
    Some(docs(attrs))
}

fn attributes<'i>(item: &'i Item, name: &str) -> Option<&'i [Attribute]> {
    let (ident, attrs) = match item {
        Item::Struct(it) => (&it.ident, &it.attrs),
        Item::Enum(it) => (&it.ident, &it.attrs),
        Item::Trait(it) => (&it.ident, &it.attrs),
        _ => return None,
    };
    (ident == name).then_some(attrs)
}

/// The names of `use` declarations that have an example of their own.
fn examples_of_imports(krate: &Crate) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for item in krate.0.values().flat_map(|module| &module.items) {
        if let Item::Use(import) = item
            && runs(&docs(&import.attrs))
        {
            names::leaves(&import.tree, "", &mut names, &mut Vec::new());
        }
    }
    names
}

/// Whether a text has a block of code that `cargo test --doc` runs.
fn runs(docs: &str) -> bool {
    let fences = docs.lines().filter_map(|line| line.trim().strip_prefix("```"));
    fences.step_by(2).any(|tags| tags.split(',').all(|tag| matches!(tag.trim(), "" | "rust" | "should_panic")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_blocks_that_run_count() {
        assert!(runs("What it is.\n\n ```\n assert!(true);\n ```"));
        assert!(runs("```text\nno\n```\nThen:\n```rust,should_panic\nyes\n```"));
        for none in
            ["", "Words.", "```text\nno\n```", "```no_run\nno\n```", "```ignore\n```", "```compile_fail,E0133\n```"]
        {
            assert!(!runs(none), "{none}");
        }
    }

    #[test]
    fn examples_are_found_where_a_type_is_defined_and_where_it_is_given_on() {
        let facade = Crate::of_text(
            "mod inner { /// ```\n/// ```\npub struct Own; } pub use inner::Own; pub use interop_core::*;
             mod shown { /// ```\n/// ```\npub use interop_core::Link; } pub use shown::Link; pub fn open() {}",
        );
        let core = Crate::of_text("pub struct Link; pub enum Bare {} mod a { /// ```\n/// ```\npub trait Bare {} }");
        let public = ["Own", "Link", "Bare", "open"].map(str::to_owned).into();
        let found = has_example(&facade.unwrap(), &[core.unwrap()], &public);
        let found: Vec<_> = found.iter().map(|(name, has)| (name.as_str(), *has)).collect();
        assert_eq!(found, [("Bare", false), ("Link", true), ("Own", true)]);
    }
}
