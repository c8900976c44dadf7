//! Gives variables without an initial value a zero. WebGL initialises variables (ANGLE does), and many of Shadertoy's
//! shaders rely on that, but OpenGL leaves them undefined (GLSL 4.60, section 4.3).
//!
//! Scalars, vectors and matrices get an initialiser. Arrays, structs and the `out` parameters of functions get
//! statements: behind a local declaration, and where the entry point begins for global variables. Declarations in macros
//! are not changed, nor are global arrays and structs between `#if` and `#endif`.

use super::tokens::{Token, token_is, tokens, without_comments};
use crate::error::AddedText;
use lazy_regex::{Lazy, Regex, lazy_regex};
use std::collections::HashMap;

/// Types that a constructor makes of a 0.
static SCALAR: Lazy<Regex> = lazy_regex!("^(?:float|int|uint|bool|[iub]?vec[234]|mat[234](?:x[234])?)$");
static MACRO: Lazy<Regex> = lazy_regex!(r"(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)");
const PRECISIONS: [&str; 3] = ["highp", "mediump", "lowp"];
/// Most characters and nested types of the statements for one variable: a shader can ask for any number.
const MOST: usize = 1 << 14;
const MOST_DEEP: usize = 16;

/// Type and name of a struct's member, and whether it is an array.
type Member = (String, String, bool);

/// What a shader has declared so far, and the files that are compiled before it.
#[derive(Default)]
pub struct ZeroDeclarations {
    /// Members of structs. `None` for a macro, which may be anything.
    structs: HashMap<String, Option<Vec<Member>>>,
    /// Statements for global variables.
    globals: String,
}

impl ZeroDeclarations {
    /// Returns statements that set a variable to zero; `None` for an unknown type.
    fn zeroes(&self, of: &str, name: &str, is_array: bool, depth: usize) -> Option<String> {
        let zeroes = match self.structs.get(of) {
            _ if depth > MOST_DEEP => None,
            _ if is_array => {
                let (at, each) = (format!("zero{depth}"), format!("{name}[zero{depth}]"));
                let inner = self.zeroes(of, &each, false, depth + 1)?;
                Some(format!("for(int {at}=0;{at}<{name}.length();{at}++){{{inner}}}"))
            }
            Some(members) => {
                let own = members.as_ref()?.iter();
                own.map(|(of, own, is_array)| self.zeroes(of, &format!("{name}.{own}"), *is_array, depth + 1)).collect()
            }
            None => SCALAR.is_match(of).then(|| format!("{name}={of}(0);")),
        };
        zeroes.filter(|zeroes: &String| zeroes.len() < MOST)
    }

