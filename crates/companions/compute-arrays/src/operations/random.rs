//! Counter-based random numbers.

use super::on_cpu;
use crate::array::Array;
use crate::context::Arrays;
use crate::cpu::{GRAIN, tasks};
use crate::element::{Element, ElementType, Float, Integer};
use crate::expr::BoundProgram;
use crate::text::wgsl::{self, TextPart, Wgsl};
use crate::text::{C, Dialect, PHILOX, Text};
use bytemuck::{cast, cast_slice_mut};
use interop_core::{Arg, Result};
use rayon::prelude::*;
use std::{f32, f64};

/// One block of Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011).
pub const fn philox4x32(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let ([mut a, mut b, mut c, mut d], [mut k0, mut k1]) = (counter, key);
    let mut round = 0;
    while round < 10 {
        let (p, q) = (0xd251_1f53 * a as u64, 0xcd9e_8d57 * c as u64);
        (a, b, c, d) = ((q >> 32) as u32 ^ b ^ k0, q as u32, (p >> 32) as u32 ^ d ^ k1, p as u32);
        (k0, k1) = (k0.wrapping_add(0x9e37_79b9), k1.wrapping_add(0xbb67_ae85));
        round += 1;
    }
    [a, b, c, d]
}

/// A generator of random numbers: Philox4x32-10 in counter mode. Its stream is identical on every backend, bit for bit
/// for integers and [`Philox::uniform`]. [`Philox::normal`] uses `ln`, `sqrt`, `sin` and `cos`: its values differ by at
/// most `1e-5` (`f32`) or `1e-12` (`f64`) from those of exact functions.
///
/// Block `b` of 128 bits is the cipher of the counter `b | stream << 64` under the key `seed`. An array uses whole
/// blocks, starting at the generator's position. Element `i` of 4 bytes is word `i % 4` of block `i / 4`. Element `i`
/// of 8 bytes has the words `2 (i % 2)` (low) and `2 (i % 2) + 1` of block `i / 2`. Streams never overlap, so each
/// thread, device or time step can have its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Philox {
    seed: u64,
    stream: u64,
    block: u64,
}

/// Conversion of random words into elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Distribution {
    Bits,
    Uniform,
    Normal,
}

impl Philox {
    /// Creates a generator for stream 0 of a seed, at its start.
    pub const fn new(seed: u64) -> Self {
        Self { seed, stream: 0, block: 0 }
    }

    /// Selects another stream, at its start.
    #[must_use]
    pub const fn with_stream(self, stream: u64) -> Self {
        Self { stream, block: 0, ..self }
    }

    /// Moves to another block of this stream.
    #[must_use]
    pub const fn at_block(self, block: u64) -> Self {
        Self { block, ..self }
    }

    /// Returns the next block.
    pub const fn block(&self) -> u64 {
        self.block
    }

    /// Fills an array with all values of the type, equally likely.
    ///
    /// # Errors
    /// Errors of the backend; the position then stays unchanged.
    pub fn integers<T: Integer>(&mut self, into: &mut Array<T>) -> Result<()> {
        self.fill(&into.arrays().clone(), into, Distribution::Bits, "Philox::integers")
    }

    /// Fills an array with values from 0 (included) to 1 (excluded): multiples of 2^-24 (`f32`) or 2^-53 (`f64`),
    /// equally likely.
    ///
    /// # Errors
    /// The errors of [`Philox::integers`].
    pub fn uniform<T: Float>(&mut self, into: &mut Array<T>) -> Result<()> {
        self.fill(&into.arrays().clone(), into, Distribution::Uniform, "Philox::uniform")
    }

    /// Fills an array with normally distributed values, with mean 0 and variance 1 (Box and Muller, 1958). The tails
    /// end at 5.8 (`f32`) or 8.6 (`f64`).
    ///
    /// # Errors
    /// The errors of [`Philox::integers`].
    pub fn normal<T: Float>(&mut self, into: &mut Array<T>) -> Result<()> {
        self.fill(&into.arrays().clone(), into, Distribution::Normal, "Philox::normal")
    }

    pub(crate) fn fill<T: Element>(
        &mut self,
        arrays: &Arrays,
        into: &mut Array<T>,
        distribution: Distribution,
        operation: &'static str,
    ) -> Result<()> {
        arrays.check_same(into.arrays(), operation)?;
        let (len, lanes) = (into.len(), 16 / size_of::<T>());
        let Some(mut memory) = into.memory_mut(operation)? else { return Ok(()) };
        let blocks = len.div_ceil(lanes);
        let target = into.target(memory.as_mut())?;
        if let Some(dialect) = arrays.dialect() {
            let kernel = arrays.kernel("pf_philox", &text(dialect, T::KIND, distribution, len), dialect)?;
            let (numbers, target) = ([self.seed, self.stream, self.block], target.with_items(blocks));
            let halves = || numbers.iter().flat_map(|n| [Arg::U32(*n as u32), Arg::U32((n >> 32) as u32)]);
            let args: Vec<_> = match dialect {
                Dialect::C(_) => numbers.map(Arg::U64).to_vec(),
                Dialect::Wgsl => halves().collect(),
            };
            arrays.launch(kernel.as_ref(), target, &args, &[], &[], operation)?;
        } else {
            let from = *self;
            on_cpu::<T>(arrays, "philox", (target, len), &BoundProgram::default(), operation, move |_, out, _| {
                let piece = |(at, out): (usize, &mut [T])| from.at(at * (GRAIN / lanes)).write(out, distribution);
                if tasks() > 1 {
                    out.par_chunks_mut(GRAIN).enumerate().for_each(piece);
                } else {
                    piece((0, out));
                }
            })?;
        }
        self.block = self.block.wrapping_add(blocks as u64);
        Ok(())
    }

