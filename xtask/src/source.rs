//! The modules of a crate, as its files have them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use syn::{Attribute, Expr, Item, Lit, Meta};

use crate::error::Error;

/// Modules by path: the root is the empty one, then `cl`, `cl::buffer`.
pub struct Crate(pub BTreeMap<String, Module>);

pub struct Module {
    pub file: PathBuf,
    /// Without tests, and without modules: those have places of their own.
    pub items: Vec<Item>,
    /// Names of its modules, and whether they are public.
    pub children: BTreeMap<String, bool>,
}

impl Crate {
    /// Reads all files from `lib.rs` on.
    pub fn load(folder: &Path) -> Result<Self, Error> {
        let mut modules = Self(BTreeMap::new());
        let file = folder.join("lib.rs");
        modules.add("", parse(&file)?, &file, folder)?;
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

    /// `folder` is where the module's own modules lie.
    fn add(&mut self, path: &str, items: Vec<Item>, file: &Path, folder: &Path) -> Result<(), Error> {
        let mut module = Module { file: file.to_path_buf(), items: Vec::new(), children: BTreeMap::new() };
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
                    // Files of another name are of one operating system; what is given on of them is missed by `reach`.
                    continue;
                };
                self.add(&child_path, parse(&found)?, &found, &folder.join(&name))?;
            }
            module.children.insert(name, matches!(child.vis, syn::Visibility::Public(_)));
        }
        self.0.insert(path.to_owned(), module);
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

/// The documentation of an item.
pub fn docs(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter(|attr| attr.path().is_ident("doc")).filter_map(|attr| match &attr.meta {
        Meta::NameValue(doc) => match &doc.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            // `concat!` of texts.
            Expr::Macro(call) => Some(call.mac.tokens.to_string()),
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n")
}