    /// Returns the statement for a parameter that a function sets.
    fn of_parameter(&self, parameter: &[Token<'_>]) -> Option<String> {
        let words: Vec<_> = parameter.iter().filter(|token| !PRECISIONS.contains(&token.text)).copied().collect();
        let ["out", of] = [words.first()?.text, words.get(1)?.text] else { return None };
        let name = words[2..].iter().find(|token| is_name(token.text))?;
        self.zeroes(of, name.text, words.iter().any(|token| token.text == "["), 0)
    }
}

/// A shader whose variables begin with zero.
#[derive(Default)]
pub struct ZeroedText {
    pub text: String,
    pub added: Vec<AddedText>,
}

impl ZeroedText {
    /// Adds zeroes, and `first` where the function `entry` begins.
    pub fn of(text: &str, (entry, first): (&str, &str), declared: &mut ZeroDeclarations) -> Self {
        declared.structs.extend(MACRO.captures_iter(text).map(|found| (found[1].to_owned(), None)));
        let bare = without_comments(text);
        let tokens = tokens(&bare);
        let mut zeroed = Self::default();
        let (mut copied, mut line, mut at) = (0, 1, 0);
        let mut add = |end: usize, what: &str| {
            if !what.is_empty() {
                let part = &text[copied..end];
                zeroed.text += part;
                line += part.matches('\n').count() as u32;
                let own = zeroed.text.rsplit('\n').next().unwrap_or_default();
                let (column, length) = (1 + own.chars().count() as u32, what.len() as u32);
                zeroed.added.push(AddedText { line, column, length });
                zeroed.text += what;
                copied = end;
            }
        };
        while let Some(token) = tokens.get(at) {
            at += 1;
            let of = match token.text {
                // A macro contains the opening brace, so which variables are global is unknown.
                "}" if token.depth == 0 => {
                    declared.globals.clear();
                    continue;
                }
                "struct" => {
                    let Some([name, open]) = tokens.get(at..at + 2) else { continue };
                    declared.structs.insert(name.text.to_owned(), Some(members(&tokens, at + 2, open.next - 1)));
                    at = open.next;
                    name.text
                }
                "(" if token.depth == 0 && at > 1 && is_name(tokens[at - 2].text) => {
                    let (name, parameters) = (tokens[at - 2].text, tokens.get(at..token.next - 1));
                    at = token.next;
                    if let (true, Some(parameters)) = (token_is(&tokens, at, "{"), parameters) {
                        let mut zeroes = if name == entry { declared.globals.clone() + first } else { String::new() };
                        let parameters = parameters.split(|token| token.text == ",");
                        zeroes.extend(parameters.filter_map(|parameter| declared.of_parameter(parameter)));
                        add(tokens[at].start + 1, &zeroes);
                    }
                    continue;
                }
                word if begins(&tokens, at - 1) => word,
                _ => continue,
            };
            let is_scalar = SCALAR.is_match(of) && !declared.structs.contains_key(of);
            if !is_scalar && declared.structs.get(of).is_none_or(Option::is_none) {
                continue;
            }
            let is_in_loop = token_is(&tokens, at.saturating_sub(2), "(");
            let (names, mut zeroes) = (declarators(&tokens, &mut at), String::new());
            for (name, is_array, _) in names.into_iter().filter(|(.., has_value)| !has_value) {
                if is_scalar && !is_array {
                    add(name.start + name.text.len(), &format!("={of}(0)"));
                } else if let Some(own) = declared.zeroes(of, name.text, is_array, 0) {
                    match name.depth {
                        0 if name.is_conditional => {}
                        0 => declared.globals += &own,
                        _ => zeroes += &own,
                    }
                }
            }
            if let Some(end) = tokens.get(at).filter(|end| end.text == ";" && !is_in_loop) {
                add(end.start + 1, &zeroes);
            }
        }
        zeroed.text.push_str(&text[copied..]);
        zeroed
    }
}

/// Skips brackets with a length, and returns whether there are any.
fn skip_length(tokens: &[Token<'_>], at: &mut usize) -> bool {
    let has_length = token_is(tokens, *at, "[");
    if has_length {
        *at += tokens[*at..].iter().position(|token| token.text == "]").unwrap_or(0) + 1;
    }
    has_length
}

/// Returns the names that are declared together, and whether each is an array and has a value.
fn declarators<'a>(tokens: &[Token<'a>], at: &mut usize) -> Vec<(Token<'a>, bool, bool)> {
    let (are_arrays, mut names) = (skip_length(tokens, at), Vec::new());
    while let Some(name) = tokens.get(*at).filter(|name| is_name(name.text)) {
        *at += 1;
        let is_array = skip_length(tokens, at) || are_arrays;
        names.push((*name, is_array, !token_is(tokens, *at, ",") && !token_is(tokens, *at, ";")));
        // A function's parameters.
        if name.depth == 0 && token_is(tokens, *at, "(") {
            break;
        }
        // What ends a declarator may also end all of them.
        let is_inside = |token: &Token<'_>| ![",", ";", ")", "]", "{", "}"].contains(&token.text);
        while let Some(token) = tokens.get(*at).filter(|token| is_inside(token)) {
            *at = token.next;
        }
        if !token_is(tokens, *at, ",") {
            break;
        }
        *at += 1;
    }
    names
}

