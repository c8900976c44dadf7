//! Zeroes for variables of a text that have no first value: WebGL gives them (ANGLE does), and many texts of Shadertoy's rely on it, where
//! OpenGL leaves them undefined (GLSL 4.60, section 4.3).
//!
//! Scalars, vectors, matrices, arrays and structs get them, in functions and outside, and what a function gives by `out`. What macros
//! declare stays as it is, and an array outside of functions whose length is not known here.

use super::expression::evaluate;
use crate::log::Added;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

const TYPES: [&str; 28] = [
    "float", "int", "uint", "bool", "vec2", "vec3", "vec4", "ivec2", "ivec3", "ivec4", "uvec2", "uvec3", "uvec4",
    "bvec2", "bvec3", "bvec4", "mat2", "mat3", "mat4", "mat2x2", "mat2x3", "mat2x4", "mat3x2", "mat3x3", "mat3x4",
    "mat4x2", "mat4x3", "mat4x4",
];
const PRECISIONS: [&str; 3] = ["highp", "mediump", "lowp"];
/// Most bytes of one zero.
const MOST: usize = 1 << 14;

/// What texts declared that are compiled before.
#[derive(Default)]
pub struct Declared {
    /// Zeroes of structs, where each member has one; of macros there is none.
    structs: HashMap<String, Option<String>>,
    /// Whole numbers, where there is one of that name.
    numbers: HashMap<String, Option<f64>>,
}

impl Declared {
    fn number(&mut self, name: &str, text: &str) {
        let value = evaluate(text, &|name| self.numbers.get(name).copied().flatten());
        match self.numbers.entry(name.to_owned()) {
            // Which one counts, only the preprocessor knows.
            Entry::Occupied(mut known) => _ = known.insert(None),
            Entry::Vacant(place) => _ = place.insert(value),
        }
    }

    /// Numbers that macros name.
    fn macros(&mut self, text: &str) {
        for line in text.lines().filter_map(|line| line.trim_start().strip_prefix('#')) {
            let Some(rest) = line.trim_start().strip_prefix("define") else { continue };
            let rest = rest.trim_start();
            // A type that a macro is may be anything.
            let word = rest.split(|c: char| !(c == '_' || c.is_ascii_alphanumeric())).next().unwrap_or_default();
            self.structs.insert(word.to_owned(), None);
            let Some((name, value)) = rest.split_once([' ', '\t']) else { continue };
            let end = value.find("//").into_iter().chain(value.find("/*")).min().unwrap_or(value.len());
            self.number(name, &value[..end]);
        }
    }

    /// The zero of a type.
    fn zero(&self, of: &str) -> Option<String> {
        let own = || TYPES.contains(&of).then(|| format!("{of}(0)"));
        self.structs.get(of).map_or_else(own, Clone::clone)
    }

    /// The zero of an array of that length, or of one value.
    fn zeroes(&self, of: &str, length: Option<&str>) -> Option<String> {
        let zero = self.zero(of)?;
        let Some(length) = length else { return Some(zero) };
        let count = evaluate(length, &|name| self.numbers.get(name).copied().flatten())?;
        let count = Some(count as usize).filter(|count| count.saturating_mul(zero.len()) < MOST)?;
        Some(format!("{of}[{length}]({})", vec![zero; count.max(1)].join(",")))
    }
}

/// A text with zeroes.
pub struct Zeroed {
    pub text: String,
    /// Line and column behind the text, from 1 on.
    place: (u32, u32),
    pub added: Vec<Added>,
}

