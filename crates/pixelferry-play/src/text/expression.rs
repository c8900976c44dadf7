//! Numbers as texts write them: sizes of arrays, and those of ISF's passes.

/// The number of an expression of `+ - * / %`, brackets and a few functions; `None` where it is not one. `named` knows the names in it.
pub fn evaluate(text: &str, named: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
    let mut reader = Reader { rest: text, named, depth: 0 };
    let value = reader.sum()?;
    reader.rest.trim().is_empty().then_some(value)
}

struct Reader<'a> {
    rest: &'a str,
    named: &'a dyn Fn(&str) -> Option<f64>,
    depth: usize,
}

/// Most brackets within one another.
const MOST: usize = 64;

impl Reader<'_> {
    fn sign(&mut self, signs: &[char]) -> Option<char> {
        self.rest = self.rest.trim_start();
        let sign = self.rest.chars().next().filter(|sign| signs.contains(sign))?;
        self.rest = &self.rest[sign.len_utf8()..];
        Some(sign)
    }

    fn sum(&mut self) -> Option<f64> {
        let mut value = self.product()?;
        while let Some(sign) = self.sign(&['+', '-']) {
            let other = self.product()?;
            value += if sign == '+' { other } else { -other };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<f64> {
        let mut value = self.one()?;
        while let Some(sign) = self.sign(&['*', '/', '%']) {
            let other = self.one()?;
            value = match sign {
                '*' => value * other,
                '/' => value / other,
                _ => value % other,
            };
        }
        Some(value)
    }

    fn one(&mut self) -> Option<f64> {
        self.depth += 1;
        if self.depth > MOST {
            return None;
        }
        let value = match self.sign(&['-', '+', '(']) {
            Some('-') => -self.one()?,
            Some('+') => self.one()?,
            Some(_) => {
                let value = self.sum()?;
                self.sign(&[')'])?;
                value
            }
            None => self.word()?,
        };
        self.depth -= 1;
        Some(value)
    }

    fn word(&mut self) -> Option<f64> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || ['_', '.', '$'].contains(&c);
        let (word, rest) = self.rest.split_at(self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len()));
        self.rest = rest;
        if word.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return word.trim_end_matches(['u', 'U', 'f']).parse().ok();
        }
        if self.sign(&['(']).is_none() {
            return (self.named)(word);
        }
        let mut given = vec![self.sum()?];
        while self.sign(&[',']).is_some() {
            given.push(self.sum()?);
        }
        self.sign(&[')'])?;
        Some(match (word, given.as_slice()) {
            ("floor", [a]) => a.floor(),
            ("ceil", [a]) => a.ceil(),
            ("round", [a]) => a.round(),
            ("abs", [a]) => a.abs(),
            ("sqrt", [a]) => a.sqrt(),
            ("pow", [a, b]) => a.powf(*b),
            ("min", all) => all.iter().copied().fold(f64::INFINITY, f64::min),
            ("max", all) => all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            ("int" | "float", [a]) => *a,
            _ => return None,
        })
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
        ("8u", Some(8.0)),
        ("N +", None),
        ("M", None),
        ("(1", None),
        ("", None),
    ] {
        assert_eq!(evaluate(text, &named), value, "{text}");
    }
    assert_eq!(evaluate(&"(".repeat(99_999), &named), None);
}
