//! Functions that operations call, each with its dependencies.

use std::collections::BTreeSet;

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TextPart {
    Common,
    Integers,
    Floats,
    /// Products with 64 bits.
    Wide,
    /// Exponent and mantissa of a float.
    Parts,
    Fma,
    Remainder,
    Exp,
    Ln,
    /// Sine and cosine near 0.
    Turn,
    /// Sine and cosine of any angle.
    Angle,
    Tanh,
    Atan2,
    Pow,
}

impl TextPart {
    const fn row(self) -> (&'static str, &'static [Self]) {
        match self {
            Self::Common => (include_str!("common.wgsl"), &[]),
            Self::Integers => (include_str!("integers.wgsl"), &[]),
            Self::Floats => (include_str!("floats.wgsl"), &[Self::Common]),
            Self::Wide => (include_str!("wide.wgsl"), &[]),
            Self::Parts => (include_str!("parts.wgsl"), &[]),
            Self::Fma => (include_str!("fma.wgsl"), &[Self::Common, Self::Wide, Self::Parts]),
            Self::Remainder => (include_str!("fmod.wgsl"), &[Self::Common, Self::Parts]),
            Self::Exp => (include_str!("exp.wgsl"), &[Self::Common]),
            Self::Ln => (include_str!("ln.wgsl"), &[Self::Common, Self::Parts]),
            Self::Turn => (include_str!("turn.wgsl"), &[]),
            Self::Angle => {
                (include_str!("angle.wgsl"), &[Self::Common, Self::Wide, Self::Parts, Self::Turn, Self::Exp])
            }
            Self::Tanh => (include_str!("tanh.wgsl"), &[Self::Common, Self::Exp]),
            Self::Atan2 => (include_str!("atan2.wgsl"), &[Self::Common, Self::Floats]),
            Self::Pow => (include_str!("pow.wgsl"), &[Self::Common, Self::Parts, Self::Exp]),
        }
    }

    pub const fn text(self) -> &'static str {
        self.row().0
    }

    /// Adds the part to the set, with all parts that it calls.
    pub fn with_its_own(self, set: &mut BTreeSet<Self>) {
        if set.insert(self) {
            self.row().1.iter().for_each(|part| part.with_its_own(set));
        }
    }
}