impl Zeroed {
    /// Puts zeroes, and `first` where the body of `main` begins.
    pub fn of(text: &str, first: &str, declared: &mut Declared) -> Self {
        declared.macros(text);
        let tokens: Vec<Token<'_>> = tokens(text).collect();
        let mut zeroed = Self { text: String::new(), place: (1, 1), added: Vec::new() };
        let (mut copied, mut at) = (0, 0);
        let mut add = |end: usize, what: &str| {
            if !what.is_empty() {
                zeroed.add(&text[copied..end], what);
                copied = end;
            }
        };
        while let Some(token) = tokens.get(at) {
            at += 1;
            let of = match token.text {
                "struct" => {
                    let end = behind(&tokens, at, "{", "}");
                    let Some(name) = tokens.get(at).filter(|name| is_name(name.text)) else { continue };
                    let zero = members(&tokens[at..end], text, declared);
                    let zero = zero.map(|zeroes| format!("{}({})", name.text, zeroes.join(",")));
                    declared.structs.insert(name.text.to_owned(), zero);
                    at = end;
                    name.text
                }
                "const" => {
                    // `const int N = 3;`
                    if let [_, name, equals, ..] = &tokens[at.min(tokens.len())..]
                        && equals.text == "="
                    {
                        let end = end_of_declarator(&tokens, at + 3);
                        declared.number(name.text, between(&tokens, text, at + 3, end));
                    }
                    continue;
                }
                "(" if token.depth == 0 && at > 1 && is_name(tokens[at - 2].text) => {
                    let end = behind(&tokens, at - 1, "(", ")");
                    if token_is(&tokens, end, "{") {
                        let mut zeroes = if tokens[at - 2].text == "main" { first.to_owned() } else { String::new() };
                        tokens[at..end - 1].split(|token| token.text == ",").for_each(|param| {
                            zeroes += &given(param, text, declared);
                        });
                        add(tokens[end].start + 1, &zeroes);
                    }
                    at = end;
                    continue;
                }
                word if begins(&tokens, at - 1) && declared.zero(word).is_some() => word,
                _ => continue,
            };
            let all = length(&tokens, text, &mut at);
            let mut behind = String::new();
            while let Some(name) = tokens.get(at).filter(|name| is_name(name.text)) {
                at += 1;
                let mut end = name.start + name.text.len();
                let own = length(&tokens, text, &mut at).inspect(|_| end = tokens[at - 1].start + 1).or(all);
                if token_is(&tokens, at, ",") || token_is(&tokens, at, ";") {
                    if name.depth > 0 && own.is_some() {
                        behind += &each(name.text, of, declared);
                    } else if let Some(zero) = declared.zeroes(of, own) {
                        add(end, &format!("={zero}"));
                    }
                }
                if name.depth == 0 && token_is(&tokens, at, "(") {
                    break;
                }
                at = end_of_declarator(&tokens, at);
                if !token_is(&tokens, at, ",") {
                    break;
                }
                at += 1;
            }
            if let Some(end) = tokens.get(at).filter(|end| end.text == ";") {
                add(end.start + 1, &behind);
            }
        }
        zeroed.text.push_str(&text[copied..]);
        zeroed
    }

    /// Takes over the next part of the text, and puts something behind it.
    fn add(&mut self, part: &str, what: &str) {
        self.text += part;
        let lines = part.matches('\n').count() as u32;
        let own = part.rfind('\n').map_or(part, |end| &part[end + 1..]);
        let column = own.chars().count() as u32 + if lines == 0 { self.place.1 } else { 1 };
        let length = what.len() as u32;
        self.text += what;
        self.place = (self.place.0 + lines, column + length);
        self.added.push(Added { line: self.place.0, column, length });
    }
}

/// The text from a token up to another.
fn between<'a>(tokens: &[Token<'_>], text: &'a str, from: usize, to: usize) -> &'a str {
    let start = |at: usize| tokens.get(at).map_or(text.len(), |token| token.start);
    text.get(start(from)..start(to)).unwrap_or_default()
}

/// The length in brackets, behind which `at` is then.
fn length<'a>(tokens: &[Token<'_>], text: &'a str, at: &mut usize) -> Option<&'a str> {
    if !token_is(tokens, *at, "[") {
        return None;
    }
    let from = *at + 1;
    *at = behind(tokens, *at, "[", "]");
    Some(between(tokens, text, from, *at - 1).trim())
}

/// A loop that writes zeroes to an array, whatever its length is.
fn each(name: &str, of: &str, declared: &Declared) -> String {
    let zero = declared.zero(of).unwrap_or_default();
    format!("for(int zeroAt=0;zeroAt<{name}.length();zeroAt++){name}[zeroAt]={zero};")
}

