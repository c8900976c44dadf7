//! Copies in the order of the stream.

use super::api::call;
use super::graphics::Array;
use super::{Failure, INVALID_VALUE, Queue, Span};
use cudarc::driver::sys as cu;
use std::ptr;

/// Copies by one queue. Those that touch host memory have finished when they return.
pub struct Copies<'a>(pub(super) &'a Queue);

/// Sizes of a rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub row_bytes: usize,
    pub rows: usize,
}

/// Where a rectangle lies. Pitches are bytes from one row to the next.
pub enum Place<'a> {
    Device { span: Span<'a>, pitch: usize },
    Array { array: &'a Array<'a>, x_bytes: usize, y: usize },
    HostSource { bytes: &'a [u8], pitch: usize },
    HostTarget { bytes: &'a mut [u8], pitch: usize },
}

impl Place<'_> {
    fn holds(&self, size: Size) -> bool {
        let (len, pitch) = match self {
            Self::Device { span, pitch } => (span.len(), *pitch),
            Self::HostSource { bytes, pitch } => (bytes.len(), *pitch),
            Self::HostTarget { bytes, pitch } => (bytes.len(), *pitch),
            // The driver knows the array's size.
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
    pub fn to_host(&self, from: Span<'_>, into: &mut [u8]) -> Result<(), Failure> {
        let from = from.part(0..into.len())?;
        let _current = self.0.enter()?;
        // SAFETY: `from` is as long as `into`. Both outlive the copy, because the stream is waited for below even
        // where the call failed.
        let queued = unsafe {
            let into = into.as_mut_ptr().cast();
            call!(self.0.api().driver, cuMemcpyDtoHAsync_v2(into, from.address(), from.len(), self.0.raw()))
        };
        self.0.synchronize().and(queued)
    }

    pub fn from_host(&self, from: &[u8], to: Span<'_>) -> Result<(), Failure> {
        let to = to.part(0..from.len())?;
        let _current = self.0.enter()?;
        // SAFETY: as in `to_host`.
        let queued = unsafe {
            let from = from.as_ptr().cast();
            call!(self.0.api().driver, cuMemcpyHtoDAsync_v2(to.address(), from, to.len(), self.0.raw()))
        };
        self.0.synchronize().and(queued)
    }

    /// Queued only. Memory may be freed afterwards: freeing waits.
    pub fn between(&self, from: Span<'_>, to: Span<'_>) -> Result<(), Failure> {
        let to = to.part(0..from.len())?;
        let _current = self.0.enter()?;
        // SAFETY: both pieces are live and equally long; whoever frees either waits for the stream.
        unsafe {
            let driver = &self.0.api().driver;
            call!(driver, cuMemcpyDtoDAsync_v2(to.address(), from.address(), from.len(), self.0.raw()))
        }
    }

    /// A rectangle of rows. Finished when it returns where one side is host memory, else queued only.
    pub fn rectangle(&self, from: Place<'_>, mut to: Place<'_>, size: Size) -> Result<(), Failure> {
        const OP: &str = "cuMemcpy2DAsync_v2";
        if !from.holds(size) || !to.holds(size) {
            return Err(Failure { operation: OP, code: INVALID_VALUE });
        }
        let mut copy = empty(size);
        match &from {
            Place::Device { span, pitch } => {
                copy.srcDevice = span.address();
                copy.srcPitch = *pitch;
            }
            Place::Array { array, x_bytes, y } => {
                copy.srcMemoryType = cu::CUmemorytype::CU_MEMORYTYPE_ARRAY;
                (copy.srcArray, copy.srcXInBytes, copy.srcY) = (array.raw(), *x_bytes, *y);
            }
            Place::HostSource { bytes, pitch } => {
                copy.srcMemoryType = cu::CUmemorytype::CU_MEMORYTYPE_HOST;
                (copy.srcHost, copy.srcPitch) = (bytes.as_ptr().cast(), *pitch);
            }
            Place::HostTarget { .. } => return Err(Failure { operation: OP, code: INVALID_VALUE }),
        }
        match &mut to {
            Place::Device { span, pitch } => {
                copy.dstDevice = span.address();
                copy.dstPitch = *pitch;
            }
            Place::Array { array, x_bytes, y } => {
                copy.dstMemoryType = cu::CUmemorytype::CU_MEMORYTYPE_ARRAY;
                (copy.dstArray, copy.dstXInBytes, copy.dstY) = (array.raw(), *x_bytes, *y);
            }
            Place::HostTarget { bytes, pitch } => {
                copy.dstMemoryType = cu::CUmemorytype::CU_MEMORYTYPE_HOST;
                (copy.dstHost, copy.dstPitch) = (bytes.as_mut_ptr().cast(), *pitch);
            }
            Place::HostSource { .. } => return Err(Failure { operation: OP, code: INVALID_VALUE }),
        }
        let _current = self.0.enter()?;
        // SAFETY: linear sides were checked by `Place::holds`, the driver checks arrays. Host memory outlives the copy
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
