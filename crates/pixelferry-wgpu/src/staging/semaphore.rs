//! Semaphores that others can open.

use crate::context::device_state::DeviceState;
use crate::context::vulkan::{Api, Vulkan};
use crate::staging::WgpuStaging;
use ash::vk;
use interop_core::display::SemaphoreDriver;
use interop_core::{Result, SharedHandle, Staging, SyncKind};
use pixelferry_vulkan::sharing::Semaphore;
use std::rc::Rc;

/// Not signalled, or with its counter at 0, at first.
struct WgpuSemaphore {
    shared: Rc<DeviceState>,
    /// `None` only while it is dropped.
    raw: Option<Semaphore>,
    semaphore: vk::Semaphore,
    timeline: bool,
}

/// Makes a semaphore of a kind that is listed among [`Vulkan::sharing`](Vulkan), and a handle of it.
pub(crate) fn create(
    shared: &Rc<DeviceState>,
    vulkan: &Vulkan,
    kind: SyncKind,
) -> Result<(Box<dyn SemaphoreDriver>, SharedHandle)> {
    let raw = vulkan.sharing.exported_semaphore(kind)?;
    let (semaphore, timeline) = (raw.raw(), kind == SyncKind::TimelineSemaphore);
    let handle = SharedHandle::Semaphore(raw.export(&vulkan.sharing)?);
    Ok((Box::new(WgpuSemaphore { shared: Rc::clone(shared), raw: Some(raw), semaphore, timeline }), handle))
}

impl WgpuSemaphore {
    fn value(&self, value: u64) -> Option<u64> {
        self.timeline.then_some(value)
    }

    /// Gives Vulkan's end of the queue to `f`.
    fn queue<T>(&self, f: impl FnOnce(&wgpu::hal::vulkan::Queue) -> T) -> Result<T> {
        // SAFETY: nothing of the guard's is destroyed; semaphores are handed to the next submission as hal documents.
        match unsafe { self.shared.queue.as_hal::<Api>() } {
            Some(queue) => Ok(f(&queue)),
            None => Err(self.shared.unsupported(Vulkan::ABSENT)),
        }
    }
}

impl SemaphoreDriver for WgpuSemaphore {
    fn signal(&mut self, value: u64, staging: &mut Staging) -> Result<()> {
        WgpuStaging::of(staging, &self.shared)?;
        let value = self.value(value);
        self.queue(|queue| queue.add_signal_semaphore(self.semaphore, value))?;
        // With the submission: what was told so far comes before it.
        self.shared.flush().map(drop)
    }

    fn wait(&mut self, value: u64, staging: &mut Staging) -> Result<()> {
        WgpuStaging::of(staging, &self.shared)?;
        let value = self.value(value);
        let stage = vk::PipelineStageFlags::ALL_COMMANDS;
        self.queue(|queue| queue.add_wait_semaphore(self.semaphore, value, stage))
    }
}

impl Drop for WgpuSemaphore {
    fn drop(&mut self) {
        let forget = |queue: &wgpu::hal::vulkan::Queue| {
            queue.remove_signal_semaphore(self.semaphore);
            queue.remove_wait_semaphore(self.semaphore);
        };
        if let Err(error) = self.queue(forget) {
            tracing::warn!(%error, "a semaphore could not be taken back");
        }
        let raw = self.raw.take();
        self.shared.queue.on_submitted_work_done(move || drop(raw));
    }
}
