//! Semaphores, made to be opened by other APIs (`VK_KHR_external_semaphore_fd`).

use super::device::Device;
use super::{Vulkan, failed};
use ash::{khr, vk};
use interop_core::{DeviceIdentity, Result};
use std::os::fd::{FromRawFd, OwnedFd};
use std::rc::Rc;

const OP: &str = "create_semaphore";
const FD: vk::ExternalSemaphoreHandleTypeFlags = vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD;

/// A semaphore that Vulkan itself never waits for. Its payload is shared with whoever opens a descriptor of it.
pub(crate) struct Semaphore {
    raw: vk::Semaphore,
    functions: khr::external_semaphore_fd::Device,
    device: Rc<Device>,
}

impl Semaphore {
    /// Makes one on the device that is `gl`: unsignalled, or with its counter at 0.
    pub(crate) fn new(vulkan: &Vulkan, gl: &DeviceIdentity, timeline: bool) -> Result<Self> {
        let device = vulkan.device(gl, OP)?;
        let Some(functions) = device.semaphore_fd.clone() else {
            return Err(device.unsupported(OP, "it lists no VK_KHR_external_semaphore_fd".into()));
        };
        if timeline && !device.timeline {
            return Err(device.unsupported(OP, "it has no timeline semaphores (VK_KHR_timeline_semaphore)".into()));
        }
        // Chained for timelines only: the structure is of that extension.
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let mut question = vk::PhysicalDeviceExternalSemaphoreInfo::default().handle_type(FD);
        if timeline {
            question = question.push_next(&mut kind);
        }
        let mut answer = vk::ExternalSemaphoreProperties::default();
        // SAFETY: the physical device is of this instance and has Vulkan 1.1; the structures live through the call.
        unsafe {
            let instance = device.instance();
            instance.get_physical_device_external_semaphore_properties(device.physical, &question, &mut answer);
        }
        if !answer.external_semaphore_features.contains(vk::ExternalSemaphoreFeatureFlags::EXPORTABLE) {
            return Err(device.unsupported(OP, "it does not share such semaphores by file descriptor".into()));
        }
        let mut kind = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(FD);
        let mut info = vk::SemaphoreCreateInfo::default().push_next(&mut export);
        if timeline {
            info = info.push_next(&mut kind);
        }
        // SAFETY: the device said that it makes such semaphores; the structures live through the call.
        let raw = unsafe { device.raw.create_semaphore(&info, None) };
        let raw = raw.map_err(failed("vkCreateSemaphore", &device.name))?;
        Ok(Self { raw, functions, device })
    }

    /// A new descriptor of the payload.
    pub(crate) fn export(&self) -> Result<OwnedFd> {
        let info = vk::SemaphoreGetFdInfoKHR::default().semaphore(self.raw).handle_type(FD);
        // SAFETY: the semaphore was made to be exported so; the descriptor is new and ours.
        unsafe {
            let fd = self.functions.get_semaphore_fd(&info);
            Ok(OwnedFd::from_raw_fd(fd.map_err(failed("vkGetSemaphoreFdKHR", &self.device.name))?))
        }
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: made once, of this device, which lives; no Vulkan command uses it.
        unsafe { self.device.raw.destroy_semaphore(self.raw, None) }
    }
}
