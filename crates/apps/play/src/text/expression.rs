//! Arithmetic expressions, as the sizes of ISF's passes are.

/// Returns the value of an expression of `+ - * / %`, brackets and a few functions; `None` if it is invalid. `named`
/// returns the values of names.
pub fn evaluate(text: &str, named: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    let mut reader = ExpressionReader { rest: text, named, depth: 0 };
    let value = reader.sum()?;
    reader.rest.trim().is_empty().then_some(value)
}

struct ExpressionReader<'a> {
    rest: &'a str,
    named: &'a dyn Fn(&str) -> Option<f64>,
    depth: usize,
}

/// Maximum nesting depth.
const MOST: usize = 64;

impl ExpressionReader<'_> {
    fn sign(&mut self, signs: &[char]) -> Option<char> {
        self.rest = self.rest.trim_start();
        let sign = self.rest.chars().next().filter(|sign| signs.contains(sign))?;
        self.rest = &self.rest[sign.len_utf8()..];
        Some(sign)
    }

    fn sum(&mut self) -> Option<f64> {
        let mut value = self.product()?;
        while let Some(sign) = self.sign(&['+', '-']) {
            value += if sign == '+' { self.product()? } else { -self.product()? };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<f64> {
        let mut value = self.operand()?;
        while let Some(sign) = self.sign(&['*', '/', '%']) {
            let other = self.operand()?;
            value = if sign == '*' {
                value * other
            } else if sign == '/' {
                value / other
            } else {
                value % other
            };
        }
        Some(value)
    }

    fn operand(&mut self) -> Option<f64> {
        self.depth = Some(self.depth + 1).filter(|depth| *depth <= MOST)?;
        let value = if self.sign(&['-']).is_some() { -self.operand()? } else { self.word()? };
        self.depth -= 1;
        Some(value)
    }

    /// Reads a number, a name, brackets, or a function with brackets.
    fn word(&mut self) -> Option<f64> {
        self.rest = self.rest.trim_start();
        let is_word = |c: char| c.is_ascii_alphanumeric() || ['_', '.', '$'].contains(&c);
        let (word, rest) = self.rest.split_at(self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len()));
        self.rest = rest;
        if self.sign(&['(']).is_none() {
            return word.parse().ok().or_else(|| (self.named)(word));
        }
        let mut given = vec![self.sum()?];
        while self.sign(&[',']).is_some() {
            given.push(self.sum()?);
        }
        self.sign(&[')'])?;
        match (word, given.as_slice()) {
            ("" | "int" | "float", [a]) => Some(*a),
            ("floor", [a]) => Some(a.floor()),
            ("ceil", [a]) => Some(a.ceil()),
            ("round", [a]) => Some(a.round()),
            ("abs", [a]) => Some(a.abs()),
            ("sqrt", [a]) => Some(a.sqrt()),
            ("pow", [a, b]) => Some(a.powf(*b)),
            ("min", all) => all.iter().copied().reduce(f64::min),
            ("max", all) => all.iter().copied().reduce(f64::max),
            _ => None,
        }
    }
}

#[test]
fn expressions_have_their_value() {
    let named = |name: &str| [("$WIDTH", 640.0), ("N", 3.0)].iter().find(|row| row.0 == name).map(|row| row.1);
    for (text, value) in [
        ("floor($WIDTH/3.0)", Some(213.0)),
        ("max(floor($WIDTH*0.02),1.0)", Some(12.0)),
        ("2*N + 1", Some(7.0)),
        ("-(4 - N) % 2", Some(-1.0)),
        ("N +", None),
        ("M", None),
        ("(1", None),
        ("", None),
    ] {
        assert_eq!(evaluate(text, &named), value, "{text}");
    }
    assert_eq!(evaluate(&"(".repeat(99_999), &named), None);
}
