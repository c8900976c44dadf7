//! Adds zero initialisers to variables without one. WebGL initialises variables (ANGLE does), and many of Shadertoy's
//! shaders rely on that, but OpenGL leaves them undefined (GLSL 4.60, section 4.3).
//!
//! This covers scalars, vectors and matrices, inside and outside of functions, and the colour of `mainImage`. Arrays,
//! structs and declarations in macros are not changed.

use crate::log::AddedText;

const TYPES: [&str; 28] = [
    "float", "int", "uint", "bool", "vec2", "vec3", "vec4", "ivec2", "ivec3", "ivec4", "uvec2", "uvec3", "uvec4",
    "bvec2", "bvec3", "bvec4", "mat2", "mat3", "mat4", "mat2x2", "mat2x3", "mat2x4", "mat3x2", "mat3x3", "mat3x4",
    "mat4x2", "mat4x3", "mat4x4",
];
const PRECISIONS: [&str; 3] = ["highp", "mediump", "lowp"];

/// A shader with initialisers.
pub struct ZeroedText {
    pub text: String,
    /// Line and column after the text so far, from 1.
    place: (u32, u32),
    pub added: Vec<AddedText>,
    /// Types and names of the global variables that are known: those outside of `#if` and `#endif`.
    pub globals: Vec<(&'static str, String)>,
}

impl ZeroedText {
    pub fn of(text: &str) -> Self {
        let tokens: Vec<Token<'_>> = tokens(text).collect();
        let mut zeroed = Self { text: String::new(), place: (1, 1), added: Vec::new(), globals: Vec::new() };
        let (mut copied, mut at, mut is_known) = (0, 0, true);
        let mut add = |zeroed: &mut Self, end: usize, what: &str| {
            zeroed.add(&text[copied..end], what);
            copied = end;
        };
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token.text {
                // A macro contains the opening brace, so which code is inside a function is unknown.
                "}" if token.depth == 0 => is_known = false,
                // Members cannot have initialisers.
                "struct" => at = behind(&tokens, at, "{", "}"),
                "mainImage" if token.depth == 0 && token_is(&tokens, at, "(") => {
                    let end = behind(&tokens, at, "(", ")");
                    let out = tokens[at..end].iter().find(|token| token.text == "out");
                    if let Some(out) = out {
                        add(&mut zeroed, out.start, "in");
                    }
                    at = end;
                }
                word if begins(&tokens, at - 1) => {
                    let Some(of) = TYPES.into_iter().find(|of| *of == word) else { continue };
                    while let Some(name) = tokens.get(at).filter(|name| is_name(name.text)) {
                        at += 1;
                        let is_bare = token_is(&tokens, at, ",") || token_is(&tokens, at, ";");
                        let is_valued = token_is(&tokens, at, "=");
                        if is_bare {
                            add(&mut zeroed, name.start + name.text.len(), &format!("={of}(0)"));
                        }
                        if name.depth == 0 && !name.is_conditional && (is_bare || is_valued) {
                            zeroed.globals.push((of, name.text.to_owned()));
                        }
                        at = end_of_declarator(&tokens, at);
                        if !token_is(&tokens, at, ",") {
                            break;
                        }
                        at += 1;
                    }
                }
                _ => {}
            }
        }
        zeroed.text.push_str(&text[copied..]);
        zeroed.globals.retain(|_| is_known);
        zeroed
    }

    /// Appends the next part of the text, then an insertion.
    fn add(&mut self, part: &str, what: &str) {
        self.text += part;
        let lines = part.matches('\n').count() as u32;
        let own = part.rfind('\n').map_or(part, |end| &part[end + 1..]);
        let column = own.chars().count() as u32 + if lines == 0 { self.place.1 } else { 1 };
        let length = what.len() as u32;
        self.text += what;
        self.place = (self.place.0 + lines, column + length);
        self.added.push(AddedText { line: self.place.0, column, length });
    }
}

