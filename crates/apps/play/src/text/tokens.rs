//! Tokens of languages like C.

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
    let (mut at, mut depth, mut is_first) = (0, 0_usize, true);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let is_directive = c == '#' && is_first;
        let length = if is_directive {
            let directive = rest[1..].trim_start_matches([' ', '\t']);
            if directive.starts_with("if") {
                conditions.push(depth);
            } else if directive.starts_with("el") {
                depth = conditions.last().copied().unwrap_or(depth);
            } else if directive.starts_with("endif") {
                conditions.pop();
            }
            end_of_line(rest)
        } else {
            rest.find(|c| !is_word(c)).filter(|_| is_word(c)).unwrap_or(if is_word(c) {
                rest.len()
            } else {
                c.len_utf8()
            })
        };
        is_first = c == '\n' || is_first && c.is_whitespace();
        if !is_directive && !c.is_whitespace() {
            let next = tokens.len() + 1;
            let (text, start, is_conditional) = (&rest[..length], at, !conditions.is_empty());
            tokens.push(Token { text, start, next, depth, is_conditional });
            depth = if c == '{' { depth + 1 } else { depth.saturating_sub(usize::from(c == '}')) };
            match c {
                '(' | '[' | '{' => open.push(next - 1),
                ')' | ']' | '}' => open.pop().into_iter().for_each(|first| tokens[first].next = next),
                _ => {}
            }
        }
        at += length;
    }
    tokens
}

/// Blanks the comments and keeps all positions.
pub fn without_comments(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        let (before, comment) = rest.split_at(at);
        let end = match comment.strip_prefix("/*") {
            Some(body) => body.find("*/").map_or(comment.len(), |end| end + 4),
            None => end_of_line(comment),
        };
        let (comment, behind) = comment.split_at(end);
        bare += before;
        bare.extend(comment.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        rest = behind;
    }
    bare + rest
}

/// Returns the end of a line, which a backslash continues.
fn end_of_line(text: &str) -> usize {
    let ends = text.match_indices('\n').map(|(end, _)| end);
    ends.into_iter().find(|end| !text[..*end].trim_end_matches('\r').ends_with('\\')).unwrap_or(text.len())
}

pub fn token_is(tokens: &[Token<'_>], at: usize, text: &str) -> bool {
    tokens.get(at).is_some_and(|token| token.text == text)
}

pub fn is_word(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}
