//! Opens the Vulkan device of a GPU that another API identifies by UUID or LUID.

use ash::vk;
use interop_core::describe::threads::SignalMaskGuard;
use interop_core::{DeviceIdentity, Error, Result};
use pixelferry_vulkan::sharing::{Candidate, Instance, MEMORY_EXTENSION, SEMAPHORE_EXTENSION, SharingDevice};
use std::ffi::CStr;
use std::sync::Arc;

/// One logical device. Its images and semaphores keep it alive.
pub(crate) struct VulkanDevice {
    pub(super) sharing: SharingDevice,
}

impl VulkanDevice {
    /// Opens the device whose `deviceUUID`, or otherwise `deviceLUID`, equals that of `gl`.
    pub(crate) fn open(gl: &DeviceIdentity) -> Result<Arc<Self>> {
        if gl.uuid.is_none() && gl.luid.is_none() {
            let reason = "the GL driver reports no device UUID, so its Vulkan device cannot be identified";
            return Err(Error::unsupported(gl, reason));
        }
        let instance = Instance::get(&gl.name)?;
        let found = instance.device_of(&gl.name, gl.uuid, gl.luid)?;
        Self::new(instance, &found).map(Arc::new)
    }

    fn new(instance: &'static Instance, chosen: &Candidate) -> Result<Self> {
        let (physical, name) = (chosen.physical, &chosen.name);
        // SAFETY: the physical device is of this instance; the structures live through the calls, and every function is
        // of Vulkan 1.1 or gated by the device's version.
        unsafe {
            let extensions = instance
                .raw()
                .enumerate_device_extension_properties(physical)
                .map_err(failure("vkEnumerateDeviceExtensionProperties", name))?;
            let has = |wanted: &CStr| extensions.iter().any(|e| e.extension_name_as_c_str() == Ok(wanted));
            if !has(MEMORY_EXTENSION) {
                let reason = format!("its Vulkan driver does not list {}", MEMORY_EXTENSION.to_string_lossy());
                return Err(Error::unsupported(name, reason));
            }
            let wanted: Vec<_> = [MEMORY_EXTENSION, SEMAPHORE_EXTENSION].into_iter().filter(|name| has(name)).collect();
            let names: Vec<_> = wanted.iter().map(|name| name.as_ptr()).collect();
            let mut counters = vk::PhysicalDeviceTimelineSemaphoreFeatures::default();
            if chosen.version >= vk::API_VERSION_1_2 {
                let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut counters);
                instance.raw().get_physical_device_features2(physical, &mut features);
            }
            let timeline = counters.timeline_semaphore == vk::TRUE;
            // A device needs a queue, although nothing is submitted to it.
            let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
            let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
            if timeline {
                info = info.push_next(&mut counters);
            }
            let _blocked = SignalMaskGuard::new();
            let device =
                instance.raw().create_device(physical, &info, None).map_err(failure("vkCreateDevice", name))?;
            let (instance, made_with) = (instance.raw().clone(), |name: &CStr| wanted.contains(&name));
            let name = label(name);
            Ok(Self { sharing: SharingDevice::new(instance, physical, device, made_with, timeline, name) })
        }
    }
}

impl Drop for VulkanDevice {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // SAFETY: images and semaphores keep the device, so none is left; nothing was ever submitted.
        unsafe { self.sharing.device().destroy_device(None) }
    }
}

fn failure(operation: &'static str, device: &str) -> impl FnOnce(vk::Result) -> Error {
    pixelferry_vulkan::sharing::failure(operation, &label(device))
}

/// Returns the name of a device in errors.
fn label(name: &str) -> String {
    format!("Vulkan {name}")
}
