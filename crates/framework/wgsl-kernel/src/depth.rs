//! The nesting depth of a text, computed before a parser builds its tree.

use crate::tokens::{is_word, tokens};

/// Returns an upper bound of the nesting depth of a text: brackets, operators of one expression, and `else`. It is
/// never below the depth of the tree that naga builds from the text. The function reads the text once, token by token,
/// without recursion.
pub fn depth(text: &str) -> u64 {
    let mut open = vec![Bracket::default()];
    let mut ends_block = false;
    for token in tokens(text) {
        let Some(top) = open.last_mut() else { break };
        // A block ends its statement, unless `else` continues it.
        if std::mem::take(&mut ends_block) && token != "else" {
            top.part_ends();
        }
        match token {
            "(" | "[" | "{" => open.push(Bracket::default()),
            ")" | "]" | "}" => {
                if let (Some(closed), Some(around)) = (open.pop(), open.last_mut()) {
                    around.holds(closed.whole());
                    ends_block = token == "}";
                } else {
                    // It closes no bracket; naga rejects the text.
                    open.push(Bracket::default());
                }
            }
            ";" => top.part_ends(),
            // A comma inside `<..>` separates nothing: the operand after the list contains the whole list.
            "," if top.lists == 0 => top.part_ends(),
            "<" => {
                top.lists += 1;
                top.links += 1;
            }
            ">" => {
                top.lists = top.lists.saturating_sub(1);
                top.links += 1;
            }
            "else" => top.links += 1,
            "," | ":" | "@" | "->" => {}
            _ if is_word(token) => {}
            _ => top.links += 1,
        }
    }
    // The brackets that are still open, innermost first.
    let inner = open.into_iter().rev().fold(None, |inside: Option<u64>, mut bracket| {
        if let Some(inside) = inside {
            bracket.holds(inside);
        }
        Some(bracket.whole())
    });
    inner.unwrap_or(0)
}

/// Contents of a bracket, in parts that follow each other.
#[derive(Default)]
struct Bracket {
    /// Operators of the current part.
    links: u64,
    /// The deepest bracket in the current part.
    inside: u64,
    /// The deepest earlier part.
    deepest: u64,
    /// Number of type lists that may be open: `<` without its `>`.
    lists: u64,
}

impl Bracket {
    fn part_ends(&mut self) {
        self.deepest = self.whole();
        (self.links, self.inside, self.lists) = (0, 0, 0);
    }

    fn holds(&mut self, depth: u64) {
        self.inside = self.inside.max(depth + 1);
    }

    fn whole(&self) -> u64 {
        self.deepest.max(self.links + self.inside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_beside_one_another_are_as_deep_as_the_deepest() {
        for (text, expected) in [
            ("", 0),
            ("a", 0),
            ("a + b", 1),
            ("a + b; c * d * e;", 2),
            ("f(a + b, c, d)", 2),
            ("f(g(h()))", 3),
            ("(a + b) * c", 3),
            ("{ a; { b; } c; }", 2),
            ("if a { b } else if c { d } else { e } if f { g }", 3),
            ("vec2<f32>(a, b)", 3),
            ("f(a<b, c>, d, e * f)", 3),
            ("f(x<a + b, c> + d, e)", 5),
            ("/* ((( /* // */ ((( */ a // (((\n+ b", 1),
            ("/*/ ( */ ( */ a", 3),
            ("fn f() -> u32 { }", 1),
            ("((((", 4),
            ("))))(", 1),
        ] {
            assert_eq!(depth(text), expected, "{text}");
        }
        // An unclosed comment, as naga sees it, is none here: more is counted, never less.
        assert_eq!(depth("/* ((("), 5);
    }
}
