//! The CPU's side: expressions run a block at a time, reductions and scans by rayon.

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

/// Elements that one task takes at a time.
pub const GRAIN: usize = 1 << 16;

/// Tasks that may run at once. A launch that is not worth a pool runs on the calling thread, outside any pool; rayon
/// would wake a pool of its own there.
pub fn tasks() -> usize {
    rayon::current_thread_index().map_or(1, |_| rayon::current_num_threads())
}
