//! Kernels in WGSL, for any backend that can run them on its device.
//!
//! A kernel is an `@compute` entry point with the kernel's name, in a text to which the [`PRELUDE`] is appended:
//!
//! ```wgsl
//! @compute @workgroup_size(8, 8)
//! fn ramp(@builtin(global_invocation_id) id: vec3<u32>) {
//!   let size = vec2<f32>(pf_size());
//!   pf_store(id.xy, vec4<f32>(vec2<f32>(id.xy) / size, pf_arg_f32(0), 1.0));
//! }
//! ```
//!
//! `pf_store` converts a colour to the target's format, and ignores positions outside the target. A kernel for buffers
//! writes words with `pf_put`, or counts in them with `pf_add`, with `pf_index(id)` below `pf_items()`. Arguments that
//! are numbers are read with `pf_arg_i32`, `pf_arg_u32` and `pf_arg_f32`, by their position among the numbers. Memory n
//! among the arguments is a variable that the text declares, `@group(1) @binding(n) var<storage, read> name:
//! array<...>`.
//!
//! [`interop_core::KernelSource::wgsl`] is safe, so a backend must keep every access inside the memory that it binds:
//! with naga by [`naga::proc::BoundsCheckPolicy::Restrict`] or `ReadZeroSkipWrite`.
//!
//! The cost of a text is bounded by [`TextLimit`]. naga processes the text after that check, on a thread whose stack is
//! large enough for texts within the limits ([`with_room`]). The time that a driver compiles is not bounded.
//!
//! # Bindings
//! | | |
//! |---|---|
//! | group 0, binding 0 | the target's memory, from its first byte, in whole words |
//! | group 0, binding 1 | a uniform block of at most [`NUMBERS`] bytes: [`Launch::numbers`]; or immediates ([`KernelText::by_immediates`]) |
//! | group 1, binding n | memory n among the arguments |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod depth;
mod glsl;
mod guard;
mod index_bounds;
mod launch;
mod limits;
mod params;
mod pattern;
mod prelude;
mod rebuild;
pub mod shader;
#[cfg(feature = "spirv")]
mod spirv;
mod text;
mod tokens;
mod values;
mod weight;
mod zero_fill;

pub use glsl::{Dialect, GLSL_NUMBERS, check, glsl, glsl_prelude, glsl_texture_prelude};
pub use guard::{TextError, TextLimit, with_room};
pub use index_bounds::bounded;
pub use launch::{Launch, NUMBERS};
pub use limits::Limits;
pub use params::{MOST_NUMBERS, WORD};
pub use pattern::{FLAT, PATTERN, PatternEntry, flat_color, pattern};
pub use prelude::{BluePosition, NAMES_WORDS, PRELUDE, storage_name};
#[cfg(feature = "spirv")]
pub use spirv::{spirv, trusted_spirv};
pub use text::KernelText;

/// The version of naga whose limits and errors apply to these texts.
pub use naga;

/// Tests of the public interface, in the same test program as the private ones.
#[cfg(test)]
#[path = "../tests/suite/main.rs"]
mod suite;
#[cfg(test)]
extern crate self as wgsl_kernel;