    /// Returns the generator moved on by this number of blocks.
    const fn at(self, blocks: usize) -> Self {
        Self { block: self.block.wrapping_add(blocks as u64), ..self }
    }

    fn write<T: Element>(self, out: &mut [T], distribution: Distribution) {
        let lanes = 16 / size_of::<T>();
        for (at, out) in out.chunks_mut(lanes).enumerate() {
            let block = self.block.wrapping_add(at as u64);
            let counter = [block as u32, (block >> 32) as u32, self.stream as u32, (self.stream >> 32) as u32];
            let words = philox4x32(counter, [self.seed as u32, (self.seed >> 32) as u32]);
            let out = cast_slice_mut::<T, u8>(out);
            out.copy_from_slice(&elements(words, T::KIND, distribution)[..out.len()]);
        }
    }
}

const EPSILON_24: f32 = 1.0 / (1 << 24) as f32;
const EPSILON_53: f64 = 1.0 / (1u64 << 53) as f64;

/// Converts a block to elements.
fn elements(words: [u32; 4], kind: ElementType, distribution: Distribution) -> [u8; 16] {
    let [a, b, c, d] = words.map(u64::from);
    let wide = [a | b << 32, c | d << 32];
    match (distribution, kind) {
        (Distribution::Bits, kind) if kind.bits() == 64 => cast(wide),
        (Distribution::Uniform, ElementType::F64) => cast(wide.map(|w| (w >> 11) as f64 * EPSILON_53)),
        (Distribution::Uniform, ElementType::F32) => cast(words.map(|w| (w >> 8) as f32 * EPSILON_24)),
        (Distribution::Normal, ElementType::F64) => {
            let radius = (-2.0 * (((wide[0] >> 11) + 1) as f64 * EPSILON_53).ln()).sqrt();
            let (sin, cos) = (f64::consts::TAU * ((wide[1] >> 11) as f64 * EPSILON_53)).sin_cos();
            cast([radius * cos, radius * sin])
        }
        (Distribution::Normal, ElementType::F32) => {
            let pair = |[a, b]: [u32; 2]| {
                let radius = (-2.0 * (((a >> 8) + 1) as f32 * EPSILON_24).ln()).sqrt();
                let (sin, cos) = (f32::consts::TAU * ((b >> 8) as f32 * EPSILON_24)).sin_cos();
                [radius * cos, radius * sin]
            };
            cast([pair([words[0], words[1]]), pair([words[2], words[3]])])
        }
        // Uniform and normal distributions exist only for floats.
        _ => cast(words),
    }
}

/// Returns the text of `pf_philox`.
pub(super) fn text(dialect: Dialect, kind: ElementType, distribution: Distribution, len: usize) -> String {
    let c = match dialect {
        Dialect::C(c) => c,
        Dialect::Wgsl => return wgsl_text(distribution),
    };
    let text = Text::with(c, kind, len, false).define("PF_LANES", 128 / kind.bits());
    text.define("PF_DISTRIBUTE", distribute(distribution, kind, c)).append(PHILOX).finish()
}

/// Returns the WGSL text; all elements have 32 bits.
fn wgsl_text(distribution: Distribution) -> String {
    let text = Wgsl::new(ElementType::U32).need(TextPart::Wide).append(wgsl::PHILOX);
    match distribution {
        Distribution::Bits => text.append("fn pf_distribute(w: vec4<u32>) -> vec4<u32> { return w; }\n"),
        Distribution::Uniform => text.append(wgsl::UNIFORM),
        Distribution::Normal => text.append(wgsl::NORMAL).need(TextPart::Ln).need(TextPart::Turn),
    }
    .finish()
}

/// Returns OpenCL C or CUDA C++ code that converts the words `w` to the values `v` of a distribution.
fn distribute(distribution: Distribution, kind: ElementType, dialect: C) -> String {
    let (f, shift, scale) = match kind {
        ElementType::F32 => {
            (if dialect == C::Cuda { "f" } else { "" }, 8, format!("PF_BITS_F32({:#x})", EPSILON_24.to_bits()))
        }
        _ => ("", 11, format!("PF_BITS_F64({:#x})", EPSILON_53.to_bits())),
    };
    match distribution {
        Distribution::Bits => "for (int k = 0; k < PF_LANES; ++k) v[k] = (PF_T)w[k];".into(),
        Distribution::Uniform => {
            format!("for (int k = 0; k < PF_LANES; ++k) v[k] = (PF_T)(w[k] >> {shift}) * {scale};")
        }
        Distribution::Normal => format!(
            "for (int k = 0; k < PF_LANES; k += 2) {{ \
             const PF_T r = sqrt{f}(-2 * log{f}((PF_T)((w[k] >> {shift}) + 1) * {scale})); \
             const PF_T t = 2 * ((PF_T)(w[k + 1] >> {shift}) * {scale}); \
             v[k] = r * cospi{f}(t); v[k + 1] = r * sinpi{f}(t); }}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers that come with Random123.
    #[test]
    fn the_cipher_gives_the_known_answers() {
        let pi = ([0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344], [0xa409_3822, 0x299f_31d0]);
        for ((counter, key), expected) in [
            (([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            (([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (pi, [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]),
        ] {
            assert_eq!(philox4x32(counter, key), expected);
        }
    }
}
