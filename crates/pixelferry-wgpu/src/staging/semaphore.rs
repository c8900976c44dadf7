//! Semaphores that others can open, and those of others.

use crate::context::device::WgpuDevice;
use crate::context::device_state::DeviceState;
use crate::context::vulkan::{Api, Vulkan};
use crate::staging::WgpuStaging;
use ash::vk;
#[cfg(feature = "compute")]
use interop_core::ComputeSemaphore;
use interop_core::display::SemaphoreDriver;
use interop_core::{Result, SharedHandle, Staging, SyncKind};
use pixelferry_vulkan::sharing::Semaphore;
use std::rc::Rc;

/// A semaphore that a device's queue waits for and signals.
pub(crate) struct QueueSemaphore {
    device: WgpuDevice,
    /// `None` only while it is dropped.
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

    /// Gives Vulkan's end of the queue to `f`.
    fn queue<T>(&self, f: impl FnOnce(&wgpu::hal::vulkan::Queue) -> T) -> Result<T> {
        // SAFETY: nothing of the guard's is destroyed; semaphores are handed to the next submission as hal documents.
        match unsafe { self.device.queue.as_hal::<Api>() } {
            Some(queue) => Ok(f(&queue)),
            None => Err(self.device.unsupported(Vulkan::ABSENT)),
        }
    }

    /// Signals when all is done that the device was told before.
    fn signals(&self, value: u64) -> Result<()> {
        // Before the signal is there to be taken: another thread's submission may be the next.
        self.device.submit_recorded()?;
        let value = self.value(value);
        self.queue(|queue| queue.add_signal_semaphore(self.semaphore, value))?;
        self.device.flush().map(drop)
    }

    /// Lets what the device is told from now on wait. For a binary semaphore the wait is made at once: the other side may signal
    /// it again when this returns.
    fn waits(&self, value: u64) -> Result<()> {
        let value = self.value(value);
        let stage = vk::PipelineStageFlags::ALL_COMMANDS;
        self.queue(|queue| queue.add_wait_semaphore(self.semaphore, value, stage))?;
        if self.timeline { Ok(()) } else { self.device.flush().map(drop) }
    }
}

#[cfg(feature = "compute")]
impl ComputeSemaphore for QueueSemaphore {
    fn signal(&mut self, value: u64) -> Result<()> {
        self.signals(value)
    }

    fn wait(&mut self, value: u64) -> Result<()> {
        // What waits to be submitted comes before.
        self.device.submit_recorded()?;
        self.waits(value)
    }
}

impl Drop for QueueSemaphore {
    fn drop(&mut self) {
        let forget = |queue: &wgpu::hal::vulkan::Queue| {
            queue.remove_signal_semaphore(self.semaphore);
            queue.remove_wait_semaphore(self.semaphore);
        };
        if let Err(error) = self.queue(forget) {
            tracing::warn!(%error, "a semaphore could not be taken back");
        }
        let raw = self.raw.take();
        self.device.queue.on_submitted_work_done(move || drop(raw));
    }
}

/// A display's. Not signalled, or with its counter at 0, at first.
struct WgpuSemaphore {
    shared: Rc<DeviceState>,
    inner: QueueSemaphore,
}

/// Makes a semaphore of a kind that is listed among [`Vulkan::sharing`](Vulkan), and a handle of it.
pub(crate) fn create(
    shared: &Rc<DeviceState>,
    vulkan: &Vulkan,
    kind: SyncKind,
) -> Result<(Box<dyn SemaphoreDriver>, SharedHandle)> {
    let raw = vulkan.sharing.exported_semaphore(kind)?;
    let handle = SharedHandle::Semaphore(raw.export(&vulkan.sharing)?);
    let inner = QueueSemaphore::new(&shared.base, raw, kind);
    Ok((Box::new(WgpuSemaphore { shared: Rc::clone(shared), inner }), handle))
}

impl SemaphoreDriver for WgpuSemaphore {
    fn signal(&mut self, value: u64, staging: &mut Staging) -> Result<()> {
        WgpuStaging::of(staging, &self.shared)?;
        self.inner.signals(value)
    }

    fn wait(&mut self, value: u64, staging: &mut Staging) -> Result<()> {
        WgpuStaging::of(staging, &self.shared)?;
        self.inner.waits(value)
    }
}
