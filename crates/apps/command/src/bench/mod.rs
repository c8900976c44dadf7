//! Benchmark of the sharing paths: finds the fastest one on this machine, and checks whether the library chooses it
//! automatically.
//!
//! It combines every compute device with every display that needs no window, at several sizes and formats, for latency
//! and for throughput. It measures each path by name, the automatically chosen path, and floors: lower limits that no
//! path can be far below. [`execute`] is the command `pixelferry bench`.
//!
//! | to find | look in |
//! |---|---|
//! | what is measured | [`grid`], [`size`] |
//! | how | `tour`, `rows`, `kernel`, `measure` |
//! | the content of a result | [`record`], [`machine`], [`stats`] |
//! | whether the automatic choice is right | [`verdict`] |
//! | tables | [`report`] |

mod bench_options;
mod devices;
mod error;
mod execute;
mod grid;
mod kernel;
mod machine;
mod measure;
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

pub use bench_options::BenchOptions;
pub use execute::execute;
pub use kernel::ramp;
#[cfg(test)]
pub use run::run;
