//! Memory of the device's own.

use super::api::call;
use super::{Failure, Queue, Span};
use cudarc::driver::sys as cu;
use std::sync::Arc;

/// One allocation of `cuMemAlloc`.
pub struct DeviceBlock {
    address: cu::CUdeviceptr,
    len: usize,
    queue: Arc<Queue>,
}

impl DeviceBlock {
    /// Allocates `len` bytes, which must not be 0.
    pub fn new(queue: &Arc<Queue>, len: usize) -> Result<Self, Failure> {
        let _current = queue.enter()?;
        let mut address = 0;
        // SAFETY: writes the address to the given location; the context is current.
        unsafe { call!(queue.api().driver, cuMemAlloc_v2(&raw mut address, len)) }?;
        Ok(Self { address, len, queue: queue.clone() })
    }

    pub fn span(&self) -> Span<'_> {
        // SAFETY: `len` bytes were allocated there and are freed when `self` goes.
        unsafe { Span::new(self.address, self.len) }
    }
}

impl Drop for DeviceBlock {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        let Ok(_current) = self.queue.enter() else { return };
        // SAFETY: allocated once, freed once. The driver waits for work that still uses it ("synchronous with respect
        // to the device").
        Failure::log(unsafe { call!(self.queue.api().driver, cuMemFree_v2(self.address)) });
    }
}
