//! The type [`QueueSemaphore`].

use super::buffer::QueueBuffer;
use super::device::GlDevice;
use crate::api::semaphore_object::{SemaphoreFns, SemaphoreObject, SharedObject};
use crate::context::deferred_deletes::ObjectName;
use crate::context::external_objects::open_semaphore;
use glow::HasContext as _;
use interop_core::{Result, SemaphoreHandle, SyncKind};
use std::sync::atomic::{AtomicBool, Ordering};

/// Another API's semaphore in a context. Any thread may hold and drop it.
pub(crate) struct QueueSemaphore {
    name: SemaphoreObject,
    functions: SemaphoreFns,
    timeline: bool,
    /// True after the first successful signal and wait.
    verified: [AtomicBool; 2],
    device: GlDevice,
}

impl Drop for QueueSemaphore {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        self.device.unmake(ObjectName::Semaphore(self.name, self.functions));
    }
}

impl QueueSemaphore {
    /// Opens the semaphore.
    ///
    /// # Errors
    /// [`interop_core::Error::WrongContext`]; [`interop_core::Error::Unsupported`] without the extension;
    /// [`interop_core::Error::Driver`] for errors of the driver.
    pub(crate) fn open(device: &GlDevice, handle: SemaphoreHandle) -> Result<Self> {
        let gl = device.enter()?;
        let functions = device.opener().semaphores;
        let functions =
            functions.ok_or_else(|| device.unsupported("the functions of the extension were not loaded"))?;
        let timeline = handle.kind() == SyncKind::TimelineSemaphore;
        // SAFETY: the context is current and lists the extensions (`Opener::caps`, which the caller has asked); all are of it.
        let name = unsafe { open_semaphore(&functions, gl, device.identity(), handle) }?;
        device.made(ObjectName::Semaphore(name, functions));
        Ok(Self { name, functions, timeline, verified: Default::default(), device: device.clone() })
    }

    /// Runs `f` after setting the counter's value.
    fn at(&self, (which, operation): (usize, &'static str), value: u64, f: impl FnOnce(&glow::Context)) -> Result<()> {
        let gl = self.device.enter()?;
        let run = || {
            if self.timeline {
                // SAFETY: the context is current and the semaphore is a timeline of it.
                unsafe { self.functions.set_value(self.name, value) }
            }
            f(gl);
        };
        // Asking for errors makes a threaded driver wait, so it ends after the first success.
        if cfg!(debug_assertions) || !self.verified[which].load(Ordering::Relaxed) {
            self.device.checked(operation, run)?;
            self.verified[which].store(true, Ordering::Relaxed);
        } else {
            run();
        }
        Ok(())
    }

    /// Makes later GL commands wait.
    pub(crate) fn wait(&self, value: u64) -> Result<()> {
        // SAFETY: the context is current, and the semaphore is of it.
        let wait = |_: &glow::Context| unsafe { self.functions.wait(self.name, SharedObject::Buffers(&[])) };
        self.at((1, "glWaitSemaphoreEXT"), value, wait)
    }

    /// Signals after all earlier GL commands; waiters then see everything that these wrote to the buffers.
    pub(crate) fn signal(&self, value: u64, written: &[QueueBuffer]) -> Result<()> {
        let names: Vec<_> = written.iter().map(QueueBuffer::name).collect();
        self.at((0, "glSignalSemaphoreEXT"), value, |gl| {
            // SAFETY: the context is current, and the semaphore and the buffers are of it.
            unsafe {
                self.functions.signal(self.name, SharedObject::Buffers(&names));
                // Otherwise the other side would wait for commands that are still in this process.
                gl.flush();
            }
        })
    }
}
