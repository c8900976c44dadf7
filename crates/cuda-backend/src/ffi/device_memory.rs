//! Memory of the device's own, and a name for a piece of any linear memory.

use super::api::call;
use super::{Failure, INVALID_VALUE, Queue};
use cudarc::driver::sys as cu;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// Bytes that the device can address, alive for as long as what they were taken from is borrowed.
#[derive(Clone, Copy)]
pub struct Span<'a> {
    address: cu::CUdeviceptr,
    len: usize,
    _of: PhantomData<&'a ()>,
}

impl<'a> Span<'a> {
    /// # Safety
    /// The device must be able to read and write `len` bytes at `address` for as long as `'a`.
    pub const unsafe fn new(address: cu::CUdeviceptr, len: usize) -> Self {
        Self { address, len, _of: PhantomData }
    }

    /// A part of it; refuses one that reaches outside.
    pub fn part(self, range: Range<usize>) -> Result<Self, Failure> {
        if range.start > range.end || range.end > self.len {
            return Err(Failure { operation: "Span::part", code: INVALID_VALUE });
        }
        Ok(Self { address: self.address + range.start as u64, len: range.len(), _of: PhantomData })
    }

    pub const fn address(self) -> cu::CUdeviceptr {
        self.address
    }

    pub const fn len(self) -> usize {
        self.len
    }
}

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
        // SAFETY: writes the address where it is told; the context is current.
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
        let Ok(_current) = self.queue.enter() else { return };
        // SAFETY: allocated once, freed once. The driver waits for work that still uses it ("synchronous with respect
        // to the device").
        Failure::log(unsafe { call!(self.queue.api().driver, cuMemFree_v2(self.address)) });
    }
}
