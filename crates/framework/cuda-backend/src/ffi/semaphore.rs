//! Semaphores of another API, opened with a handle.

use super::api::{Opaque, SemaphoreHandle, call};
use super::{Failure, Queue, os};
use cudarc::driver::sys as cu;
use interop_core::devices::os_handle::ImportedHandle;
use interop_core::{SemaphoreHandle as CoreSemaphoreHandle, SyncKind};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

/// An open semaphore.
pub struct Semaphore {
    raw: cu::CUexternalSemaphore,
    queue: Arc<Queue>,
}

// SAFETY: the handle belongs to the context, which each call makes current on its own thread.
unsafe impl Send for Semaphore {}
// SAFETY: as above; nothing is changed through a shared reference.
unsafe impl Sync for Semaphore {}

impl Semaphore {
    pub fn import(queue: &Arc<Queue>, handle: CoreSemaphoreHandle) -> Result<Self, Failure> {
        let _current = queue.enter()?;
        let kind = if handle.kind() == SyncKind::TimelineSemaphore { os::TIMELINE } else { os::SEMAPHORE };
        let to_driver = ImportedHandle::new(handle.into_handle());
        let handle = SemaphoreHandle { kind, handle: Opaque::new(to_driver.number()), flags: 0, reserved: [0; 16] };
        let mut raw = ptr::null_mut();
        // SAFETY: writes the handle to the given location, reads one description; the handle is open.
        let imported = unsafe { call!(queue.api().driver, cuImportExternalSemaphore(&raw mut raw, &raw const handle)) };
        if let Err(failure) = imported {
            to_driver.close_if_left();
            return Err(failure);
        }
        Ok(Self { raw, queue: queue.clone() })
    }

    /// Signals after all work queued so far.
    pub fn signal(&self, value: u64) -> Result<(), Failure> {
        let _current = self.queue.enter()?;
        // SAFETY: all of it is numbers and pointers, for which zero is a value.
        let mut params: cu::CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS = unsafe { MaybeUninit::zeroed().assume_init() };
        params.params.fence.value = value;
        // SAFETY: reads one handle and its parameters; both are live.
        unsafe {
            let (driver, stream) = (&self.queue.api().driver, self.queue.raw());
            call!(driver, cuSignalExternalSemaphoresAsync(&raw const self.raw, &raw const params, 1, stream))
        }
    }

    /// Makes all work that is queued from now on wait.
    pub fn wait(&self, value: u64) -> Result<(), Failure> {
        let _current = self.queue.enter()?;
        // SAFETY: all of it is numbers and pointers, for which zero is a value.
        let mut params: cu::CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS = unsafe { MaybeUninit::zeroed().assume_init() };
        params.params.fence.value = value;
        // SAFETY: reads one handle and its parameters; both are live.
        unsafe {
            let (driver, stream) = (&self.queue.api().driver, self.queue.raw());
            call!(driver, cuWaitExternalSemaphoresAsync(&raw const self.raw, &raw const params, 1, stream))
        }
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // The stream may still have to signal it.
        Failure::log(self.queue.synchronize());
        let Ok(_current) = self.queue.enter() else { return };
        // SAFETY: made once, destroyed once.
        Failure::log(unsafe { call!(self.queue.api().driver, cuDestroyExternalSemaphore(self.raw)) });
    }
}
