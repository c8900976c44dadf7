//! The verification pattern's kernels: PTX in the repository, compiled from `kernels/pattern.cu` by `cargo xtask ptx`.

use crate::kernel::CudaKernel;
use crate::session::Session;
use interop_core::{KernelSource, Result, View};
use std::sync::{Arc, OnceLock};

const PTX: &str = include_str!("ptx/pattern.ptx");
const SIZES: [&str; 5] = ["pf_pattern_1", "pf_pattern_2", "pf_pattern_4", "pf_pattern_8", "pf_pattern_16"];
const BUFFER: &str = "pf_pattern_buffer";

/// Kernels for each size of pixel and for buffers, loaded at first use.
#[derive(Default)]
pub struct PatternKernels([OnceLock<CudaKernel>; SIZES.len() + 1]);

impl PatternKernels {
    /// Returns the kernel for the content of `view`.
    pub fn get(&self, session: &Arc<Session>, view: &View) -> Result<&CudaKernel> {
        let index = match view {
            // Sizes are powers of two from 1 to 16.
            View::Image(i) => (i.format.bytes_per_pixel().trailing_zeros() as usize).min(SIZES.len() - 1),
            View::Buffer(_) => SIZES.len(),
        };
        if let Some(kernel) = self.0[index].get() {
            return Ok(kernel);
        }
        let name = SIZES.get(index).copied().unwrap_or(BUFFER);
        // SAFETY: the kernels write the view that the target names, by its bounds, and take numbers only.
        let source = unsafe { KernelSource::new(name).ptx(PTX) };
        let built = CudaKernel::build(session, &source)?;
        // Another thread may have been faster; its kernel is equivalent.
        Ok(self.0[index].get_or_init(|| built))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature;

    #[test]
    fn the_ptx_has_every_entry() {
        for name in SIZES {
            assert_eq!(signature::of_entry(PTX, name).unwrap().len(), 7, "{name}");
            assert_eq!(signature::of_entry(PTX, &format!("{name}_surface")).unwrap().len(), 6, "{name}");
        }
        assert_eq!(signature::of_entry(PTX, BUFFER).unwrap().len(), 5);
    }
}
