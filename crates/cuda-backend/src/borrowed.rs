//! Memory and streams of other code in this process that uses CUDA (PyTorch, CuPy and the like do, in the same primary
//! context).

use crate::backend::CudaBackend;
use crate::ffi::borrowed::{self, Borrowed};
use crate::launch::linear_argument;
use crate::memory::{CudaMemory, Store};
use interop_core::describe::error::call;
use interop_core::{ComputeMemory, Error, Result};

impl CudaBackend {
    /// This backend's stream, a `CUstream` as a number, for other code to order its own work before ours: by
    /// `cuStreamWaitEvent` on it. Valid for as long as the backend or anything made by it lives; neither destroy it nor
    /// capture it.
    pub fn stream(&self) -> usize {
        self.session.queue.raw().expose_provenance()
    }

    /// The address of this backend's linear memory (a `CUdeviceptr`; no CUDA call), for other code that uses CUDA in this process. It is good for
    /// as long as the memory lives; whoever uses it orders its work with [`CudaBackend::stream`].
    ///
    /// # Errors
    /// [`Error::Foreign`] for memory of another backend, [`Error::InvalidInput`] for an image and for an OpenGL buffer that is
    /// not with CUDA now.
    pub fn address_of(&self, memory: &dyn ComputeMemory) -> Result<u64> {
        call("CudaBackend::address_of", || Ok(linear_argument(&self.session, memory)?.span()?.address()))
    }

    /// Runs `work` with this device's primary context current on the thread, for other code that takes the current device
    /// (`cudaGetDevice`) for its own, and makes the one before current again.
    ///
    /// # Errors
    /// What the driver reports; `work` does not run then.
    pub fn with_current<R>(&self, work: impl FnOnce() -> R) -> Result<R> {
        let _current = self.session.queue.enter_held().map_err(self.session.failed())?;
        Ok(work())
    }

    /// The number of the device that holds `address` (`CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL`).
    ///
    /// # Errors
    /// [`Error::Driver`] where the driver knows no memory there.
    pub fn device_of(&self, address: u64) -> Result<u32> {
        let ordinal = borrowed::device_of(&self.session.queue, address).map_err(self.session.failed())?;
        u32::try_from(ordinal).map_err(|_| Error::invalid("CudaBackend::device_of", "the memory is of no device"))
    }

    /// Device memory of other code, for kernels to read and write: an argument of the backend's own calls (queues
    /// refuse it). Nothing is copied; the driver is asked of which device the memory is (`cuPointerGetAttribute`).
    /// Dropping it waits for what was queued.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for no bytes, [`Error::Driver`] where the driver knows no memory there, or another
    /// device's.
    ///
    /// # Safety
    /// From here until the returned memory was dropped, the `bytes` at `address` stay allocated. Nobody else writes
    /// them meanwhile, or reads them where kernels write them. Work is allowed that this backend's stream was ordered
    /// after ([`CudaBackend::stream`], [`CudaBackend::follow_stream`]).
    pub unsafe fn borrow_memory(&self, address: u64, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
        if bytes == 0 {
            return Err(Error::invalid("CudaBackend::borrow_memory", "0 bytes were named; give at least 1"));
        }
        // SAFETY: the caller's promise.
        let block = unsafe { Borrowed::new(&self.session.queue, address, bytes) }.map_err(self.session.failed())?;
        Ok(Box::new(CudaMemory::new(&self.session, Store::Borrowed(block), bytes)))
    }

    /// Orders what is queued from now on after what other code has given to its stream so far (`cuEventRecord` there,
    /// `cuStreamWaitEvent` here). Does not wait.
    ///
    /// # Errors
    /// What the driver reports.
    ///
    /// # Safety
    /// `stream` must be a live `CUstream` of this device's primary context as a number, or 1 (the legacy default stream)
    /// or 2 (the calling thread's default stream).
    pub unsafe fn follow_stream(&self, stream: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { borrowed::follow(&self.session.queue, stream) }.map_err(self.session.failed())
    }

    /// Orders what other code gives to its stream from now on after what is queued here so far (`cuEventRecord` here,
    /// `cuStreamWaitEvent` there). Does not wait.
    ///
    /// # Errors
    /// What the driver reports.
    ///
    /// # Safety
    /// `stream` must be what [`CudaBackend::follow_stream`] takes.
    pub unsafe fn lead_stream(&self, stream: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { borrowed::lead(&self.session.queue, stream) }.map_err(self.session.failed())
    }
}
