//! Each item that a user of a crate can name, with its documentation.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::Ident;
use syn::{Attribute, Fields, ImplItem, Item, ItemImpl, ItemMacro, TraitItem, Type, Visibility};

use super::macros::{self, Made};
use super::reach::{self, Found, Reached};
use crate::error::Error;
use crate::source::{Crate, docs, is_hidden, join};

pub struct Documented {
    pub file: PathBuf,
    pub line: usize,
    pub name: String,
    pub docs: String,
    /// Of the type whose variant or field this is; empty for others.
    pub owner_docs: String,
}

pub fn of(all: &Crate) -> Result<Vec<Documented>, Error> {
    let reached = reach::of(all)?;
    let mut telling = BTreeMap::new();
    for (name, mac) in all.0.values().flat_map(|module| &module.items).filter_map(definition) {
        *telling.entry(name).or_default() |= macros::writes_arguments(mac.mac.tokens.clone());
    }
    let (mut found, mut used) = (Vec::new(), BTreeSet::new());
    for (path, module) in &all.0 {
        let mut list = List {
            all,
            reached: &reached,
            telling: &telling,
            path,
            file: &module.file,
            found: &mut found,
            used: &mut used,
        };
        module.items.iter().for_each(|item| list.item(item));
    }
    for module in all.0.values() {
        for (name, mac) in module.items.iter().filter_map(definition).filter(|(name, _)| used.contains(name)) {
            let made = macros::template(mac.mac.tokens.clone()).into_iter();
            found.extend(made.map(|made| made.at(&module.file, format!("{name}!::{}", made.name), false, "")));
        }
    }
    Ok(found)
}

impl Made {
    /// `telling`: what follows the name is written into the documentation, too.
    fn at(&self, file: &Path, name: String, telling: bool, owner_docs: &str) -> Documented {
        let written = if telling { self.rest.as_str() } else { "" };
        let docs = format!("{}{written}", self.docs);
        Documented { file: file.to_path_buf(), line: self.line, name, docs, owner_docs: owner_docs.to_owned() }
    }
}

/// The name of a `macro_rules!`.
fn definition(item: &Item) -> Option<(String, &ItemMacro)> {
    let Item::Macro(mac) = item else { return None };
    mac.ident.as_ref().map(|name| (name.to_string(), mac))
}

/// The items of one module.
struct List<'a> {
    all: &'a Crate,
    reached: &'a Reached,
    /// Macros, and whether they write their arguments into the documentation.
    telling: &'a BTreeMap<String, bool>,
    path: &'a str,
    file: &'a Path,
    found: &'a mut Vec<Documented>,
    /// The crate's macros that made something of these.
    used: &'a mut BTreeSet<String>,
}

impl List<'_> {
    fn item(&mut self, item: &Item) {
        match item {
            Item::Const(i) => self.named(&i.ident, &i.attrs),
            Item::Fn(i) => self.named(&i.sig.ident, &i.attrs),
            Item::Static(i) => self.named(&i.ident, &i.attrs),
            Item::Type(i) => self.named(&i.ident, &i.attrs),
            Item::Union(i) => self.named(&i.ident, &i.attrs),
            Item::Struct(i) => {
                self.named(&i.ident, &i.attrs);
                if let Fields::Named(fields) = &i.fields {
                    for field in fields.named.iter().filter(|field| is_public(&field.vis)) {
                        let name = field.ident.as_ref();
                        self.member(&i.ident, &i.attrs, name.into_iter().map(|name| (name, field.attrs.as_slice())));
                    }
                }
            }
            Item::Enum(i) => {
                self.named(&i.ident, &i.attrs);
                self.member(&i.ident, &i.attrs, i.variants.iter().map(|v| (&v.ident, v.attrs.as_slice())));
            }
            Item::Trait(i) => {
                self.named(&i.ident, &i.attrs);
                let members = i.items.iter().filter_map(|member| match member {
                    TraitItem::Const(m) => Some((&m.ident, m.attrs.as_slice())),
                    TraitItem::Fn(m) => Some((&m.sig.ident, m.attrs.as_slice())),
                    TraitItem::Type(m) => Some((&m.ident, m.attrs.as_slice())),
                    _ => None,
                });
                self.member(&i.ident, &[], members);
            }
            Item::Impl(i) if i.trait_.is_none() => self.implementation(i),
            Item::Macro(i) if i.ident.is_none() => self.called(i),
            _ => {}
        }
    }

    fn is_reached(&self, name: &str) -> bool {
        self.reached.contains(&(self.path.to_owned(), name.to_owned()))
    }

    fn named(&mut self, name: &Ident, attrs: &[Attribute]) {
        if self.is_reached(&name.to_string()) {
            self.push(name.to_string(), name, attrs, String::new());
        }
    }

    /// Variants, fields and methods of a type or trait that is defined here.
    fn member<'m>(
        &mut self,
        owner: &Ident,
        owner_attrs: &[Attribute],
        members: impl Iterator<Item = (&'m Ident, &'m [Attribute])>,
    ) {
        if !self.is_reached(&owner.to_string()) || is_hidden(owner_attrs) {
            return;
        }
        for (name, attrs) in members {
            self.push(format!("{owner}::{name}"), name, attrs, docs(owner_attrs));
        }
    }

    fn implementation(&mut self, item: &ItemImpl) {
        let Type::Path(of) = &*item.self_ty else { return };
        let path: Vec<_> = of.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let reached = match self.all.find(self.path, &path, &mut BTreeSet::new()) {
            Some(Found::Item(module, name)) => self.reached.contains(&(module, name)),
            _ => false,
        };
        if !reached {
            return;
        }
        for member in &item.items {
            let (name, visibility, attrs) = match member {
                ImplItem::Const(m) => (&m.ident, &m.vis, &m.attrs),
                ImplItem::Fn(m) => (&m.sig.ident, &m.vis, &m.attrs),
                ImplItem::Type(m) => (&m.ident, &m.vis, &m.attrs),
                _ => continue,
            };
            if is_public(visibility) {
                self.push(format!("{}::{name}", path.join("::")), name, attrs, String::new());
            }
        }
    }

    fn push(&mut self, name: String, at: &Ident, attrs: &[Attribute], owner_docs: String) {
        if !is_hidden(attrs) {
            let (file, line) = (self.file.to_path_buf(), at.span().start().line);
            let name = join(self.path, &name);
            self.found.push(Documented { file, line, name, docs: docs(attrs), owner_docs });
        }
    }

    /// A call of a macro.
    fn called(&mut self, call: &ItemMacro) {
        let name = call.mac.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        let own = self.telling.get(&name).copied();
        for made in macros::documented(call.mac.tokens.clone()) {
            // What a macro of this crate makes of a small name cannot be told, so that it is held to the promise; those of
            // others (`thread_local!`) make types and statics, which must be reached.
            let is_type = made.name.starts_with(char::is_uppercase);
            if (is_type || own.is_none()) && !self.is_reached(&made.name) {
                continue;
            }
            let telling = own.unwrap_or(false);
            let path = join(self.path, &made.name);
            let members = made.members.iter();
            let members = members.map(|m| m.at(self.file, join(&path, &m.name), telling, &made.docs));
            self.found.extend([made.at(self.file, path.clone(), telling, "")].into_iter().chain(members));
            self.used.insert(name.clone());
        }
    }
}

const fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}
