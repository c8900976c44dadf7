//! Semaphores that others can open: `VK_KHR_external_semaphore_fd`.

use super::{Api, OPAQUE_SEMAPHORE, Vulkan};
use crate::shared::Shared;
use crate::staging::WgpuStaging;
use ash::{khr, vk};
use interop_core::{DisplaySemaphore, Result, SharedHandle, Staging, Support, SyncKind};
use std::os::fd::{FromRawFd, OwnedFd};
use std::rc::Rc;

const OP: &str = "create_semaphore";

/// Destroyed when dropped, while its device exists.
struct Raw {
    device: ash::Device,
    semaphore: vk::Semaphore,
}

impl Drop for Raw {
    fn drop(&mut self) {
        // SAFETY: made once of this device, which is alive; all work that uses it is done.
        unsafe { self.device.destroy_semaphore(self.semaphore, None) }
    }
}

/// Not signalled, or with its counter at 0, at first.
pub(crate) struct WgpuSemaphore {
    shared: Rc<Shared>,
    /// `None` only while it is dropped.
    raw: Option<Raw>,
    semaphore: vk::Semaphore,
    timeline: bool,
}

impl Vulkan {
    /// Whether it makes such semaphores for others, and why not.
    pub(super) fn can_make(&self, kind: SyncKind) -> Support {
        super::enabled(self.semaphore_fd.is_some(), khr::external_semaphore_fd::NAME)
            .and(|| {
                let timeline = kind == SyncKind::TimelineSemaphore;
                Support::when(self.timeline || !timeline, "the driver has no timeline semaphores (Vulkan 1.2)")
            })
            .and(|| Support::when(self.exports_semaphore(kind), format!("the driver exports no {kind} by descriptor")))
    }

    fn exports_semaphore(&self, kind: SyncKind) -> bool {
        let mut typed = semaphore_type(kind);
        let mut question = vk::PhysicalDeviceExternalSemaphoreInfo::default().handle_type(OPAQUE_SEMAPHORE);
        // An older device does not know the structure.
        if kind == SyncKind::TimelineSemaphore {
            question = question.push_next(&mut typed);
        }
        let mut answer = vk::ExternalSemaphoreProperties::default();
        // SAFETY: the physical device is of this instance; the structures live through the call.
        unsafe {
            self.instance.get_physical_device_external_semaphore_properties(self.physical, &question, &mut answer);
        }
        answer.external_semaphore_features.contains(vk::ExternalSemaphoreFeatureFlags::EXPORTABLE)
    }
}

fn semaphore_type(kind: SyncKind) -> vk::SemaphoreTypeCreateInfo<'static> {
    let counter = match kind {
        SyncKind::TimelineSemaphore => vk::SemaphoreType::TIMELINE,
        _ => vk::SemaphoreType::BINARY,
    };
    vk::SemaphoreTypeCreateInfo::default().semaphore_type(counter).initial_value(0)
}

impl WgpuSemaphore {
    /// Makes a semaphore and a handle of it.
    ///
    /// # Errors
    /// `Unsupported` where the display's capabilities do not list the kind.
    pub(crate) fn new(shared: &Rc<Shared>, kind: SyncKind) -> Result<(Self, SharedHandle)> {
        if let Support::No(reason) = shared.caps.can_make_semaphore(kind) {
            return Err(shared.unsupported(OP, reason));
        }
        let vulkan = shared.vulkan.as_ref();
        let Some((vulkan, functions)) = vulkan.and_then(|v| Some((v, v.semaphore_fd.as_ref()?))) else {
            return Err(shared.unsupported(OP, Vulkan::ABSENT));
        };
        let timeline = kind == SyncKind::TimelineSemaphore;
        let mut typed = semaphore_type(kind);
        let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(OPAQUE_SEMAPHORE);
        let mut info = vk::SemaphoreCreateInfo::default().push_next(&mut export);
        if timeline {
            info = info.push_next(&mut typed);
        }
        // SAFETY: the driver was asked whether it makes such semaphores; the structures live through the call.
        let semaphore =
            unsafe { vulkan.device.create_semaphore(&info, None) }.map_err(vulkan.failed("vkCreateSemaphore"))?;
        let raw = Some(Raw { device: vulkan.device.clone(), semaphore });
        let made = Self { shared: Rc::clone(shared), raw, semaphore, timeline };
        let info = vk::SemaphoreGetFdInfoKHR::default().semaphore(semaphore).handle_type(OPAQUE_SEMAPHORE);
        // SAFETY: the semaphore is of this device and was made to be exported.
        let fd = unsafe { functions.get_semaphore_fd(&info) }.map_err(vulkan.failed("vkGetSemaphoreFdKHR"))?;
        // SAFETY: the descriptor is new and ours.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok((made, SharedHandle::SemaphoreFd { fd, kind }))
    }

    fn value(&self, value: u64) -> Option<u64> {
        self.timeline.then_some(value)
    }

    /// Gives Vulkan's end of the queue to `f`.
    fn queue<T>(&self, operation: &'static str, f: impl FnOnce(&wgpu::hal::vulkan::Queue) -> T) -> Result<T> {
        // SAFETY: nothing of the guard's is destroyed; semaphores are handed to the next submission as hal documents.
        match unsafe { self.shared.queue.as_hal::<Api>() } {
            Some(queue) => Ok(f(&queue)),
            None => Err(self.shared.unsupported(operation, Vulkan::ABSENT)),
        }
    }
}

impl DisplaySemaphore for WgpuSemaphore {
    fn signal(&mut self, value: u64, staging: &mut dyn Staging) -> Result<()> {
        const OP: &str = "signal";
        WgpuStaging::of(staging, &self.shared, OP)?;
        let value = self.value(value);
        self.queue(OP, |queue| queue.add_signal_semaphore(self.semaphore, value))?;
        // With the submission: what was told so far comes before it.
        self.shared.flush(OP).map(drop)
    }

    fn wait(&mut self, value: u64, staging: &mut dyn Staging) -> Result<()> {
        const OP: &str = "wait";
        WgpuStaging::of(staging, &self.shared, OP)?;
        let value = self.value(value);
        let stage = vk::PipelineStageFlags::ALL_COMMANDS;
        self.queue(OP, |queue| queue.add_wait_semaphore(self.semaphore, value, stage))
    }
}

impl Drop for WgpuSemaphore {
    fn drop(&mut self) {
        let forget = |queue: &wgpu::hal::vulkan::Queue| {
            queue.remove_signal_semaphore(self.semaphore);
            queue.remove_wait_semaphore(self.semaphore);
        };
        if let Err(error) = self.queue("drop", forget) {
            tracing::warn!(%error, "a semaphore could not be taken back");
        }
        let raw = self.raw.take();
        self.shared.queue.on_submitted_work_done(move || drop(raw));
    }
}
