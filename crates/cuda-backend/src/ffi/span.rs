//! A name for a piece of any linear memory.

use super::{Failure, INVALID_VALUE};
use cudarc::driver::sys as cu;
use std::marker::PhantomData;
use std::ops::Range;

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
