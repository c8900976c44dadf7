//! Items that macros make, read from tokens: nothing is expanded.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A documented name among the tokens of a macro.
pub struct Made {
    pub name: String,
    pub line: usize,
    pub docs: String,
    /// What follows the name, up to the `;` or the braces.
    pub rest: String,
    /// The documented names in its braces.
    pub members: Vec<Made>,
}

/// The names in a call of a macro that have documentation before them: `/// Text. Name = VALUE;`, `/// Text. Name { ... }`.
pub fn documented(tokens: TokenStream) -> Vec<Made> {
    let mut found: Vec<Made> = Vec::new();
    let mut docs: Option<String> = None;
    // Whether what comes belongs to the name found last.
    let mut open = false;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if let Some(text) = attribute(&token, tokens.peek()) {
            tokens.next();
            if let Some(text) = text {
                docs.get_or_insert_default().push_str(&format!("{text}\n"));
            }
            open = false;
            continue;
        }
        match (&token, &docs) {
            (TokenTree::Ident(name), Some(text)) if name != "pub" => {
                let (name, line) = (name.to_string(), name.span().start().line);
                found.push(Made { name, line, docs: text.clone(), rest: String::new(), members: Vec::new() });
                docs = None;
                open = true;
            }
            (TokenTree::Punct(mark), _) if mark.as_char() == ';' => open = false,
            _ if !open => {}
            (TokenTree::Group(group), _) if group.delimiter() == Delimiter::Brace => {
                if let Some(last) = found.last_mut() {
                    last.members = documented(group.stream());
                }
                open = false;
            }
            _ => {
                if let Some(last) = found.last_mut() {
                    last.rest.push_str(&format!("{token} "));
                }
            }
        }
    }
    found
}

/// The documented public items that a `macro_rules!` makes under a name of its own.
pub fn template(tokens: TokenStream) -> Vec<Made> {
    let mut found = Vec::new();
    let mut docs = String::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if let Some(text) = attribute(&token, tokens.peek()) {
            tokens.next();
            docs.extend(text.map(|text| format!("{text}\n")));
            continue;
        }
        let docs = std::mem::take(&mut docs);
        match &token {
            TokenTree::Group(group) => found.extend(template(group.stream())),
            TokenTree::Ident(word) if word == "pub" && !docs.is_empty() => {
                let keyword = |t: &TokenTree| {
                    let words = ["const", "unsafe", "fn", "static", "struct", "enum", "trait", "type"];
                    words.iter().any(|word| t.to_string() == *word)
                };
                while tokens.next_if(keyword).is_some() {}
                // A name that the call gives begins with `$`; it is among the call's own.
                if let Some(TokenTree::Ident(name)) = tokens.peek() {
                    let (name, line) = (name.to_string(), name.span().start().line);
                    found.push(Made { name, line, docs, rest: String::new(), members: Vec::new() });
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether a `macro_rules!` writes what it is given into the documentation of what it makes: a `stringify!` in a `#[doc]`.
pub fn writes_arguments(tokens: TokenStream) -> bool {
    let mut before_is_hash = false;
    tokens.into_iter().any(|token| {
        let follows = std::mem::replace(&mut before_is_hash, is_hash(&token));
        let TokenTree::Group(group) = token else { return false };
        let text = group.stream().to_string();
        (follows && text.starts_with("doc") && text.contains("stringify")) || writes_arguments(group.stream())
    })
}

fn is_hash(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(mark) if mark.as_char() == '#')
}

/// For the `#` of an attribute and what follows it: the documentation that it is, if it is.
fn attribute(token: &TokenTree, next: Option<&TokenTree>) -> Option<Option<String>> {
    let Some(TokenTree::Group(group)) = next.filter(|_| is_hash(token)) else { return None };
    if group.delimiter() != Delimiter::Bracket {
        return None;
    }
    let mut inside = group.stream().into_iter();
    let is_doc = inside.next().is_some_and(|name| name.to_string() == "doc");
    let text = inside.nth(1).filter(|_| is_doc);
    Some(text.map(|text| syn::parse_str::<syn::LitStr>(&text.to_string()).map_or(String::new(), |text| text.value())))
}
