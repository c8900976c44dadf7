//! Constants that naga computes while it reads a text: naga writes out every word of an array or struct each time that
//! it is named, constructed or used in a computation.

use crate::tokens::{is_word, tokens};
use std::collections::HashMap;
use std::ops::Range;

/// Words that are not counted: those of a vector, a matrix or a small struct.
const FREE: u64 = 16;
/// Maximum depth of names in each other; deeper ones count as the longest array.
const NAMES: usize = 250;
/// The longest possible array, assumed for a length that is unknown here.
const UNKNOWN: u64 = u32::MAX as u64;

/// Returns an upper bound of the words of constant arrays and structs that naga computes for a text. The text's depth
/// must be within its limit.
pub fn values(text: &str) -> u64 {
    let mut reader = Reader::of(text);
    reader.part(0..reader.tokens.len(), true).1
}

/// Words of a value, and of an element that an index selects from it.
#[derive(Clone, Copy)]
struct Value {
    words: u64,
    element: u64,
}

const ONE: Value = Value { words: 1, element: 1 };

impl Value {
    fn most(self, other: Self) -> Self {
        Self { words: self.words.max(other.words), element: self.element.max(other.element) }
    }

    /// An array itself counts as a word, so that nested arrays of one element are counted.
    fn array(count: u64, element: u64) -> Self {
        Self { words: count.saturating_mul(element).saturating_add(1), element }
    }

    fn counted(self) -> u64 {
        if self.words > FREE { self.words } else { 0 }
    }
}

#[derive(Clone, Copy)]
enum Declaration {
    /// `alias`, with the position of the token where its type begins.
    Alias(usize),
    /// `struct`, with its first bracket.
    Struct(usize),
}

struct Reader<'a> {
    tokens: Vec<&'a str>,
    /// The closing bracket of each opening one.
    closed: HashMap<usize, usize>,
    types: HashMap<&'a str, Declaration>,
    /// Start of each value of `const`; the bool of each pair is true if it is declared outside all functions.
    constants: HashMap<&'a str, Vec<(bool, usize)>>,
    /// Values computed so far; for a name that is being resolved, a value that ends the recursion.
    words: HashMap<&'a str, Value>,
    lengths: HashMap<&'a str, Option<u64>>,
    outer: HashMap<&'a str, Value>,
    /// `let` and `const` of this function so far, in whichever block they are.
    inner: HashMap<&'a str, Value>,
    /// Number of names that are being resolved.
    names: usize,
}

impl<'a> Reader<'a> {
    fn of(text: &'a str) -> Self {
        let mut new = Self {
            tokens: tokens(text).collect(),
            closed: HashMap::new(),
            types: HashMap::new(),
            constants: HashMap::new(),
            words: HashMap::new(),
            lengths: HashMap::new(),
            outer: HashMap::new(),
            inner: HashMap::new(),
            names: 0,
        };
        let mut open = Vec::new();
        for at in 0..new.tokens.len() {
            match new.tokens[at] {
                "(" | "[" | "{" => open.push(at),
                ")" | "]" | "}" => {
                    if let Some(first) = open.pop() {
                        new.closed.insert(first, at);
                    }
                }
                "alias" => _ = new.types.insert(new.token(at + 1), Declaration::Alias(at + 3)),
                "struct" => _ = new.types.insert(new.token(at + 1), Declaration::Struct(at + 2)),
                "const" => {
                    let declared = (open.is_empty(), new.behind_equals(at + 1));
                    new.constants.entry(new.token(at + 1)).or_default().push(declared);
                }
                _ => {}
            }
        }
        new
    }

