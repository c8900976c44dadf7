//! Extensions and features to enable when a device is created, so that every path works.

use crate::sharing::memory_host::HOST_EXTENSION;
use crate::sharing::os::{GET_MEMORY_NAME, GET_SEMAPHORE_NAME, MEMORY_EXTENSION, SEMAPHORE_EXTENSION};
use crate::sharing::{SharingDevice, failure};
use ash::vk;
use interop_core::Result;
use std::ffi::CStr;

/// An extension of a device, and its use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceExtension {
    /// Name for `VkDeviceCreateInfo`.
    pub name: &'static CStr,
    /// A function that only devices with the extension have.
    pub function: &'static CStr,
    /// The features of pixelferry that need it.
    pub used_for: &'static str,
}

/// All extensions that are used. Without one, the paths that need it are unavailable and the report gives the reason;
/// the others work.
pub const DEVICE_EXTENSIONS: [DeviceExtension; 3] = [
    DeviceExtension {
        name: MEMORY_EXTENSION,
        function: GET_MEMORY_NAME,
        used_for: "memory that one device writes and the other reads, without the host (external-*, exported-*)",
    },
    DeviceExtension {
        name: SEMAPHORE_EXTENSION,
        function: GET_SEMAPHORE_NAME,
        used_for: "semaphores for which the queues of both sides wait, so that the host waits for neither",
    },
    DeviceExtension {
        name: HOST_EXTENSION,
        function: c"vkGetMemoryHostPointerPropertiesEXT",
        used_for: "host pages that the device reads in place (pinned-*)",
    },
];

/// The extensions and features of a physical device that are useful for sharing, present and absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceNeeds {
    /// Extensions to enable (`ppEnabledExtensionNames`).
    pub extensions: Vec<DeviceExtension>,
    /// Useful extensions that the driver does not list.
    pub absent: Vec<DeviceExtension>,
    /// True where the feature `timelineSemaphore` (`VkPhysicalDeviceTimelineSemaphoreFeatures`) is present and should
    /// be enabled: frames then come with a value to wait for, and the queues of both sides wait for each other with one
    /// semaphore for all frames.
    pub timeline_semaphore: bool,
}

impl DeviceNeeds {
    /// Queries the driver of the device `name`.
    ///
    /// # Errors
    /// Errors of the driver.
    ///
    /// # Safety
    /// The physical device is of this instance; both are of Vulkan 1.1 or later.
    pub unsafe fn of(instance: &ash::Instance, physical: vk::PhysicalDevice, name: &str) -> Result<Self> {
        // SAFETY: the physical device is of this instance.
        let listed = unsafe { instance.enumerate_device_extension_properties(physical) };
        let listed = listed.map_err(failure("vkEnumerateDeviceExtensionProperties", name))?;
        let has = |wanted: &CStr| listed.iter().any(|e| e.extension_name_as_c_str() == Ok(wanted));
        let (extensions, absent) = DEVICE_EXTENSIONS.into_iter().partition(|wanted| has(wanted.name));
        // SAFETY: the caller's promise.
        Ok(Self { extensions, absent, timeline_semaphore: unsafe { SharingDevice::timelines(instance, physical) } })
    }

    /// Returns the names of the extensions, for `VkDeviceCreateInfo`.
    pub fn names(&self) -> Vec<&'static CStr> {
        self.extensions.iter().map(|extension| extension.name).collect()
    }
}

impl SharingDevice {
    /// Returns true where the driver has timeline semaphores.
    ///
    /// # Safety
    /// The physical device is of this instance; both are of Vulkan 1.1 or later.
    pub unsafe fn timelines(instance: &ash::Instance, physical: vk::PhysicalDevice) -> bool {
        let mut counters = vk::PhysicalDeviceTimelineSemaphoreFeatures::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut counters);
        // SAFETY: the caller's promise; the structures live through the call, and a driver that does not support one of
        // them leaves it unchanged.
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        counters.timeline_semaphore == vk::TRUE
    }
}
