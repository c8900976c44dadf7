//! [`ComputeSemaphore`] of OpenCL.

use super::external::no_duplicate;
use crate::backend_state::BackendState;
use interop_core::{ComputeSemaphore, Error, Result, SharedHandle};
use pixelferry_opencl::base::Semaphore;
use std::sync::Arc;

/// A display's semaphore.
pub struct OpenClSemaphore {
    semaphore: Semaphore,
}

impl OpenClSemaphore {
    /// Implements [`interop_core::ComputeBackend::import_semaphore`].
    pub fn import(shared: &Arc<BackendState>, handle: &SharedHandle) -> Result<Self> {
        let SharedHandle::Semaphore(handle) = handle else {
            return Err(Error::refused("OpenCL knows no such semaphore"));
        };
        let opened = Semaphore::import(&shared.session, shared.device.raw.ids().0, handle);
        Ok(Self { semaphore: opened.map_err(no_duplicate(shared))?? })
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
