//! The CPU implementation: expressions are computed block by block, reductions and scans by rayon.

mod arith;
mod combine;
mod histogram;
mod interpret;
mod reduce;
mod scan;
mod vectors;

pub use arith::{Arith, FloatArith, IntArith};
pub use combine::combine_of;
pub use histogram::count;
pub use interpret::CpuProgram;
pub use reduce::{Extremum, reduce, reduce_extremum};
pub use scan::scan;

/// Elements of one task.
pub const GRAIN: usize = 1 << 16;

/// Returns the number of tasks that may run at once. A small launch runs on the calling thread, outside any pool, where
/// rayon would start its own pool.
pub fn tasks() -> usize {
    rayon::current_thread_index().map_or(1, |_| rayon::current_num_threads())
}