fn members(tokens: &[Token<'_>], mut at: usize, end: usize) -> Vec<Member> {
    let mut members = Vec::new();
    while let Some(of) = tokens.get(at).filter(|_| at < end) {
        at += 1;
        if !PRECISIONS.contains(&of.text) {
            let names = declarators(tokens, &mut at).into_iter();
            members.extend(names.map(|(name, is_array, _)| (of.text.to_owned(), name.text.to_owned(), is_array)));
            at += 1;
        }
    }
    members
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

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zeroed(text: &str) -> ZeroedText {
        ZeroedText::of(text, ("main", "c;"), &mut ZeroDeclarations::default())
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
            (
                "float a[2], b; void main() {}",
                "float a[2], b=float(0); void main() {for(int zero0=0;zero0<a.length();zero0++){a[zero0]=float(0);}c;}",
            ),
            (
                "struct S { float a; vec2 b[1]; } s; void main() { S t; }",
                "struct S { float a; vec2 b[1]; } s; void main() {s.a=float(0);for(int zero1=0;zero1<s.b.length();zero1++){s.b[zero1]=vec2(0);}c; S t;t.a=float(0);for(int zero1=0;zero1<t.b.length();zero1++){t.b[zero1]=vec2(0);} }",
            ),
            (
                "void f(out int b[2]) { int[M] d; }",
                "void f(out int b[2]) {for(int zero0=0;zero0<b.length();zero0++){b[zero0]=int(0);} int[M] d;for(int zero0=0;zero0<d.length();zero0++){d[zero0]=int(0);} }",
            ),
            ("void main() {}", "void main() {c;}"),
        ] {
            assert_eq!(zeroed(text).text, expected);
        }
        for same in [
            "const float a = 1.0;",
            "precision highp float;",
            "float f(float x, out vec2 y);",
            "float f(vec2 p) { return vec2(p).x; }",
            "#define A 1 /* one\n float a; */",
            "struct S { sampler2D a; }; S s; void f() { S t; for (S u; ;) {} }",
            "#define S vec2\nS s; void f() { S t; }",
            "uniform highp float a; in vec2 b; layout(location = 0) out vec4 c;",
            "void f() { float a = g(1.0, 2.0), b = vec3(1)[2]; for (int d[2]; ;) {} }",
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
        let nested = (0..99).map(|n| format!("struct S{} {{ S{n} a, b; }};", n + 1)).collect::<String>();
        let nested = format!("struct S0 {{ int a; }};{nested} void f() {{ S99 s; }}");
        assert_eq!(zeroed(&nested).text, nested);
    }

    #[test]
    fn what_is_added_has_its_place() {
        let added = zeroed("int a;\nvoid f() {\n  int b, c; float d;\n}").added;
        let of = |line, column, length| AddedText { line, column, length };
        assert_eq!(added, [of(1, 6, 7), of(3, 8, 7), of(3, 18, 7), of(3, 34, 9)]);
    }

    #[test]
    fn globals_are_known() {
        for (text, expected) in [
            ("int a[1]; void f() { int b[1]; } mat2 m[2];", "am"),
            ("#if 1\nint e[1];\n#else\nint e[2];\n#endif\nint f[1], g;", "f"),
            // Each branch opens a brace, and one of them is compiled.
            ("void f() {\n#if 1\nfor (;;) {\n#elif 1\nif (true) {\n#else\n{\n#endif\n} }\nvec2 g[1];", "g"),
            ("#define A 1 /* one { \n float b[1]; */ /**/\nint c[1]; #\nif", "c"),
            ("float a[1];\n#define L for (int i = 0; i < 3; i++) {\nvoid f() { L } float b[1]; }", ""),
            ("#define A a / b \\\n float c[1]; // {\\\n float d[1]; /*\nint e[1]; /* }", "e"),
        ] {
            let mut declared = ZeroDeclarations::default();
            ZeroedText::of(text, ("main", ""), &mut declared);
            let names: String =
                declared.globals.split("zero0<").skip(1).filter_map(|rest| rest.chars().next()).collect();
            assert_eq!(names, expected, "{text}");
        }
    }
}
