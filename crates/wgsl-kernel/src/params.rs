//! Arguments of a kernel, as its text declares them.

use interop_core::{Arg, Error, Result};

/// Numbers that a launch can pass.
pub const MOST_NUMBERS: usize = 32;

/// A kind of number, by the function that reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    I32,
    U32,
    F32,
}

/// The kinds of the numbers that a text reads by a place that is written out; `None` for places that it does not read so.
#[derive(Debug, Default)]
pub struct Numbers(Vec<Option<Number>>);

impl Numbers {
    /// Looks for `pf_arg_f32(0)` and its like.
    pub fn of(text: &str) -> Self {
        let mut found = Vec::new();
        for (kind, name) in [(Number::I32, "pf_arg_i32("), (Number::U32, "pf_arg_u32("), (Number::F32, "pf_arg_f32(")] {
            for (at, _) in text.match_indices(name) {
                let digits = text[at + name.len()..].trim_start();
                let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
                let closes = digits[end..].trim_start_matches(['u', 'i']).trim_start().starts_with(')');
                if let (true, Ok(index)) = (closes, digits[..end].parse::<usize>())
                    && index < MOST_NUMBERS
                {
                    found.resize(found.len().max(index + 1), None);
                    found[index] = Some(kind);
                }
            }
        }
        Self(found)
    }

    /// The bits of the numbers among the arguments, each of the kind that the text reads.
    pub fn bits(&self, kernel: &str, args: &[Arg<'_>]) -> Result<[u32; MOST_NUMBERS]> {
        let invalid = |problem: String| Error::refused(format!("kernel '{kernel}': {problem}"));
        let (mut bits, mut count) = ([0; MOST_NUMBERS], 0);
        for arg in args {
            let (kind, value) = match *arg {
                Arg::I32(value) => (Number::I32, value.cast_unsigned()),
                Arg::U32(value) => (Number::U32, value),
                Arg::F32(value) => (Number::F32, value.to_bits()),
                Arg::Memory(_) => continue,
                ref other => return Err(invalid(format!("WGSL has no {}; give a number of 32 bits", other.kind()))),
            };
            if count == MOST_NUMBERS {
                return Err(invalid(format!("more than {MOST_NUMBERS} numbers were given; put them into memory")));
            }
            if let Some(Some(wanted)) = self.0.get(count)
                && *wanted != kind
            {
                return Err(invalid(format!("number {count} is {}, but the text reads {wanted:?}", arg.kind())));
            }
            bits[count] = value;
            count += 1;
        }
        if count < self.0.len() {
            return Err(invalid(format!("its text reads {} numbers, {count} were given", self.0.len())));
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
        assert_eq!(numbers.0, [Some(Number::F32), None, Some(Number::U32)]);
        let args = [Arg::F32(1.0), Arg::I32(-1), Arg::U32(7)];
        assert_eq!(numbers.bits("k", &args).unwrap()[..3], [1f32.to_bits(), u32::MAX, 7]);
        for wrong in [&args[..2], &[Arg::I32(1), Arg::I32(1), Arg::U32(1)], &[Arg::F64(1.0)]] {
            let text = numbers.bits("k", wrong).unwrap_err().to_string();
            assert!(text.contains("kernel 'k'"), "{text}");
        }
    }
}