/// Returns whether a declaration may begin here: at the start of a statement, after `for (` and after a precision, but
/// not after `const`, in parameters or as a constructor.
fn begins(tokens: &[Token<'_>], at: usize) -> bool {
    let before = |at: usize| at.checked_sub(1).map(|before| tokens[before].text);
    let at = if before(at).is_some_and(|word| PRECISIONS.contains(&word)) { at - 1 } else { at };
    match before(at) {
        None | Some(";" | "{" | "}" | ":") => true,
        Some("(") => before(at - 1) == Some("for"),
        _ => false,
    }
}

/// Returns the `,` or `;` that ends a declarator. The parameters of a function, an array and anything else end it, too.
fn end_of_declarator(tokens: &[Token<'_>], mut at: usize) -> usize {
    let mut open = 0_usize;
    while let Some(token) = tokens.get(at) {
        match token.text {
            "(" | "[" => open += 1,
            ")" | "]" if open == 0 => return at,
            ")" | "]" => open -= 1,
            "," if open == 0 => return at,
            // A function's body begins.
            ";" | "{" | "}" => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

/// Returns the position after the bracket that closes the first one from here on.
fn behind(tokens: &[Token<'_>], from: usize, opens: &str, closes: &str) -> usize {
    let mut open = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        if token.text == opens {
            open += 1;
        } else if token.text == closes {
            open = open.saturating_sub(1);
            if open == 0 {
                return at + 1;
            }
        }
    }
    tokens.len()
}

fn token_is(tokens: &[Token<'_>], at: usize, text: &str) -> bool {
    tokens.get(at).is_some_and(|token| token.text == text)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
}

#[derive(Clone, Copy)]
struct Token<'a> {
    text: &'a str,
    start: usize,
    /// Number of open braces; of branches between `#if` and `#endif`, only one counts.
    depth: usize,
    /// The token is between `#if` and `#endif`.
    is_conditional: bool,
}

/// Returns tokens of GLSL, without comments and preprocessor lines.
fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let (mut at, mut is_first, mut depth, mut conditions) = (0, true, 0_usize, Vec::new());
    std::iter::from_fn(move || {
        loop {
            let rest = &text[at..];
            let c = rest.chars().next()?;
            let skipped = if c == '#' && is_first {
                let directive = rest[1..].trim_start_matches([' ', '\t']);
                if directive.starts_with("if") {
                    conditions.push(depth);
                } else if directive.starts_with("el") {
                    depth = conditions.last().copied().unwrap_or(depth);
                } else if directive.starts_with("endif") {
                    conditions.pop();
                }
                end_of_directive(rest)
            } else if rest.starts_with("//") {
                end_of_line(rest)
            } else if let Some(body) = rest.strip_prefix("/*") {
                2 + end_of_comment(body)
            } else if c.is_whitespace() {
                is_first |= c == '\n';
                c.len_utf8()
            } else {
                is_first = false;
                let is_word = |c: char| c == '_' || c.is_ascii_alphanumeric();
                let length = if is_word(c) { rest.find(|c| !is_word(c)).unwrap_or(rest.len()) } else { c.len_utf8() };
                let token = Token { text: &rest[..length], start: at, depth, is_conditional: !conditions.is_empty() };
                match c {
                    '{' => depth += 1,
                    '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                at += length;
                return Some(token);
            };
            at += skipped;
        }
    })
}

/// Returns the end of a comment that has begun.
fn end_of_comment(body: &str) -> usize {
    body.find("*/").map_or(body.len(), |end| end + 2)
}

/// Returns the end of a preprocessor line; a comment in it may span several lines.
fn end_of_directive(text: &str) -> usize {
    let mut at = 0;
    while let Some(found) = text[at..].find(['/', '\\', '\n']) {
        at += found;
        let rest = &text[at..];
        if rest.starts_with('\n') {
            return at;
        } else if rest.starts_with("//") {
            return at + end_of_line(rest);
        } else if let Some(body) = rest.strip_prefix("/*") {
            at += 2 + end_of_comment(body);
        } else {
            let goes_on = ["\\\n", "\\\r\n"].into_iter().find(|end| rest.starts_with(end));
            at += goes_on.map_or(1, str::len);
        }
    }
    text.len()
}

/// Returns the end of a line, which a backslash continues.
fn end_of_line(text: &str) -> usize {
    let mut from = 0;
    while let Some(end) = text[from..].find('\n').map(|end| from + end) {
        if !text[..end].trim_end_matches('\r').ends_with('\\') {
            return end;
        }
        from = end + 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_value_gets_zero_and_the_rest_stays() {
        for (text, expected) in [
            ("float a;", "float a=float(0);"),
            ("vec2 a, b = vec2(1, 2), c;", "vec2 a=vec2(0), b = vec2(1, 2), c=vec2(0);"),
            (
                "void f() { for (float i, z; i++ < 9.;) { mat2 m; } }",
                "void f() { for (float i=float(0), z=float(0); i++ < 9.;) { mat2 m=mat2(0); } }",
            ),
            ("highp float a;", "highp float a=float(0);"),
            ("void mainImage(out vec4 O, vec2 U) {}", "void mainImage(inout vec4 O, vec2 U) {}"),
            (
                "#define V float a;\n#define W \\\n float b;\nint c;",
                "#define V float a;\n#define W \\\n float b;\nint c=int(0);",
            ),
            ("/* float a; */ int b; // int c;", "/* float a; */ int b=int(0); // int c;"),
        ] {
            assert_eq!(ZeroedText::of(text).text, expected);
        }
        for same in [
            "const float a = 1.0;",
            "precision highp float;",
            "float f(float x, out vec2 y);",
            "float f(vec2 p) { return vec2(p).x; }",
            "struct S { float a; vec2 b; } s;",
            "#define A 1 /* one\n float a; */",
            "float a[3]; float[2] b;",
            "void f() { float a = g(1.0, 2.0), b = vec3(1)[2]; }",
            "int mainImage",
            "float",
            "for (float",
            "{ ( [",
            "float a",
            "é ☃ \u{2028}",
        ] {
            assert_eq!(ZeroedText::of(same).text, same);
        }
    }

    #[test]
    fn what_is_added_has_its_place() {
        let added = ZeroedText::of("int a;\nvoid f() {\n  int b, c; float d;\n}").added;
        let of = |line, column, length| AddedText { line, column, length };
        assert_eq!(added, [of(1, 6, 7), of(3, 8, 7), of(3, 18, 7), of(3, 34, 9)]);
    }

    #[test]
    fn globals_are_known() {
        for (text, expected) in [
            (
                "float a, b = 2.0 * vec2(1, 3).y; const int c = 1; void f() { int d; } mat2 m;",
                "float a, float b, mat2 m",
            ),
            ("#if 1\nint e;\n#else\nint e = 1;\n#endif\nint f, g[2];", "int f"),
            // Each branch opens a brace, and one of them is compiled.
            ("void f() {\n#if 1\nfor (;;) {\n#elif 1\nif (true) {\n#else\n{\n#endif\n} }\nvec2 g;", "vec2 g"),
            ("#define A 1 /* one { \n float b; */ /**/\nint c; #\nif", "int c"),
            ("float a;\n#define L for (int i = 0; i < 3; i++) {\nvoid f() { L } float b; }", ""),
            ("#define A a / b \\\n float c; // {\\\n float d; /*\nint e; /* }", "int e"),
        ] {
            let globals = ZeroedText::of(text).globals;
            let globals: Vec<_> = globals.into_iter().map(|(of, name)| format!("{of} {name}")).collect();
            assert_eq!(globals.join(", "), expected, "{text}");
        }
    }
}