    /// Returns the token at a position; an empty one behind the end.
    fn token(&self, at: usize) -> &'a str {
        self.tokens.get(at).copied().unwrap_or("")
    }

    /// Returns where the value of a declaration begins.
    fn behind_equals(&self, from: usize) -> usize {
        let sign = (from..self.tokens.len()).find(|at| matches!(self.tokens[*at], "=" | ";"));
        sign.map_or(self.tokens.len(), |at| at + 1)
    }

    /// Returns where the expression that begins there ends.
    fn end_of(&self, from: usize) -> usize {
        let mut at = from;
        while at < self.tokens.len() && self.tokens[at] != ";" {
            at = self.closed.get(&at).copied().unwrap_or(at) + 1;
        }
        at.min(self.tokens.len())
    }

    /// Returns the largest value among these tokens, and the count for computing all of them.
    fn part(&mut self, range: Range<usize>, outside: bool) -> (Value, u64) {
        let (mut all, mut counted) = (ONE, 0_u64);
        let (mut at, mut part) = (range.start, TextPart::default());
        while at < range.end {
            let token = self.tokens[at];
            part.links += 1;
            let mut next = at + 1;
            match token {
                "," | ";" => {
                    counted = counted.saturating_add(self.ends(&mut part, &mut all));
                }
                "(" | "[" | "{" => {
                    let end = self.closed.get(&at).copied().unwrap_or(range.end).min(range.end);
                    let (inside, more) = self.part(next..end, false);
                    counted = counted.saturating_add(more);
                    next = end + 1;
                    match token {
                        "(" => {
                            let called = at.checked_sub(1).is_some_and(|before| is_word(self.tokens[before]));
                            let before = if called { part.last } else { ONE };
                            // After an operator it is a value of its own.
                            if !called {
                                part.largest = part.largest.most(part.last);
                            }
                            part.last = before.most(inside);
                        }
                        "[" => part.last = Value { words: part.last.element, ..part.last },
                        _ => counted = counted.saturating_add(self.ends(&mut part, &mut all)),
                    }
                }
                "fn" if outside => self.inner.clear(),
                "let" | "const" => {
                    let name = self.token(next);
                    next = self.behind_equals(next).min(range.end);
                    if outside {
                        self.constant(name);
                    } else {
                        part.declared = Some(name);
                    }
                }
                // The name of a member is not a variable; a struct is as large as its members.
                "." => next += 1,
                "array" if !self.types.contains_key("array") => {
                    let (built, end) = self.built_array(at, range.end);
                    next = end;
                    if let Some(built) = built {
                        counted = counted.saturating_add(part.holds(built));
                    }
                }
                _ if is_word(token) => {
                    let value = if self.token(next) == "(" && self.types.contains_key(token) {
                        self.named(token)
                    } else {
                        let inner = self.inner.get(token).copied().unwrap_or(ONE);
                        inner.most(self.constant(token))
                    };
                    counted = counted.saturating_add(part.holds(value));
                }
                _ => {}
            }
            at = next;
        }
        counted = counted.saturating_add(self.ends(&mut part, &mut all));
        (all, counted)
    }

    fn ends(&mut self, part: &mut TextPart<'a>, all: &mut Value) -> u64 {
        let TextPart { links, declared, largest, last } = std::mem::take(part);
        let largest = largest.most(last);
        if let Some(name) = declared {
            let known = self.inner.entry(name).or_insert(ONE);
            *known = known.most(largest);
        }
        *all = all.most(largest);
        links.saturating_mul(largest.counted())
    }

    /// Returns the words that `array..(` constructs, and the next token; `None` for a mere type.
    fn built_array(&mut self, at: usize, end: usize) -> (Option<Value>, usize) {
        match self.token(at + 1) {
            "(" => {
                let close = self.closed.get(&(at + 1)).copied().unwrap_or(end).min(end);
                let (inside, _) = self.part(at + 2..close, false);
                (Some(Value::array(self.count(at + 2..close), inside.words)), at + 1)
            }
            "<" => match self.array(at) {
                Some((value, next)) if next <= end => ((self.token(next) == "(").then_some(value), next),
                // The rest is unreadable here, so it counts as constructed if anything after it may be.
                _ => {
                    let built = (at..end)
                        .take_while(|at| !matches!(self.tokens[*at], ";" | "{" | "}"))
                        .any(|at| self.tokens[at] == ">" && self.token(at + 1) == "(");
                    (built.then_some(Value::array(UNKNOWN, 1)), at + 1)
                }
            },
            _ => (None, at + 1),
        }
    }

    /// Returns the number of parts in a bracket.
    fn count(&self, range: Range<usize>) -> u64 {
        let (mut at, mut count) = (range.start, 1);
        while at < range.end {
            count += u64::from(self.tokens[at] == ",");
            at = self.closed.get(&at).copied().unwrap_or(at) + 1;
        }
        count
    }

    /// Reads `array<..>`; also returns where it ends. `None` if it is unreadable.
    fn array(&mut self, at: usize) -> Option<(Value, usize)> {
        let (element, next) = self.ty(at + 2)?;
        let (count, mut next) = match self.token(next) {
            "," => {
                let end = next + 1;
                match self.shifts(end, false) {
                    Some((length, next)) if matches!(self.token(next), ">" | ",") => (length, next),
                    _ => (UNKNOWN, self.list_end(end)?),
                }
            }
            // Its length is that of its argument, or unknown until it runs.
            _ => (1, next),
        };
        if self.token(next) == "," {
            next += 1;
        }
        (self.token(next) == ">").then(|| (Value::array(count, element.words), next + 1))
    }

    /// Returns the position of the `>` that ends a list.
    fn list_end(&self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            match self.token(at) {
                "" | ";" | "{" | "}" | ")" | "]" => return None,
                ">" => return Some(at),
                // A nested list or a comparison, which is not evaluated.
                "<" => return None,
                _ => at = self.closed.get(&at).copied().unwrap_or(at) + 1,
            }
        }
    }

    /// Reads a type; also returns where it ends.
    fn ty(&mut self, at: usize) -> Option<(Value, usize)> {
        let name = self.token(at);
        if !is_word(name) {
            return None;
        }
        if self.types.contains_key(name) {
            return Some((self.named(name), at + 1));
        }
        if name == "array" && self.token(at + 1) == "<" {
            return self.array(at);
        }
        let digits = |name: &str| name.chars().filter_map(|c| c.to_digit(10)).take(2).product::<u32>();
        let words = match name.get(..3) {
            Some("vec") => name.get(3..4).map_or(1, digits),
            Some("mat") => digits(name.get(3..6).unwrap_or("")),
            _ => 1,
        };
        let value = Value { words: u64::from(words.max(1)), element: u64::from(words.max(1)) };
        if self.token(at + 1) != "<" {
            return Some((value, at + 1));
        }
        let end = self.list_end(at + 2)?;
        Some((value, end + 1))
    }

    /// Returns the type of a name.
    fn named(&mut self, name: &'a str) -> Value {
        if let Some(known) = self.words.get(name) {
            return *known;
        }
        let unknown = Value { words: UNKNOWN, element: UNKNOWN };
        if self.names >= NAMES {
            return unknown;
        }
        // naga rejects recursive types.
        self.words.insert(name, ONE);
        self.names += 1;
        let value = match self.types.get(name).copied() {
            Some(Declaration::Alias(at)) => self.ty(at).map_or(unknown, |(value, _)| value),
            Some(Declaration::Struct(open)) => {
                let end = self.closed.get(&open).copied().unwrap_or(self.tokens.len());
                let (mut at, mut words) = (open + 1, 1_u64);
                while at < end {
                    // The token after a colon is a type.
                    if self.tokens[at] == ":" {
                        let (value, next) = self.ty(at + 1).unwrap_or((unknown, at + 1));
                        words = words.saturating_add(value.words);
                        at = next;
                    } else {
                        at = self.closed.get(&at).copied().unwrap_or(at) + 1;
                    }
                }
                Value { words, element: words }
            }
            None => ONE,
        };
        self.names -= 1;
        self.words.insert(name, value);
        value
    }

    /// Returns the value of a constant outside all functions.
    fn constant(&mut self, name: &'a str) -> Value {
        if let Some(known) = self.outer.get(name) {
            return *known;
        }
        let all = self.constants.get(name).into_iter().flatten();
        let Some(at) = all.filter(|(outside, _)| *outside).map(|(_, at)| *at).next() else { return ONE };
        if self.names >= NAMES {
            return Value { words: UNKNOWN, element: UNKNOWN };
        }
        // naga rejects recursive constants.
        self.outer.insert(name, ONE);
        self.names += 1;
        // Local names of a function are not visible there.
        let inner = std::mem::take(&mut self.inner);
        let (value, _) = self.part(at..self.end_of(at), false);
        self.inner = inner;
        self.names -= 1;
        self.outer.insert(name, value);
        value
    }

    /// Evaluates an expression of a length; also returns where it ends. Inside a list of types, `>` ends the list.
    fn shifts(&mut self, at: usize, bracket: bool) -> Option<(u64, usize)> {
        let (mut value, mut at) = self.sum(at)?;
        loop {
            let sign = self.token(at);
            if sign != self.token(at + 1) || !(sign == "<" || sign == ">" && bracket) {
                return Some((value, at));
            }
            let (by, next) = self.sum(at + 2)?;
            let by = u32::try_from(by).ok().filter(|by| *by < 32)?;
            (value, at) = (length(if sign == "<" { value << by } else { value >> by })?, next);
        }
    }

    fn sum(&mut self, at: usize) -> Option<(u64, usize)> {
        let (mut value, mut at) = self.product(at)?;
        while matches!(self.token(at), "+" | "-") {
            let (other, next) = self.product(at + 1)?;
            // Negative values are unknown, because some types wrap.
            let sum = if self.token(at) == "+" { value.checked_add(other) } else { value.checked_sub(other) };
            (value, at) = (length(sum?)?, next);
        }
        Some((value, at))
    }

    fn product(&mut self, at: usize) -> Option<(u64, usize)> {
        let (mut value, mut at) = self.number(at)?;
        while matches!(self.token(at), "*" | "/" | "%") {
            let (other, next) = self.number(at + 1)?;
            let made = match self.token(at) {
                "*" => value.checked_mul(other),
                "/" => value.checked_div(other),
                _ => value.checked_rem(other),
            };
            (value, at) = (length(made?)?, next);
        }
        Some((value, at))
    }

    fn number(&mut self, at: usize) -> Option<(u64, usize)> {
        let token = self.token(at);
        if token == "(" {
            let (value, next) = self.shifts(at + 1, true)?;
            return (self.token(next) == ")").then_some((value, next + 1));
        }
        if !token.starts_with(|c: char| c.is_ascii_digit()) {
            return Some((self.length_of(token)?, at + 1));
        }
        let digits = token.strip_suffix(['u', 'i']).unwrap_or(token);
        let hex = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
        let value = hex.map_or_else(|| digits.parse(), |hex| u64::from_str_radix(hex, 16)).ok()?;
        Some((length(value)?, at + 1))
    }

    /// Returns the value of a constant by its name, if it is the same wherever the name is declared.
    fn length_of(&mut self, name: &'a str) -> Option<u64> {
        if let Some(known) = self.lengths.get(name) {
            return *known;
        }
        if self.names >= NAMES {
            return None;
        }
        self.lengths.insert(name, None);
        self.names += 1;
        let mut found = None;
        for (_, at) in self.constants.get(name).cloned().unwrap_or_default() {
            let value = self.shifts(at, true).filter(|(_, next)| self.token(*next) == ";").map(|(value, _)| value);
            if value.is_none() || found.is_some_and(|found| found != value) {
                found = Some(None);
                break;
            }
            found = Some(value);
        }
        self.names -= 1;
        self.lengths.insert(name, found.flatten());
        found.flatten()
    }
}

/// Returns a number below the first one that is negative in signed types.
fn length(value: u64) -> Option<u64> {
    (value <= i32::MAX as u64).then_some(value)
}

/// A part between two commas or semicolons.
struct TextPart<'a> {
    links: u64,
    declared: Option<&'a str>,
    largest: Value,
    /// The last named value: an index selects an element of it.
    last: Value,
}

impl Default for TextPart<'_> {
    fn default() -> Self {
        Self { links: 0, declared: None, largest: ONE, last: ONE }
    }
}

impl TextPart<'_> {
    /// Returns the words that count where the value is named.
    fn holds(&mut self, value: Value) -> u64 {
        self.largest = self.largest.most(std::mem::replace(&mut self.last, value));
        value.counted()
    }
}
