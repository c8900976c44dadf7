//! Arguments of a kernel, as its text declares them.

use crate::prelude::NUMBERS;
use crate::tokens::tokens;
use interop_core::describe::words::counted;
use interop_core::{Arg, Error, Result};

/// Bytes of a word: memory is written and bound in whole words.
pub const WORD: usize = 4;

/// Words in one element of the block of numbers.
pub const VECTOR: usize = 4;

/// Words of that block before the numbers among the arguments.
pub const HEAD: usize = 8;

/// Maximum number of numbers in a launch.
pub const MOST_NUMBERS: usize = 32;

/// A kind of number, by the function that reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    I32,
    U32,
    F32,
}

/// The numbers that a text reads.
#[derive(Debug, Default)]
pub struct Numbers {
    /// The kinds of the numbers that it reads at a literal position; `None` for positions that it does not read this
    /// way.
    written: Vec<Option<Number>>,
    /// True where it reads numbers at a computed position.
    computed: bool,
}

/// The functions that read numbers.
const READERS: [(Number, &str); 3] =
    [(Number::I32, "pf_arg_i32"), (Number::U32, "pf_arg_u32"), (Number::F32, "pf_arg_f32")];

impl Numbers {
    /// Finds `pf_arg_f32(0)` and similar calls.
    pub fn of(text: &str) -> Self {
        let all: Vec<_> = tokens(text).collect();
        let mut numbers = Self::default();
        for (at, token) in all.iter().enumerate() {
            let kind = READERS.iter().find(|(_, name)| name == token).map(|(kind, _)| *kind);
            let index = match all.get(at + 1..at + 4) {
                Some(["(", place, ")"]) => place.trim_end_matches(['u', 'i']).parse::<usize>().ok(),
                _ => None,
            };
            match (kind, index.filter(|index| *index < MOST_NUMBERS)) {
                (Some(kind), Some(index)) => {
                    let written = &mut numbers.written;
                    written.resize(written.len().max(index + 1), None);
                    written[index] = Some(kind);
                }
                (Some(_), None) => numbers.computed = true,
                (None, _) => numbers.computed |= *token == NUMBERS,
            }
        }
        numbers
    }

    /// Returns the numbers of a block of this many words.
    pub fn of_block(words: usize) -> Self {
        Self { written: vec![None; words.saturating_sub(HEAD)], computed: false }
    }

    /// Returns how many numbers the text may read: those up to the last position that it names, or all.
    pub fn count(&self) -> usize {
        if self.computed { MOST_NUMBERS } else { self.written.len() }
    }

    /// Returns the bits of the numbers among the arguments. Each must have the kind that the text reads.
    pub fn bits(&self, kernel: &str, args: &[Arg<'_>]) -> Result<[u32; MOST_NUMBERS]> {
        let invalid = |problem: String| Error::refused(format!("kernel '{kernel}': {problem}"));
        let (mut bits, mut count) = ([0; MOST_NUMBERS], 0);
        for arg in args {
            let (kind, value) = match *arg {
                Arg::I32(value) => (Number::I32, value.cast_unsigned()),
                Arg::U32(value) => (Number::U32, value),
                Arg::F32(value) => (Number::F32, value.to_bits()),
                Arg::Memory(_) => continue,
                ref other => {
                    return Err(invalid(format!("WGSL has no {}; give a number of 32 bits", other.kind())));
                }
            };
            if count == MOST_NUMBERS {
                return Err(invalid(format!("more than {MOST_NUMBERS} numbers were given; put them into memory")));
            }
            if let Some(Some(wanted)) = self.written.get(count)
                && *wanted != kind
            {
                return Err(invalid(format!("number {count} is {}, but the text reads {wanted:?}", arg.kind())));
            }
            bits[count] = value;
            count += 1;
        }
        if count < self.written.len() {
            return Err(invalid(format!(
                "its text reads {}, but {count} were given",
                counted(self.written.len(), "number")
            )));
        }
        Ok(bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_that_the_text_reads() {
        let numbers = Numbers::of("pf_arg_f32(0) + f32(pf_arg_u32( 2u )) pf_arg_i32(i) pf_arg_u32(99)");
        assert_eq!(numbers.written, [Some(Number::F32), None, Some(Number::U32)]);
        let args = [Arg::F32(1.0), Arg::I32(-1), Arg::U32(7)];
        assert_eq!(numbers.bits("k", &args).unwrap()[..3], [1f32.to_bits(), u32::MAX, 7]);
        for wrong in [&args[..2], &[Arg::I32(1), Arg::I32(1), Arg::U32(1)], &[Arg::F64(1.0)]] {
            let text = numbers.bits("k", wrong).unwrap_err().to_string();
            assert!(text.contains("kernel 'k'"), "{text}");
        }
    }

    #[test]
    fn a_place_that_is_computed_may_be_any() {
        for (text, count) in [
            ("pf_arg_f32(2) // pf_arg_u32(5)", 3),
            ("pf_arg_f32 ( 2u ) my_pf_arg_u32(i)", 3),
            ("/* pf_arg_u32(0) */ pf_arg_u32(i)", MOST_NUMBERS),
            ("pf_arg_f32(0) + pf_arg_f32(1 + 1)", MOST_NUMBERS),
            ("pf_arg_f32(99)", MOST_NUMBERS),
            ("pf_launch[3].x", MOST_NUMBERS),
            ("1.0", 0),
        ] {
            assert_eq!(Numbers::of(text).count(), count, "{text}");
        }
    }
}
