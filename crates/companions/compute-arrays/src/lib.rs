//! Typed arrays on every compute backend: expressions fused into one kernel, reductions, scans, random numbers.
//!
//! ```
//! use compute_arrays::{Arrays, Philox};
//! use std::sync::Arc;
//!
//! # fn main() -> interop_core::Result<()> {
//! let arrays = Arrays::new(Arc::new(cpu_fallback::CpuBackend::new()?))?; // or OpenCL, CUDA, wgpu, OpenGL
//! let mut x = arrays.empty::<f32>(&[1000])?;
//! Philox::new(42).uniform(&mut x)?;
//! let y = arrays.eval((&x * 2.0 - 1.0).abs().sqrt())?; // one kernel
//! let dot = (&x * &y).sum()?; // one pass over x and y
//! let running = y.expr().cumulative_sum()?;
//! assert!(dot > 0.0 && running.view().item(&[999])? > 0.0);
//! # Ok(())
//! # }
//! ```
//!
//! | to find | look in |
//! |---|---|
//! | arrays, and transfers of values | [`Arrays`], [`Array`] |
//! | slices, transposes, shapes | [`View`], [`Layout`] |
//! | operations and their accuracy | [`Expr`] |
//! | sums, extrema, any associative operation | [`Expr::reduce`], [`Monoid`] |
//! | counts in parts of a range, percentiles | [`Expr::histogram`], [`Histogram`] |
//! | running sums | [`Expr::scan`] |
//! | random numbers, identical on every backend | [`Philox`] |
//! | awaited results, work in queues | [`ArrayQueue`], [`PendingResult`] |
//!
//! # Whose kernels
//! The kernels are this crate's own. No driver contains kernels for these operations: CUB is a library of C++ headers
//! that comes with the CUDA toolkit, not with the driver, and neither OpenCL nor WGSL has a counterpart. On the CPU,
//! rayon provides the threads.
//!
//! # How far and how exact
//! The memory's size is the limit: indices are 32 bits wide where that suffices, otherwise 64. Sums of floats are
//! computed as trees; [`Expr::sum`] and [`Expr::scan`] state their error bounds.

mod array;
mod construction;
mod context;
mod cpu;
mod element;
mod eval;
mod expr;
mod histogram;
mod layout;
mod monoid;
mod operations;
mod queue;
mod queue_context;
mod scratch;
mod store;
mod text;
mod view;

pub use array::Array;
pub use context::Arrays;
pub use element::{Constant, Element, ElementType, Float, Integer, Value};
pub use expr::Expr;
pub use histogram::{Histogram, factor as range_factor};
pub use layout::Layout;
pub use monoid::{Monoid, Scan};
pub use operations::random::{Philox, philox4x32};
pub use queue::{ArrayQueue, PendingResult};
pub use view::View;

/// Tests of the public interface, in the same test program as the private ones.
#[cfg(test)]
#[path = "../tests/suite/main.rs"]
mod suite;
#[cfg(test)]
extern crate self as compute_arrays;
