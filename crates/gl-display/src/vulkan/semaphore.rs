//! Semaphores that others can open: `VK_KHR_external_semaphore_fd`.

use super::VulkanDevice;
use ash::vk;
use interop_core::{Result, SyncKind};
use std::os::fd::{FromRawFd, OwnedFd};
use std::rc::Rc;

const OP: &str = "create_semaphore";
const OPAQUE: vk::ExternalSemaphoreHandleTypeFlags = vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD;

/// Not signalled, or with its counter at 0, at first. Those who opened a descriptor of it share its state.
pub(crate) struct VulkanSemaphore {
    device: Rc<VulkanDevice>,
    semaphore: vk::Semaphore,
}

impl VulkanSemaphore {
    /// Makes a semaphore: a timeline where `kind` says so, else a binary one.
    ///
    /// # Errors
    /// `Unsupported` where the driver exports none of that kind.
    pub(crate) fn new(device: &Rc<VulkanDevice>, kind: SyncKind) -> Result<Self> {
        let timeline = kind == SyncKind::TimelineSemaphore;
        if timeline && !device.timeline {
            return Err(device.unsupported(OP, "timeline semaphores need Vulkan 1.2".into()));
        }
        let counter = if timeline { vk::SemaphoreType::TIMELINE } else { vk::SemaphoreType::BINARY };
        // An older device does not know the structure.
        let typed = || vk::SemaphoreTypeCreateInfo::default().semaphore_type(counter).initial_value(0);
        let (mut asked, mut wanted) = (typed(), typed());
        let mut question = vk::PhysicalDeviceExternalSemaphoreInfo::default().handle_type(OPAQUE);
        if timeline {
            question = question.push_next(&mut asked);
        }
        let mut answer = vk::ExternalSemaphoreProperties::default();
        // SAFETY: the physical device is of this instance and of Vulkan 1.1; the structures live through the call.
        unsafe {
            device.instance().get_physical_device_external_semaphore_properties(
                device.physical,
                &question,
                &mut answer,
            );
        }
        let exportable = vk::ExternalSemaphoreFeatureFlags::EXPORTABLE;
        if device.semaphore_fd.is_none() || !answer.external_semaphore_features.contains(exportable) {
            return Err(device.unsupported(OP, format!("its Vulkan driver exports no {kind} by descriptor")));
        }
        let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(OPAQUE);
        let mut info = vk::SemaphoreCreateInfo::default().push_next(&mut export);
        if timeline {
            info = info.push_next(&mut wanted);
        }
        // SAFETY: the driver was asked whether it makes such semaphores; the structures live through the call.
        let semaphore =
            unsafe { device.device.create_semaphore(&info, None) }.map_err(device.failed("vkCreateSemaphore"))?;
        Ok(Self { device: Rc::clone(device), semaphore })
    }

    /// A new descriptor of the semaphore.
    pub(crate) fn fd(&self) -> Result<OwnedFd> {
        let Some(functions) = &self.device.semaphore_fd else {
            return Err(self.device.unsupported(OP, "VK_KHR_external_semaphore_fd is not listed".into()));
        };
        let info = vk::SemaphoreGetFdInfoKHR::default().semaphore(self.semaphore).handle_type(OPAQUE);
        // SAFETY: the semaphore is of this device and was made to be exported.
        let fd = unsafe { functions.get_semaphore_fd(&info) };
        let fd = fd.map_err(self.device.failed("vkGetSemaphoreFdKHR"))?;
        // SAFETY: the descriptor is new and ours.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

impl Drop for VulkanSemaphore {
    fn drop(&mut self) {
        // SAFETY: made once of this device, which is alive; nothing that uses it was submitted to Vulkan.
        unsafe { self.device.device.destroy_semaphore(self.semaphore, None) }
    }
}
