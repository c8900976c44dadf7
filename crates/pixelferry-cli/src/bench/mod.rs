//! Benchmark of the sharing paths: finds the fastest one on this machine, and checks whether the library chooses it automatically.
//!
//! Every compute device with every display without a window, at several sizes and formats, for latency and for
//! throughput: each path by name, the path that the library chooses automatically, and beside them the floors that no path can
//! be much below. [`execute`] is the command `pixelferry bench`.
//!
//! | to find | look in |
//! |---|---|
//! | what is measured | [`grid`], [`size`] |
//! | how | `tour`, `rows`, `kernel`, `measure` |
//! | what a result holds | [`record`], [`machine`], [`stats`] |
//! | whether the automatic choice is right | [`verdict`] |
//! | tables | [`report`] |

mod devices;
mod error;
mod execute;
mod grid;
mod kernel;
mod machine;
mod measure;
mod options;
mod record;
mod report;
mod row_names;
mod rows;
mod run;
#[cfg(test)]
mod sample;
mod size;
mod stats;
#[cfg(test)]
mod tiny;
mod tour;
mod verdict;

pub use execute::execute;
pub use kernel::ramp;
pub use options::BenchOptions;
#[cfg(test)]
pub use run::run;
