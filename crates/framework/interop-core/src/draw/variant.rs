//! Variants of the draw's shader: decisions that are fixed when it is compiled.

use super::Plan;

/// Which steps of [`super::Shading`] a draw has. Each combination is a program of its own without run-time decisions;
/// displays with shaders cache their programs by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Variant {
    decode: u32,
    encode: u32,
    alpha: u32,
    tone: u32,
    over: bool,
    blends: bool,
}

impl Variant {
    /// Returns the variant of a draw; `None` where numbers are copied unchanged.
    pub fn of(plan: &Plan) -> Option<Self> {
        plan.shading.map(|s| Self {
            decode: s.decode.code(),
            encode: s.encode.code(),
            alpha: s.alpha.code(),
            tone: s.tone.code(),
            over: s.alpha.is_translucent() && plan.background.is_some(),
            blends: plan.blends,
        })
    }

    /// Returns the constants with their names in the shaders.
    pub const fn constants(self) -> [(&'static str, u32); 6] {
        [
            ("DECODE", self.decode),
            ("ENCODE", self.encode),
            ("ALPHA", self.alpha),
            ("TONE", self.tone),
            ("OVER", self.over as u32),
            ("BLENDS", self.blends as u32),
        ]
    }
}
