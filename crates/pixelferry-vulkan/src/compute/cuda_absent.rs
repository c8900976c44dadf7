//! Kernels of CUDA's where this library was built without its feature `cuda`.

use crate::compute::session::Session;
use interop_core::{Arg, Kernel, KernelSource, Result, Target};
use std::sync::Arc;

/// Never made.
pub enum CudaKernel {}

interop_core::owned!(CudaKernel: Session, "kernel", |kernel| match *kernel {});

impl Kernel for CudaKernel {
    fn name(&self) -> &str {
        match *self {}
    }
}

impl CudaKernel {
    pub fn build(session: &Arc<Session>, _: &KernelSource) -> Result<Self> {
        Err(session.shared()?.unsupported("this library was built without its feature `cuda`"))
    }

    pub fn launch(&self, _: Target<'_>, _: &[Arg<'_>]) -> Result<()> {
        match *self {}
    }
}
