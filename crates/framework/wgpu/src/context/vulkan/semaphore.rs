//! Semaphores in a device's queue: for displays and for kernels.

use super::{Api, Vulkan};
use crate::context::device::WgpuDevice;
use ash::vk;
#[cfg(feature = "compute")]
use interop_core::ComputeSemaphore;
use interop_core::{Result, SyncKind};
use pixelferry_vulkan::sharing::Semaphore;

/// A semaphore that a device's queue waits for and signals.
pub(crate) struct QueueSemaphore {
    device: WgpuDevice,
    /// `None` only during the drop.
    raw: Option<Semaphore>,
    semaphore: vk::Semaphore,
    timeline: bool,
}

impl QueueSemaphore {
    pub(crate) fn new(device: &WgpuDevice, raw: Semaphore, kind: SyncKind) -> Self {
        let (semaphore, timeline) = (raw.raw(), kind == SyncKind::TimelineSemaphore);
        Self { device: device.clone(), raw: Some(raw), semaphore, timeline }
    }

    fn value(&self, value: u64) -> Option<u64> {
        self.timeline.then_some(value)
    }

    /// Runs `f` with the Vulkan queue.
    fn queue<T>(&self, f: impl FnOnce(&wgpu::hal::vulkan::Queue) -> T) -> Result<T> {
        // SAFETY: nothing of the guard's is destroyed; semaphores are handed to the next submission as hal documents.
        match unsafe { self.device.queue.as_hal::<Api>() } {
            Some(queue) => Ok(f(&queue)),
            None => Err(self.device.unsupported(Vulkan::ABSENT)),
        }
    }

    /// Signals with the next submission, which this call makes: it follows all earlier work.
    pub(crate) fn signals(&self, value: u64) -> Result<()> {
        let value = self.value(value);
        self.queue(|queue| queue.add_signal_semaphore(self.semaphore, value))?;
        self.flush()
    }

    /// Makes later work of the device wait. For a binary semaphore, the wait is submitted at once: the other side may
    /// signal it again after this returns.
    pub(crate) fn waits(&self, value: u64) -> Result<()> {
        let value = self.value(value);
        let stage = vk::PipelineStageFlags::ALL_COMMANDS;
        self.queue(|queue| queue.add_wait_semaphore(self.semaphore, value, stage))?;
        if self.timeline { Ok(()) } else { self.flush() }
    }

    /// Submits; the caller repeats a failed call.
    fn flush(&self) -> Result<()> {
        self.device.flush().map(drop).inspect_err(|_| self.forget())
    }

    /// Removes the wait and the signal from the next submission.
    fn forget(&self) {
        let forget = |queue: &wgpu::hal::vulkan::Queue| {
            queue.remove_signal_semaphore(self.semaphore);
            queue.remove_wait_semaphore(self.semaphore);
        };
        if let Err(error) = self.queue(forget) {
            tracing::warn!(%error, "a semaphore could not be removed from the next submission");
        }
    }
}

#[cfg(feature = "compute")]
impl ComputeSemaphore for QueueSemaphore {
    fn signal(&mut self, value: u64) -> Result<()> {
        // Before the signal is pending: an engine's submission on another thread may take it.
        self.device.submit_recorded()?;
        self.signals(value)
    }

    fn wait(&mut self, value: u64) -> Result<()> {
        // Earlier recorded work is submitted first.
        self.device.submit_recorded()?;
        self.waits(value)
    }
}

impl Drop for QueueSemaphore {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        self.forget();
        let raw = self.raw.take();
        self.device.queue.on_submitted_work_done(move || drop(raw));
    }
}
