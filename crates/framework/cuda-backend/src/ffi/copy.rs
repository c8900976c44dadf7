//! Copies in the order of the stream.

use super::api::call;
use super::graphics::Array;
use super::{Failure, INVALID_VALUE, Queue, Span};
use cudarc::driver::sys as cu;
use std::ptr;

/// Copies in one queue. Those that access host memory have finished when they return.
pub struct Copies<'a>(&'a Queue);

impl Queue {
    /// Returns the copies of this stream.
    pub fn copies(&self) -> Copies<'_> {
        Copies(self)
    }
}

/// Sizes of a rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub row_bytes: usize,
    pub rows: usize,
}

/// Position of a rectangle. Pitches are bytes from one row to the next.
pub enum CopyLocation<'a> {
    Device { span: Span<'a>, pitch: usize },
    Array { array: &'a Array<'a>, x_bytes: usize, y: usize },
    HostSource { bytes: &'a [u8], pitch: usize },
    HostTarget { bytes: &'a mut [u8], pitch: usize },
}

impl CopyLocation<'_> {
    fn holds(&self, size: Size) -> bool {
        let (len, pitch) = match self {
            Self::Device { span, pitch } => (span.len(), *pitch),
            Self::HostSource { bytes, pitch } => (bytes.len(), *pitch),
            Self::HostTarget { bytes, pitch } => (bytes.len(), *pitch),
            // The driver checks the array's size.
            Self::Array { .. } => return true,
        };
        let last_row = size.rows.checked_sub(1).and_then(|n| n.checked_mul(pitch));
        let needed = last_row.and_then(|n| n.checked_add(size.row_bytes));
        pitch >= size.row_bytes && needed.is_some_and(|needed| needed <= len)
    }

    fn is_host(&self) -> bool {
        matches!(self, Self::HostSource { .. } | Self::HostTarget { .. })
    }
}

impl Copies<'_> {
    pub fn read(&self, from: Span<'_>, into: &mut [u8]) -> Result<(), Failure> {
        let _current = self.0.enter()?;
        let address = into.as_mut_ptr();
        let queued = self.pieces(from, address.addr() as u64, into.len(), |part, at| {
            let into = address.wrapping_add(at).cast();
            // SAFETY: the piece lies inside `into`. Both sides outlive the copy, because the stream is waited for below
            // even where the call failed.
            unsafe { call!(self.0.api().driver, cuMemcpyDtoHAsync_v2(into, part.address(), part.len(), self.0.raw())) }
        });
        self.0.synchronize().and(queued)
    }

    pub fn write(&self, from: &[u8], to: Span<'_>) -> Result<(), Failure> {
        let _current = self.0.enter()?;
        let queued = self.pieces(to, from.as_ptr().addr() as u64, from.len(), |part, at| {
            let from = from.as_ptr().wrapping_add(at).cast();
            // SAFETY: as in `read`.
            unsafe { call!(self.0.api().driver, cuMemcpyHtoDAsync_v2(part.address(), from, part.len(), self.0.raw())) }
        });
        self.0.synchronize().and(queued)
    }

    /// Only queues the copy. The memory may be dropped afterwards, because freeing waits.
    pub fn between(&self, from: Span<'_>, to: Span<'_>) -> Result<(), Failure> {
        let _current = self.0.enter()?;
        self.pieces(to, from.address(), from.len(), |part, at| {
            let from = from.part(at..at + part.len())?;
            // SAFETY: both pieces are live and equally long; whoever frees either waits for the stream.
            unsafe {
                let driver = &self.0.api().driver;
                call!(driver, cuMemcpyDtoDAsync_v2(part.address(), from.address(), part.len(), self.0.raw()))
            }
        })
    }

    /// Calls `f` with pieces of the first `len` bytes of `memory` and their offsets, such that neither they nor the
    /// same pieces at `other` cross the boundary of a registration.
    pub(super) fn pieces(
        &self,
        memory: Span<'_>,
        other: u64,
        len: usize,
        mut f: impl FnMut(Span<'_>, usize) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut cuts = self.0.registry().cuts(memory.address(), len);
        cuts.extend(self.0.registry().cuts(other, len));
        cuts.sort_unstable();
        cuts.dedup();
        let mut at = 0;
        for end in cuts.into_iter().chain([len]) {
            f(memory.part(at..end)?, at)?;
            at = end;
        }
        Ok(())
    }

    /// Copies a rectangle of rows. Finished when it returns if one side is host memory, otherwise only queued.
    pub fn rectangle(&self, from: CopyLocation<'_>, mut to: CopyLocation<'_>, size: Size) -> Result<(), Failure> {
        const CALL: &str = "cuMemcpy2DAsync_v2";
        if !from.holds(size) || !to.holds(size) {
            return Err(Failure { operation: CALL, code: INVALID_VALUE });
        }
        let mut copy = empty(size);
        match &from {
            CopyLocation::Device { span, pitch } => {
                copy.srcDevice = span.address();
                copy.srcPitch = *pitch;
            }
            CopyLocation::Array { array, x_bytes, y } => {
                copy.srcMemoryType = cu::CUmemorytype::CU_MEMORYTYPE_ARRAY;
                (copy.srcArray, copy.srcXInBytes, copy.srcY) = (array.raw(), *x_bytes, *y);
            }
            CopyLocation::HostSource { bytes, pitch } => {
                copy.srcMemoryType = cu::CUmemorytype::CU_MEMORYTYPE_HOST;
                (copy.srcHost, copy.srcPitch) = (bytes.as_ptr().cast(), *pitch);
            }
            CopyLocation::HostTarget { .. } => return Err(Failure { operation: CALL, code: INVALID_VALUE }),
        }
        match &mut to {
            CopyLocation::Device { span, pitch } => {
                copy.dstDevice = span.address();
                copy.dstPitch = *pitch;
            }
            CopyLocation::Array { array, x_bytes, y } => {
                copy.dstMemoryType = cu::CUmemorytype::CU_MEMORYTYPE_ARRAY;
                (copy.dstArray, copy.dstXInBytes, copy.dstY) = (array.raw(), *x_bytes, *y);
            }
            CopyLocation::HostTarget { bytes, pitch } => {
                copy.dstMemoryType = cu::CUmemorytype::CU_MEMORYTYPE_HOST;
                (copy.dstHost, copy.dstPitch) = (bytes.as_mut_ptr().cast(), *pitch);
            }
            CopyLocation::HostSource { .. } => return Err(Failure { operation: CALL, code: INVALID_VALUE }),
        }
        let _current = self.0.enter()?;
        // SAFETY: linear sides were checked by `CopyLocation::holds`, the driver checks arrays. Host memory outlives the copy
        // because the stream is waited for below; whoever frees device memory waits for the stream.
        let queued = unsafe { call!(self.0.api().driver, cuMemcpy2DAsync_v2(&raw const copy, self.0.raw())) };
        if from.is_host() || to.is_host() { self.0.synchronize().and(queued) } else { queued }
    }
}

fn empty(size: Size) -> cu::CUDA_MEMCPY2D {
    cu::CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: cu::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        srcHost: ptr::null(),
        srcDevice: 0,
        srcArray: ptr::null_mut(),
        srcPitch: 0,
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: cu::CUmemorytype::CU_MEMORYTYPE_DEVICE,
        dstHost: ptr::null_mut(),
        dstDevice: 0,
        dstArray: ptr::null_mut(),
        dstPitch: 0,
        WidthInBytes: size.row_bytes,
        Height: size.rows,
    }
}
