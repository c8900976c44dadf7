//! Splits a text into the words and signs of WGSL, without its comments.

/// Returns the tokens of a text: names and numbers, `->`, and every other sign separately.
pub fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let c = rest.chars().next()?;
            if let Some(behind) = behind_comment(rest) {
                rest = behind;
            } else if is_blank(c) {
                rest = &rest[c.len_utf8()..];
            } else {
                let end = if is_letter(c) {
                    rest.find(|c| !is_letter(c)).unwrap_or(rest.len())
                } else if rest.starts_with("->") {
                    2
                } else {
                    c.len_utf8()
                };
                let (token, behind) = rest.split_at(end);
                rest = behind;
                return Some(token);
            }
        }
    })
}

/// Returns true for a name or a number.
pub fn is_word(token: &str) -> bool {
    token.starts_with(is_letter)
}

/// Returns true for a character of names and numbers. No operator or bracket has one outside ASCII.
fn is_letter(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric() || !c.is_ascii() && !is_blank(c)
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200e}' | '\u{200f}')
}

/// Returns the text after its initial comment, if it has one, by the rules of WGSL: block comments nest, and lines have
/// seven kinds of ends.
fn behind_comment(text: &str) -> Option<&str> {
    let body = text.strip_prefix('/')?;
    if body.starts_with('/') {
        let is_end = |c| matches!(c, '\u{a}'..='\u{d}' | '\u{85}' | '\u{2028}' | '\u{2029}');
        return Some(body.find(is_end).map_or("", |end| &body[end..]));
    }
    let mut chars = body.strip_prefix('*')?.chars();
    let (mut before, mut blocks) = (chars.next(), 1);
    while blocks > 0 {
        let c = chars.next()?;
        before = match (before, c) {
            (Some('*'), '/') => {
                blocks -= 1;
                None
            }
            (Some('/'), '*') => {
                blocks += 1;
                None
            }
            _ => Some(c),
        };
    }
    Some(chars.as_str())
}
