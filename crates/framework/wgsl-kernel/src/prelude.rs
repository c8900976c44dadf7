//! The prelude that is appended to every kernel's text: functions that write the target.

use crate::tokens::tokens;
use interop_core::PixelFormat;
use interop_core::describe::format::PerFormat;

/// The functions for every kernel, except `pf_store`, which depends on the target's format.
///
/// It follows the kernel's text, which WGSL allows, so that line numbers in the compiler's messages are those of the
/// text.
pub const PRELUDE: &str =
    concat!(include_str!("numbers.wgsl"), include_str!("prelude.wgsl"), include_str!("words.wgsl"));
/// The part for textures, which have no words.
const OF_TEXTURES: &str = concat!(include_str!("numbers.wgsl"), include_str!("prelude.wgsl"));
/// The part that declares the numbers.
const UNIFORM: &str = include_str!("numbers.wgsl");

/// The variable of the functions; they bind no other.
pub const TARGET: &str = "pf_memory";
pub const NUMBERS: &str = "pf_launch";
pub const TEXTURE: &str = "pf_texture";

/// Rewrites a whole text to read this many vectors of numbers from immediates (push constants) instead of a uniform
/// block.
pub fn by_immediates(whole: &str, vectors: usize) -> String {
    match whole.rsplit_once(UNIFORM) {
        Some((before, behind)) => {
            format!("{before}var<immediate> {NUMBERS}: array<vec4<u32>, {vectors}>;\n{behind}")
        }
        None => whole.to_owned(),
    }
}

/// For memory in which each word is written by one work item.
const WHOLE: &str = "
@group(0) @binding(0) var<storage, read_write> pf_memory: array<u32>;
fn pf_set(index: u32, word: u32) {
  pf_memory[index] = word;
}
fn pf_word(index: u32) -> u32 {
  return pf_memory[index];
}
";

/// For memory in which several work items write bytes of one word: each changes only its own bits.
const PARTS: &str = "
@group(0) @binding(0) var<storage, read_write> pf_memory: array<atomic<u32>>;
fn pf_set(index: u32, word: u32) {
  atomicStore(&pf_memory[index], word);
}
fn pf_word(index: u32) -> u32 {
  return atomicLoad(&pf_memory[index]);
}
fn pf_set_part(byte: u32, mask: u32, bits: u32) {
  let shift = byte % 4u * 8u;
  atomicAnd(&pf_memory[byte / 4u], ~(mask << shift));
  atomicOr(&pf_memory[byte / 4u], bits << shift);
}
";

/// For texts whose work items count in the words of one buffer.
const COUNTS: &str = "
// Adds to a word of a target that is a buffer, also where other work items do; nothing beyond its end.
fn pf_add(index: u32, count: u32) {
  if (index < pf_words()) {
    atomicAdd(&pf_memory[pf_launch[0].x / 4u + index], count);
  }
}
";

/// Returns how the memory is declared, and how a colour `c` is written at byte `b`.
fn store(format: PixelFormat) -> (&'static str, &'static str) {
    const ROWS: PerFormat<(&str, &str)> = PerFormat::new([
        (PixelFormat::R8, (PARTS, "pf_set_part(b, 0xffu, pack4x8unorm(vec4<f32>(c.x, 0.0, 0.0, 0.0)));")),
        (PixelFormat::Rg8, (PARTS, "pf_set_part(b, 0xffffu, pack4x8unorm(vec4<f32>(c.xy, 0.0, 0.0)));")),
        (PixelFormat::R16, (PARTS, "pf_set_part(b, 0xffffu, pack2x16unorm(vec2<f32>(c.x, 0.0)));")),
        (PixelFormat::R16F, (PARTS, "pf_set_part(b, 0xffffu, pack2x16float(vec2<f32>(c.x, 0.0)) & 0xffffu);")),
        (PixelFormat::Rgba8, (WHOLE, "pf_set(b / 4u, pack4x8unorm(c));")),
        (PixelFormat::Bgra8, (WHOLE, "pf_set(b / 4u, pack4x8unorm(c.zyxw));")),
        (
            PixelFormat::Rgb10A2,
            (
                WHOLE,
                "let q = vec4<u32>(floor(clamp(c, vec4<f32>(0.0), vec4<f32>(1.0)) * vec4<f32>(1023.0, 1023.0, 1023.0, 3.0) \
                 + 0.5)); pf_set(b / 4u, q.x | q.y << 10u | q.z << 20u | q.w << 30u);",
            ),
        ),
        (PixelFormat::Rg16F, (WHOLE, "pf_set(b / 4u, pack2x16float(c.xy));")),
        (PixelFormat::R32F, (WHOLE, "pf_set(b / 4u, bitcast<u32>(c.x));")),
        (
            PixelFormat::Rgba16F,
            (WHOLE, "pf_set(b / 4u, pack2x16float(c.xy)); pf_set(b / 4u + 1u, pack2x16float(c.zw));"),
        ),
        (PixelFormat::Rg32F, (WHOLE, "pf_set(b / 4u, bitcast<u32>(c.x)); pf_set(b / 4u + 1u, bitcast<u32>(c.y));")),
        (
            PixelFormat::Rgba32F,
            (WHOLE, "let w = bitcast<vec4<u32>>(c); for (var i = 0u; i < 4u; i++) { pf_set(b / 4u + i, w[i]); }"),
        ),
    ]);
    ROWS.get(format)
}

