//! Which sharing path is fastest on this machine, and does the library find it by itself?
//!
//! Every compute device with every display without a window, at several sizes and formats, for latency and for
//! throughput: each path by name, the path that the library takes by itself, and beside them the floors that no path can
//! be much below. [`execute`] is the command `pixelferry bench`; [`run()`] gives the result as data.
//!
//! | to find | look in |
//! |---|---|
//! | what is measured | [`grid`], [`size`] |
//! | how | `tour`, `rows`, `kernel`, `measure` |
//! | what a result holds | [`record`], [`machine`], [`stats`] |
//! | whether the automatic choice is right | [`verdict`] |
//! | two results side by side | [`compare`] |
//! | tables | [`report`] |

// Output goes where the caller says.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod compare;
mod devices;
mod error;
mod execute;
pub mod grid;
mod kernel;
pub mod machine;
mod measure;
mod options;
pub mod record;
pub mod report;
mod row_names;
mod rows;
mod run;
#[cfg(test)]
mod sample;
pub mod size;
pub mod stats;
mod tour;
pub mod verdict;

pub use error::Error;
pub use execute::execute;
pub use kernel::ramp;
pub use options::{BenchOptions, FORMATS};
pub use run::run;

/// What users see, in the same test program as what is private.
#[cfg(test)]
#[path = "../tests/tiny.rs"]
mod tiny;
#[cfg(test)]
extern crate self as pixelferry_bench;