/// The zeroes of a struct's members, behind its name.
fn members(tokens: &[Token<'_>], text: &str, declared: &Declared) -> Option<Vec<String>> {
    let mut zeroes = Vec::new();
    for member in tokens.get(2..tokens.len().checked_sub(1)?)?.split(|token| token.text == ";") {
        let skipped = member.iter().take_while(|token| PRECISIONS.contains(&token.text)).count();
        let Some((of, names)) = member.get(skipped..)?.split_first() else { continue };
        let mut at = 0;
        let all = length(names, text, &mut at);
        while at < names.len() {
            at += 1;
            let own = length(names, text, &mut at).or(all);
            zeroes.push(declared.zeroes(of.text, own)?);
            at += 1;
        }
    }
    Some(zeroes).filter(|zeroes| !zeroes.is_empty())
}

/// The statement that gives a parameter its zero, where it is one that a function gives.
fn given(param: &[Token<'_>], text: &str, declared: &Declared) -> String {
    let words: Vec<_> = param.iter().filter(|token| !PRECISIONS.contains(&token.text)).copied().collect();
    let [out, of, rest @ ..] = words.as_slice() else { return String::new() };
    let mut at = 0;
    let all = length(rest, text, &mut at);
    let (Some(name), Some(zero), "out") = (rest.get(at), declared.zero(of.text), out.text) else {
        return String::new();
    };
    at += 1;
    match length(rest, text, &mut at).or(all) {
        Some(_) => each(name.text, of.text, declared),
        None => format!("{}={zero};", name.text),
    }
}

/// Finds out whether a declaration may stand there: at the begin of a statement, behind `for (` and a precision, but not behind `const`, in
/// parameters or as a constructor.
fn begins(tokens: &[Token<'_>], at: usize) -> bool {
    let before = |at: usize| at.checked_sub(1).map(|before| tokens[before].text);
    let at = if before(at).is_some_and(|word| PRECISIONS.contains(&word)) { at - 1 } else { at };
    match before(at) {
        None | Some(";" | "{" | "}" | ":") => true,
        Some("(") => before(at - 1) == Some("for"),
        _ => false,
    }
}

/// The `,` or `;` that ends a declarator; a function's parameters, an array and anything else end there, too.
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

/// Behind the bracket that closes the first one from here on.
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
    /// Braces that are open before it; of branches between `#if` and `#endif` one is taken.
    depth: usize,
}

/// Words and signs of GLSL, without comments and lines of the preprocessor.
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
                let token = Token { text: &rest[..length], start: at, depth };
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

/// The end of a comment that has begun.
fn end_of_comment(body: &str) -> usize {
    body.find("*/").map_or(body.len(), |end| end + 2)
}

/// The end of a line of the preprocessor: a comment in it may have several.
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

/// The end of a line, which goes on behind a backslash.
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

    fn zeroed(text: &str) -> Zeroed {
        Zeroed::of(text, "", &mut Declared::default())
    }

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
            ("void mainImage(out vec4 O, vec2 U) {}", "void mainImage(out vec4 O, vec2 U) {O=vec4(0);}"),
            ("void f(in int a, out highp float b) {}", "void f(in int a, out highp float b) {b=float(0);}"),
            (
                "#define V float a;\n#define W \\\n float b;\nint c;",
                "#define V float a;\n#define W \\\n float b;\nint c=int(0);",
            ),
            ("/* float a; */ int b; // int c;", "/* float a; */ int b=int(0); // int c;"),
            ("float a[2], b;", "float a[2]=float[2](float(0),float(0)), b=float(0);"),
            ("#define N 1 + 1\nint[N] a;", "#define N 1 + 1\nint[N] a=int[N](int(0),int(0));"),
            ("const int N = 1; int a[N];", "const int N = 1; int a[N]=int[N](int(0));"),
            (
                "struct S { float a; vec2 b[1]; } s; S t;",
                "struct S { float a; vec2 b[1]; } s=S(float(0),vec2[1](vec2(0))); S t=S(float(0),vec2[1](vec2(0)));",
            ),
            (
                "void f(out int b[2]) { float a[M]; }",
                "void f(out int b[2]) {for(int zeroAt=0;zeroAt<b.length();zeroAt++)b[zeroAt]=int(0); float a[M];for(int zeroAt=0;zeroAt<a.length();zeroAt++)a[zeroAt]=float(0); }",
            ),
        ] {
            assert_eq!(zeroed(text).text, expected);
        }
        for same in [
            "const float a = 1.0;",
            "precision highp float;",
            "float f(float x, out vec2 y);",
            "float f(vec2 p) { return vec2(p).x; }",
            "#define A 1 /* one\n float a; */",
            "#if 1\n#define N 2\n#else\n#define N 3\n#endif\nfloat a[N]; float[M] b;",
            "struct S { sampler2D a; }; S s;",
            "uniform highp float a; in vec2 b; layout(location = 0) out vec4 c;",
            "void f() { float a = g(1.0, 2.0), b = vec3(1)[2]; }",
            "int mainImage",
            "float",
            "struct",
            "struct S {",
            "void f(out",
            "const",
            "float a[",
            "for (float",
            "{ ( [",
            "float a",
            "é ☃ \u{2028}",
        ] {
            assert_eq!(zeroed(same).text, same);
        }
        assert_eq!(Zeroed::of("void main() {}", "c;", &mut Declared::default()).text, "void main() {c;}");
    }

    #[test]
    fn what_is_added_has_its_place() {
        let added = zeroed("int a;\nvoid f() {\n  int b, c; float d;\n}").added;
        let of = |line, column, length| Added { line, column, length };
        assert_eq!(added, [of(1, 6, 7), of(3, 8, 7), of(3, 18, 7), of(3, 34, 9)]);
    }

    #[test]
    fn of_branches_one_is_taken() {
        for text in [
            "void f() {\n#if 1\nfor (;;) {\n#elif 1\nif (true) {\n#else\n{\n#endif\n} }\nvec2 g[N];",
            "#define A 1 /* one { \n float b; */ /**/\nint c[N]; #\nif",
            "#define A a / b \\\n float c; // {\\\n float d; /*\nint e[N]; /* }",
        ] {
            assert_eq!(zeroed(text).text, text);
        }
    }
}
