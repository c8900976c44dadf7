//! Tokens of languages like C.

use lazy_regex::regex::Captures;
use lazy_regex::{Lazy, Regex, lazy_regex};

/// A directive, a word, or any other character. A backslash continues a directive's line.
static TOKEN: Lazy<Regex> = lazy_regex!(r"(?m)^[ \t]*#(?:\\\r?\n|[^\n])*|[0-9A-Za-z_]+|\S");
/// Without its end, a comment extends to the text's.
static COMMENT: Lazy<Regex> = lazy_regex!(r"//(?:\\\r?\n|[^\n])*|/\*(?s:.*?)(?:\*/|\z)");

/// A token, and what surrounds it.
#[derive(Clone, Copy)]
pub struct Token<'a> {
    pub text: &'a str,
    /// Byte where it begins.
    pub start: usize,
    /// Index of the following token, or of the one after the matching bracket.
    pub next: usize,
    /// Number of open braces; of branches between `#if` and `#endif`, only one counts.
    pub depth: usize,
    /// The token is between `#if` and `#endif`.
    pub is_conditional: bool,
}

/// Returns the tokens of a text without comments, and skips preprocessor lines.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let (mut tokens, mut open, mut conditions): (Vec<Token<'_>>, Vec<usize>, Vec<usize>) = Default::default();
    let mut depth = 0_usize;
    for found in TOKEN.find_iter(text) {
        if let Some(directive) = found.as_str().trim_start().strip_prefix('#').map(str::trim_start) {
            if directive.starts_with("if") {
                conditions.push(depth);
            } else if directive.starts_with("el") {
                depth = conditions.last().copied().unwrap_or(depth);
            } else if directive.starts_with("endif") {
                conditions.pop();
            }
            continue;
        }
        let (text, start, next) = (found.as_str(), found.start(), tokens.len() + 1);
        tokens.push(Token { text, start, next, depth, is_conditional: !conditions.is_empty() });
        match text {
            "(" | "[" | "{" => {
                open.push(next - 1);
                depth += usize::from(text == "{");
            }
            ")" | "]" | "}" => {
                open.pop().into_iter().for_each(|first| tokens[first].next = next);
                depth = depth.saturating_sub(usize::from(text == "}"));
            }
            _ => {}
        }
    }
    tokens
}

/// Blanks the comments and keeps all positions.
pub fn without_comments(text: &str) -> String {
    let blank = |comment: &Captures<'_>| -> String {
        comment[0].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect()
    };
    COMMENT.replace_all(text, blank).into_owned()
}

pub fn token_is(tokens: &[Token<'_>], at: usize, text: &str) -> bool {
    tokens.get(at).is_some_and(|token| token.text == text)
}

/// Blanks a `#version` directive, because the pass has its own.
pub fn without_version(text: &str) -> String {
    let line = |line: &str| if line.trim_start().starts_with("#version") { "\n".into() } else { format!("{line}\n") };
    text.lines().map(line).collect()
}

/// Returns whether a text contains this name, which may be in a comment.
pub fn names(text: &str, name: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|word| word == name)
}
