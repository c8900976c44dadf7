//! Memory and streams of other CUDA code in this process (such as PyTorch and CuPy, which use the same primary
//! context).

use crate::backend::CudaBackend;
use crate::ffi::foreign_memory::{self, ForeignMemory};
use crate::launch::linear_argument;
use crate::memory::{CudaMemory, Store};
use interop_core::describe::error::call;
use interop_core::{ComputeMemory, Error, Result};

impl CudaBackend {
    /// Returns this backend's stream, a `CUstream` as a number, so that other code can order its own work before the
    /// backend's with `cuStreamWaitEvent`. It is valid for as long as the backend or anything made by it lives. Neither
    /// destroy it nor capture it.
    pub fn stream(&self) -> usize {
        self.session.queue.raw().expose_provenance()
    }

    /// Returns the address of this backend's linear memory (a `CUdeviceptr`; no CUDA call), for other CUDA code in this
    /// process. It is valid for as long as the memory lives; its user orders work with [`CudaBackend::stream`].
    ///
    /// # Errors
    /// [`Error::Foreign`] for memory of another backend; [`Error::InvalidInput`] for an image, and for an OpenGL buffer
    /// that CUDA has not acquired.
    pub fn address_of(&self, memory: &dyn ComputeMemory) -> Result<u64> {
        call("CudaBackend::address_of", || Ok(linear_argument(&self.session, memory)?.span()?.address()))
    }

    /// Runs `work` while this device's primary context is current on the thread, for other code that uses the current
    /// device (`cudaGetDevice`). Restores the previous context afterwards.
    ///
    /// # Errors
    /// Errors of the driver; then `work` does not run.
    pub fn with_current<R>(&self, work: impl FnOnce() -> R) -> Result<R> {
        let _current = self.session.queue.enter_held().map_err(self.session.failed())?;
        Ok(work())
    }

    /// Returns the number of the device that holds `address` (`CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL`).
    ///
    /// # Errors
    /// [`Error::Driver`] where the driver knows no memory at this address.
    pub fn device_of(&self, address: u64) -> Result<u32> {
        let ordinal = foreign_memory::device_of(&self.session.queue, address).map_err(self.session.failed())?;
        u32::try_from(ordinal).map_err(|_| Error::invalid("CudaBackend::device_of", "the memory belongs to no device"))
    }

    /// Borrows device memory of other code, for kernels to read and write: as an argument of the backend's own calls
    /// (queues reject it). Nothing is copied; the driver reports the memory's device (`cuPointerGetAttribute`).
    /// Dropping the result waits for queued work.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for 0 bytes; [`Error::Driver`] where the driver knows no memory at this address, or only
    /// another device's.
    ///
    /// # Safety
    /// Until the returned memory is dropped, the `bytes` at `address` must stay allocated. Other code must not write
    /// them in the meantime, nor read them where kernels write them. This does not apply to work that this backend's
    /// stream was ordered after ([`CudaBackend::stream`], [`CudaBackend::follow_stream`]).
    pub unsafe fn borrow_memory(&self, address: u64, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
        if bytes == 0 {
            return Err(Error::invalid("CudaBackend::borrow_memory", "0 bytes were given; give at least 1"));
        }
        // SAFETY: the caller guarantees it.
        let block =
            unsafe { ForeignMemory::new(&self.session.queue, address, bytes) }.map_err(self.session.failed())?;
        Ok(Box::new(CudaMemory::new(&self.session, Store::Borrowed(block), bytes)))
    }

    /// Orders work that is queued from now on after everything that other code has submitted to its stream so far
    /// (`cuEventRecord` there, `cuStreamWaitEvent` here). Does not wait.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// `stream` must be a live `CUstream` of this device's primary context as a number, or 1 (the legacy default stream)
    /// or 2 (the calling thread's default stream).
    pub unsafe fn follow_stream(&self, stream: usize) -> Result<()> {
        // SAFETY: the caller guarantees it.
        unsafe { foreign_memory::follow(&self.session.queue, stream) }.map_err(self.session.failed())
    }

    /// Orders work that other code submits to its stream from now on after everything queued here so far
    /// (`cuEventRecord` here, `cuStreamWaitEvent` there). Does not wait.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// `stream` must be valid for [`CudaBackend::follow_stream`].
    pub unsafe fn lead_stream(&self, stream: usize) -> Result<()> {
        // SAFETY: the caller guarantees it.
        unsafe { foreign_memory::lead(&self.session.queue, stream) }.map_err(self.session.failed())
    }

    /// Waits until everything is done that was submitted to the device's primary context so far, also by other code
    /// (`cuCtxSynchronize`).
    ///
    /// # Errors
    /// Errors of the driver, and of kernels that failed.
    pub fn finish_context(&self) -> Result<()> {
        foreign_memory::finish_context(&self.session.queue).map_err(self.session.failed())
    }
}
