//! Shows arrays of any number type as pictures: which axis is which, and which number becomes which colour. It is
//! independent of languages and array protocols; the command and the Python package use it.
//!
//! | to find | look in |
//! |---|---|
//! | number types of arrays | [`Element`] and its table |
//! | which axis is which, and guesses | [`Layout`], [`GUESSES`] |
//! | range, exposure, gamma, colormap, channel, marks | [`Look`], [`Tone`] |
//! | all of these as named options | [`OPTIONS`] |
//! | an array as a picture | [`Plane`] |
//! | the number under a pointer | [`Plane::values`] |
//! | the difference of two arrays | [`Plane::minus`], [`Difference`] on a device |
//! | pixels made from numbers | `kernels/show.cu` with CUDA and OpenCL, `rows` and `paint` on the CPU, `kernel` for
//! both |
//! | the range of the shown numbers, and counts | `measure` on the CPU, [`Gauge`] with CUDA and OpenCL; [`Counts`] |

mod colormap;
mod colour_table;
mod difference;
mod element;
mod float8;
mod gauge;
mod kernel;
mod layout;
mod look;
mod measure;
mod paint;
mod pixel;
mod plane;
mod pool;
mod raw;
mod refusal;
mod request;
mod rows;
mod span;
mod spot;
mod value;

pub use colormap::Colormap;
pub use colour_table::ColourTable;
pub use difference::{Difference, PlaneMemory};
pub use element::{Element, ElementRow, Number, TABLE};
pub use gauge::Gauge;
pub use layout::{Axes, GUESSES, Guess, Layout, guesses, window_for};
pub use look::{ABOVE, BELOW, Channel, ComplexPart, End, Look, Range, Tone};
pub use measure::Counts;
pub use pixel::Pixel;
pub use plane::{Grid, Plane};
pub use refusal::Refusal;
pub use request::{OPTIONS, Request, RequestOption};
pub use rows::Numbers;
pub use span::{MemoryLocation, Raw, Span};
pub use spot::Spot;
pub use value::Value;

/// PTX of the kernels that make pictures, compiled from `kernels/show.cu` by `cargo xtask ptx`.
pub const SHOW_PTX: &str = include_str!("ptx/show.ptx");

/// Tests of the public interface, in the same test program as the private ones.
#[cfg(test)]
#[path = "../tests/suite/main.rs"]
mod suite;
#[cfg(test)]
extern crate self as pixelferry_look;
