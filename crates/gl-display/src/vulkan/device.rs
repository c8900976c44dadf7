//! The Vulkan device that is the GL context's own, by its UUID (`VkPhysicalDeviceIDProperties`).

use super::failed;
use ash::{khr, vk};
use interop_core::{DeviceIdentity, DeviceUuid, Error, Result};
use std::ffi::CStr;

/// Names of this crate's errors before a device is found.
const LOADER: &str = "Vulkan";

/// Dropped after every device made of it.
struct Instance {
    raw: ash::Instance,
    /// The library that its functions are in.
    _entry: ash::Entry,
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: made once, and its device was destroyed before.
        unsafe { self.raw.destroy_instance(None) }
    }
}

/// A device with what sharing by file descriptors needs. It has a queue, since it must, and uses none.
pub(crate) struct Device {
    pub(super) raw: ash::Device,
    pub(super) memory_fd: khr::external_memory_fd::Device,
    /// Where the device shares semaphores.
    pub(super) semaphore_fd: Option<khr::external_semaphore_fd::Device>,
    /// Semaphores with counters.
    pub(super) timeline: bool,
    pub(super) physical: vk::PhysicalDevice,
    pub(super) name: String,
    instance: Instance,
}

/// A device that Vulkan lists.
struct Candidate {
    physical: vk::PhysicalDevice,
    name: String,
    uuid: DeviceUuid,
}

impl Instance {
    /// Version 1.1 is where external memory began; no layers and no extensions are asked for.
    fn new(entry: &ash::Entry, gl: &DeviceIdentity, operation: &'static str) -> Result<Self> {
        // SAFETY: asks the loader for its version.
        let version = unsafe { entry.try_enumerate_instance_version() };
        let version = version.map_err(failed("vkEnumerateInstanceVersion", LOADER))?.unwrap_or(vk::API_VERSION_1_0);
        if version < vk::API_VERSION_1_1 {
            let reason = "the Vulkan loader is of version 1.0; 1.1 is needed".into();
            return Err(Error::Unsupported { operation, device: gl.name.clone(), reason });
        }
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_1);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: the structures live through the call.
        let raw = unsafe { entry.create_instance(&info, None) }.map_err(failed("vkCreateInstance", LOADER))?;
        Ok(Self { raw, _entry: entry.clone() })
    }

    fn candidates(&self) -> Result<Vec<Candidate>> {
        let instance = &self.raw;
        // SAFETY: the instance lives; version 1.1 is asked of devices that have it only.
        unsafe {
            let all = instance.enumerate_physical_devices().map_err(failed("vkEnumeratePhysicalDevices", LOADER))?;
            let has_1_1 =
                |p: &vk::PhysicalDevice| instance.get_physical_device_properties(*p).api_version >= vk::API_VERSION_1_1;
            Ok(all.into_iter().filter(has_1_1).map(|physical| self.describe(physical)).collect())
        }
    }

    /// # Safety
    /// The device is of this instance and has Vulkan 1.1.
    unsafe fn describe(&self, physical: vk::PhysicalDevice) -> Candidate {
        let mut id = vk::PhysicalDeviceIDProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut id);
        // SAFETY: the caller's promise.
        unsafe { self.raw.get_physical_device_properties2(physical, &mut properties) };
        let name = properties.properties.device_name_as_c_str().map(CStr::to_string_lossy).unwrap_or_default();
        Candidate { physical, name: name.into_owned(), uuid: DeviceUuid(id.device_uuid) }
    }
}

impl Device {
    /// Opens the device that is `gl`.
    pub(super) fn open(entry: &ash::Entry, gl: &DeviceIdentity, operation: &'static str) -> Result<Self> {
        let unsupported = |reason: String| Error::Unsupported { operation, device: gl.name.clone(), reason };
        let Some(uuid) = gl.uuid else {
            let reason =
                "the driver does not tell the device's UUID (GL_EXT_memory_object), by which Vulkan's is found";
            return Err(unsupported(reason.into()));
        };
        let instance = Instance::new(entry, gl, operation)?;
        let all = instance.candidates()?;
        let Some(Candidate { physical, name, .. }) = all.iter().find(|c| c.uuid == uuid) else {
            let listed: Vec<_> = all.iter().map(|c| format!("{} ({})", c.name, c.uuid)).collect();
            let listed = if listed.is_empty() { "no device".into() } else { listed.join(", ") };
            return Err(unsupported(format!(
                "its UUID is {uuid}, and Vulkan lists {listed}; install the Vulkan driver of the same GPU"
            )));
        };
        // SAFETY: the device was just listed by the instance; it has Vulkan 1.1.
        unsafe { Self::create(instance, *physical, name.clone(), &unsupported) }
    }

    /// # Safety
    /// `physical` is of `instance` and has Vulkan 1.1.
    unsafe fn create(
        instance: Instance,
        physical: vk::PhysicalDevice,
        name: String,
        unsupported: &dyn Fn(String) -> Error,
    ) -> Result<Self> {
        // SAFETY: the caller's promise.
        let listed = unsafe { instance.raw.enumerate_device_extension_properties(physical) };
        let listed = listed.map_err(failed("vkEnumerateDeviceExtensionProperties", &name))?;
        let has = |wanted: &CStr| listed.iter().any(|e| e.extension_name_as_c_str() == Ok(wanted));
        if !has(khr::external_memory_fd::NAME) {
            return Err(unsupported(format!("Vulkan's {name} lists no VK_KHR_external_memory_fd")));
        }
        let semaphores = has(khr::external_semaphore_fd::NAME);
        let mut timeline = vk::PhysicalDeviceTimelineSemaphoreFeatures::default();
        if semaphores && has(khr::timeline_semaphore::NAME) {
            let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut timeline);
            // SAFETY: as above; the extension that the structure belongs to is listed.
            unsafe { instance.raw.get_physical_device_features2(physical, &mut features) };
        }
        let has_timeline = timeline.timeline_semaphore == vk::TRUE;
        let mut names = vec![khr::external_memory_fd::NAME.as_ptr()];
        names.extend(semaphores.then_some(khr::external_semaphore_fd::NAME.as_ptr()));
        names.extend(has_timeline.then_some(khr::timeline_semaphore::NAME.as_ptr()));
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
        let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
        let mut wanted = vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true);
        if has_timeline {
            info = info.push_next(&mut wanted);
        }
        // SAFETY: as above; family 0 is there in every device, and what is asked for was listed.
        let raw = unsafe { instance.raw.create_device(physical, &info, None) };
        let raw = raw.map_err(failed("vkCreateDevice", &name))?;
        let memory_fd = khr::external_memory_fd::Device::new(&instance.raw, &raw);
        let semaphore_fd = semaphores.then(|| khr::external_semaphore_fd::Device::new(&instance.raw, &raw));
        Ok(Self { raw, memory_fd, semaphore_fd, timeline: has_timeline, physical, name, instance })
    }

    /// For questions about the physical device.
    pub(super) fn instance(&self) -> &ash::Instance {
        &self.instance.raw
    }

    /// What this device cannot do.
    pub(super) fn unsupported(&self, operation: &'static str, reason: String) -> Error {
        Error::Unsupported { operation, device: format!("Vulkan {}", self.name), reason }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: made once; all that was made of it holds an `Rc` of it, and nothing was submitted.
        unsafe { self.raw.destroy_device(None) }
    }
}
