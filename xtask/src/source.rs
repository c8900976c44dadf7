//! Reads the modules of a crate from its files.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Attribute, Item, Meta};

use crate::error::Error;

/// Modules by path: the root is empty, then for example `cl`, `cl::buffer`.
pub struct Crate(pub BTreeMap<String, Module>);

pub struct Module {
    pub file: PathBuf,
    /// Items without tests and modules, which have entries of their own.
    pub items: Vec<Item>,
}

impl Crate {
    /// Reads all files from a crate's root on: `lib.rs`, `main.rs`.
    pub fn load(root: &Path) -> Result<Self, Error> {
        let mut modules = Self(BTreeMap::new());
        modules.add("", parse(root)?, root, &root.with_file_name(""))?;
        Ok(modules)
    }

    #[cfg(test)]
    pub fn of_text(text: &str) -> Result<Self, Error> {
        let file = Path::new("lib.rs");
        let mut modules = Self(BTreeMap::new());
        let parsed = syn::parse_file(text).map_err(|source| Error::Source { path: file.to_path_buf(), source })?;
        modules.add("", parsed.items, file, Path::new(""))?;
        Ok(modules)
    }

    /// `folder` is where the module's own modules are.
    fn add(&mut self, path: &str, items: Vec<Item>, file: &Path, folder: &Path) -> Result<(), Error> {
        let mut module = Module { file: file.to_path_buf(), items: Vec::new() };
        for item in items {
            let Item::Mod(child) = item else {
                module.items.push(item);
                continue;
            };
            if is_test(&child.attrs) {
                continue;
            }
            let name = child.ident.to_string();
            let child_path = join(path, &name);
            if let Some((_, items)) = child.content {
                self.add(&child_path, items, file, &folder.join(&name))?;
            } else {
                let beside = folder.join(format!("{name}.rs"));
                let inside = folder.join(&name).join("mod.rs");
                let Some(found) = [beside, inside].into_iter().find(|file| file.exists()) else {
                    // Files with other names are for a single operating system and are not read.
                    continue;
                };
                self.add(&child_path, parse(&found)?, &found, &folder.join(&name))?;
            }
        }
        // A module may exist twice, for two platforms or features: the names of both count.
        match self.0.entry(path.to_owned()) {
            Entry::Vacant(entry) => drop(entry.insert(module)),
            Entry::Occupied(mut entry) => entry.get_mut().items.extend(module.items),
        }
        Ok(())
    }
}

fn parse(file: &Path) -> Result<Vec<Item>, Error> {
    let text = fs::read_to_string(file).map_err(Error::file("read", file))?;
    let parsed = syn::parse_file(&text).map_err(|source| Error::Source { path: file.to_path_buf(), source })?;
    Ok(parsed.items)
}

pub fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}::{name}") }
}

/// Returns the files of a target, including tests: its root, and the modules named in it.
pub fn module_files(root: &Path) -> Result<Vec<(PathBuf, String)>, Error> {
    fn named(items: &[Item], folder: &Path, found: &mut Vec<(PathBuf, String)>) -> Result<(), Error> {
        for item in items {
            let Item::Mod(module) = item else { continue };
            let name = module.ident.to_string();
            if let Some((_, items)) = &module.content {
                named(items, &folder.join(name), found)?;
                continue;
            }
            let places = [folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")];
            if let Some(file) = places.into_iter().find(|file| file.exists()) {
                let items = parse(&file)?;
                found.push((file.clone(), fs::read_to_string(&file).map_err(Error::file("read", &file))?));
                named(&items, &folder.join(name), found)?;
            }
        }
        Ok(())
    }
    let text = fs::read_to_string(root).map_err(Error::file("read", root))?;
    let mut found = vec![(root.to_path_buf(), text)];
    named(&parse(root)?, &root.with_file_name(""), &mut found)?;
    Ok(found)
}

/// Returns the attributes of items that may be tests, and of others that a check needs.
pub fn attrs(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Returns whether an item is in no program: `#[cfg(test)]`, possibly with further conditions, or `#[cfg(doc)]`.
pub fn may_be_test(attrs: &[Attribute]) -> bool {
    let mut lists = list_of(attrs, "cfg");
    lists.any(|tokens| matches!(&*tokens, "test" | "doc") || tokens.replace(' ', "").starts_with("all(test,"))
}

/// `#[cfg(test)]`.
pub fn is_test(attrs: &[Attribute]) -> bool {
    list_of(attrs, "cfg").any(|tokens| tokens == "test")
}

/// `#[doc(hidden)]`.
pub fn is_hidden(attrs: &[Attribute]) -> bool {
    list_of(attrs, "doc").any(|tokens| tokens == "hidden")
}

fn list_of(attrs: &[Attribute], name: &'static str) -> impl Iterator<Item = String> {
    attrs.iter().filter(move |attr| attr.path().is_ident(name)).filter_map(|attr| match &attr.meta {
        Meta::List(list) => Some(list.tokens.to_string()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_of_two_modules_of_one_name_count() {
        let text = "#[cfg(unix)] mod there { use crate::a; } #[cfg(not(unix))] mod there { use crate::b; }";
        let modules = Crate::of_text(text).unwrap();
        assert_eq!(modules.0["there"].items.len(), 2);
    }
}
