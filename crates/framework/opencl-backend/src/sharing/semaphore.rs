//! The semaphore of the OpenCL backend.

use super::external::no_duplicate;
use super::handle_semaphore::Semaphore;
use crate::backend_state::BackendState;
use crate::os::duplicate_semaphore;
use interop_core::{ComputeSemaphore, Error, Result, SharedHandle};
use std::sync::Arc;

/// A display's semaphore, opened by OpenCL.
pub struct OpenClSemaphore {
    semaphore: Semaphore,
}

impl OpenClSemaphore {
    /// Implements [`interop_core::ComputeBackend::import_semaphore`].
    pub fn import(shared: &Arc<BackendState>, handle: &SharedHandle) -> Result<Self> {
        let SharedHandle::Semaphore(handle) = handle else {
            return Err(Error::refused("OpenCL does not support this kind of semaphore"));
        };
        // The driver gets a handle of its own.
        let handle = duplicate_semaphore(handle.handle()).map_err(no_duplicate(shared))?;
        Ok(Self { semaphore: Semaphore::open(&shared.queues, &shared.device.raw, handle)? })
    }
}

impl ComputeSemaphore for OpenClSemaphore {
    fn signal(&mut self, _: u64) -> Result<()> {
        self.semaphore.signal()
    }

    fn wait(&mut self, _: u64) -> Result<()> {
        self.semaphore.wait()
    }
}
