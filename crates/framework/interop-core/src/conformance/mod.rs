//! One suite for every combination of backend, display and path: the guarantees that users rely on, whoever implements
//! them.
//!
//! Backends and displays of other crates run it, too: [`run`] returns rows, and [`ConformanceTable`] prints them. [`DrawCase`]
//! checks the draws of displays, [`Surfaces`] their surfaces without a link, and [`memory()`] the memory of backends
//! without a link.

mod cases;
mod context;
mod drawing;
mod failure;
mod memory;
mod outlets;
mod pixels;
mod sizes;
mod surfaces;
mod table;
mod threads;
mod timeline;
mod unwritten;

pub use cases::CASES;
pub use context::{Context, Manner};
pub use drawing::DrawCase;
pub use failure::Failure;
pub use memory::{memory, pattern_in};
pub use pixels::{expected, fill, in_place, patterned, same_bytes, stored, tight};
pub use surfaces::{OrientationCounts, Surfaces};
pub use table::{ConformanceRow, ConformanceTable, Outcome};
pub use timeline::lies_within;

use crate::compute::ComputeBackend;
use crate::display::Display;
use crate::path::Paths;
use std::sync::Arc;

/// Runs every case on every built-in path between the two.
pub fn run(backend: &Arc<dyn ComputeBackend>, display: &Arc<dyn Display>, manner: Manner) -> Vec<ConformanceRow> {
    run_on(&Paths::default(), backend, display, manner)
}

/// Runs every case on each of these paths between the two, including a program's own.
pub fn run_on(
    paths: &Paths,
    backend: &Arc<dyn ComputeBackend>,
    display: &Arc<dyn Display>,
    manner: Manner,
) -> Vec<ConformanceRow> {
    let contexts = paths.iter().map(|spec| Context { backend, display, paths, path: spec.id, manner });
    contexts.flat_map(|context| CASES.iter().map(move |case| case.row(&context))).collect()
}
