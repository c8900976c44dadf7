//! Memory and semaphores that are shared with other APIs outside of any path, usable on any thread.

use crate::backend::CudaBackend;
use crate::shared_objects::CudaSemaphore;
use interop_core::describe::error::call;
use interop_core::{
    ComputeBackend, ComputeMemory, ComputeSemaphore, Error, HandleType, MemoryHandle, Result, SemaphoreHandle,
    SharedHandle, SurfaceDesc,
};

impl CudaBackend {
    /// Opens linear memory that another API exported on this GPU (`vkGetMemoryFdKHR`), all of it.
    ///
    /// # Errors
    /// Those of [`ComputeBackend::import_surface`].
    pub fn open_memory(&self, handle: MemoryHandle) -> Result<Box<dyn ComputeMemory>> {
        let all = SurfaceDesc::buffer(handle.bytes());
        ComputeBackend::import_surface(self, &SharedHandle::Memory(handle), &all)
    }

    /// Allocates linear memory of this GPU that other APIs can open, and returns it with a handle.
    ///
    /// # Errors
    /// Those of [`ComputeBackend::allocate_shared`].
    pub fn export_memory(&self, bytes: usize) -> Result<(Box<dyn ComputeMemory>, MemoryHandle)> {
        let own = ComputeBackend::device(self);
        match ComputeBackend::allocate_shared(self, bytes, HandleType::OPAQUE, own)? {
            (memory, SharedHandle::Memory(handle)) => Ok((memory, handle)),
            (_, other) => Err(Error::unsupported(own, format!("it exported a {}", other.handle_type()))),
        }
    }

    /// Opens a semaphore that another API exported on this GPU (`vkGetSemaphoreFdKHR`). Its waits and signals are
    /// queued in the backend's stream.
    ///
    /// # Errors
    /// Errors of the driver for the handle.
    pub fn open_semaphore(&self, handle: SemaphoreHandle) -> Result<Box<dyn ComputeSemaphore + Send>> {
        call("CudaBackend::open_semaphore", || {
            let opened = CudaSemaphore::import(&self.session, &SharedHandle::Semaphore(handle))?;
            Ok(Box::new(opened) as Box<dyn ComputeSemaphore + Send>)
        })
    }
}
