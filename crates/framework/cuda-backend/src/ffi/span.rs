//! A piece of linear device memory.

use super::{Failure, INVALID_VALUE};
use cudarc::driver::sys as cu;
use std::marker::PhantomData;
use std::ops::Range;

/// Bytes that the device can address, valid for as long as their owner is borrowed.
#[derive(Clone, Copy)]
pub struct Span<'a> {
    address: cu::CUdeviceptr,
    len: usize,
    _of: PhantomData<&'a ()>,
}

impl<'a> Span<'a> {
    /// # Safety
    /// The device must be able to read and write `len` bytes at `address` for the lifetime `'a`.
    pub const unsafe fn new(address: cu::CUdeviceptr, len: usize) -> Self {
        Self { address, len, _of: PhantomData }
    }

    /// Returns a part of it; fails for one that reaches outside.
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
