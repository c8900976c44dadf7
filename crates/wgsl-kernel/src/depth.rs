//! The depth of a text's tree, found before anybody builds the tree.

use crate::tokens::{is_word, tokens};

/// Parts of a text that stand in one another, at most: brackets, operators of one expression, and `else`. It is never below the
/// depth of the tree that naga makes of the text, and needs no stack: a text is read once, token by token.
pub fn depth(text: &str) -> u64 {
    let mut open = vec![Bracket::default()];
    let mut ends_block = false;
    for token in tokens(text) {
        let Some(top) = open.last_mut() else { break };
        // Behind a block a statement is over, unless `else` goes on with it.
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
                    // It closes nothing, which naga refuses.
                    open.push(Bracket::default());
                }
            }
            ";" => top.part_ends(),
            // A comma inside `<..>` parts nothing: what stands behind the list has all of the list in it.
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
    // Those that are still open, innermost first.
    let inner = open.into_iter().rev().fold(None, |inside: Option<u64>, mut bracket| {
        if let Some(inside) = inside {
            bracket.holds(inside);
        }
        Some(bracket.whole())
    });
    inner.unwrap_or(0)
}

/// Contents of a bracket, in parts that are not in one another.
#[derive(Default)]
struct Bracket {
    /// Operators of this part.
    links: u64,
    /// The deepest bracket of this part.
    inside: u64,
    /// The deepest part before.
    deepest: u64,
    /// Lists of types that may be open: `<` without its `>`.
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