/// Functions that a text may call only if its target is linear memory.
const WORDS: [&str; 10] = [
    "pf_memory",
    "pf_add",
    "pf_set",
    "pf_word",
    "pf_set_part",
    "pf_words",
    "pf_get",
    "pf_get_f32",
    "pf_put",
    "pf_put_f32",
];

/// Returns true where a text addresses the words of its target, which a texture does not have.
pub fn names_words(text: &str) -> bool {
    tokens(text).any(|token| WORDS.contains(&token))
}

/// Message for kernels that address words in launches that can only store to a texture.
pub const NAMES_WORDS: &str =
    "the kernel addresses words of its target; a draw is faster than the copies that this needs";

/// Position of blue in a texture of a format that begins with blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BluePosition {
    /// The texture has that format.
    First,
    /// The texture begins with red, because OpenGL has no other order.
    Third,
}

/// Returns the WGSL name of a storage texture of the format, and the colour as it is stored there. It is rounded as
/// [`store`] rounds, because drivers differ in that, and NVIDIA's compiler removes a rounding that it recognises.
fn texture(format: PixelFormat) -> (&'static str, &'static str) {
    const BYTES: &str = "unpack4x8unorm(pack4x8unorm(c) ^ pf_zero())";
    const HALVES: &str =
        "vec4<f32>(unpack2x16float(pack2x16float(c.xy) ^ pf_zero()), unpack2x16float(pack2x16float(c.zw) ^ pf_zero()))";
    const ROWS: PerFormat<(&str, &str)> = PerFormat::new([
        (PixelFormat::R8, ("r8unorm", BYTES)),
        (PixelFormat::Rg8, ("rg8unorm", BYTES)),
        (PixelFormat::R16, ("r16unorm", "unpack2x16unorm(pack2x16unorm(c.xy) ^ pf_zero()).xyyy")),
        (PixelFormat::R16F, ("r16float", HALVES)),
        (PixelFormat::Rgba8, ("rgba8unorm", BYTES)),
        (PixelFormat::Bgra8, ("rgba8unorm", "unpack4x8unorm(pack4x8unorm(c.zyxw) ^ pf_zero())")),
        (
            PixelFormat::Rgb10A2,
            (
                "rgb10a2unorm",
                "floor(clamp(c, vec4<f32>(0.0), vec4<f32>(1.0)) * vec4<f32>(1023.0, 1023.0, 1023.0, 3.0) + 0.5) \
                 / vec4<f32>(1023.0, 1023.0, 1023.0, 3.0)",
            ),
        ),
        (PixelFormat::Rg16F, ("rg16float", HALVES)),
        (PixelFormat::R32F, ("r32float", "c")),
        (PixelFormat::Rgba16F, ("rgba16float", HALVES)),
        (PixelFormat::Rg32F, ("rg32float", "c")),
        (PixelFormat::Rgba32F, ("rgba32float", "c")),
    ]);
    ROWS.get(format)
}

/// Returns the WGSL name of a storage texture of the format, beginning with red.
pub fn storage_name(format: PixelFormat) -> &'static str {
    texture(format).0
}

/// Returns the kernel's text with the functions for a texture target: `pf_launch[0].xy` is its first pixel, and
/// `pf_launch[1].y` the step from one row to the next, 1 or -1.
pub fn with_texture(text: &str, format: PixelFormat, blue: BluePosition) -> String {
    let (name, stored) = match (format, blue) {
        (PixelFormat::Bgra8, BluePosition::First) => ("bgra8unorm", texture(PixelFormat::Rgba8).1),
        _ => texture(format),
    };
    format!(
        "{text}\n{OF_TEXTURES}
@group(0) @binding(0) var {TEXTURE}: texture_storage_2d<{name}, write>;
// Writes a pixel; nothing outside the target.
fn pf_store(at: vec2<u32>, c: vec4<f32>) {{
  if (pf_inside(at)) {{
    textureStore({TEXTURE}, vec2<u32>(pf_launch[0].x + at.x, pf_launch[0].y + at.y * pf_launch[1].y), {stored});
  }}
}}
"
    )
}

/// Returns the kernel's text with the functions for a linear target.
pub fn with_prelude(text: &str, format: PixelFormat) -> String {
    let (memory, store) = store(format);
    let (memory, counts) = if tokens(text).any(|token| token == "pf_add") { (PARTS, COUNTS) } else { (memory, "") };
    let bytes = format.bytes_per_pixel();
    format!(
        "{text}\n{PRELUDE}{memory}{counts}
// Writes a pixel; nothing outside the target.
fn pf_store(at: vec2<u32>, c: vec4<f32>) {{
  if (pf_inside(at)) {{
    let b = pf_launch[0].x + at.y * pf_launch[0].y + at.x * {bytes}u;
    {store}
  }}
}}
"
    )
}
