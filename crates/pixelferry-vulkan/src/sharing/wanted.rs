//! Extensions and features to switch on when a device is made, so that every path works.

use crate::sharing::memory_host::HOST_EXTENSION;
use crate::sharing::os::{GET_MEMORY_NAME, GET_SEMAPHORE_NAME, MEMORY_EXTENSION, SEMAPHORE_EXTENSION};
use crate::sharing::{Sharing, failure};
use ash::vk;
use interop_core::Result;
use std::ffi::CStr;

/// An extension of a device, and what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceExtension {
    /// The name that `VkDeviceCreateInfo` takes.
    pub name: &'static CStr,
    /// A function that only devices with it have.
    pub function: &'static CStr,
    /// Features that it makes work.
    pub used_for: &'static str,
}

/// All of them. Without one, the paths that need it are not offered and the report says why; the others work.
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
        used_for: "pages of the host that are read where they lie (pinned-*)",
    },
];

/// Wanted extensions and features of a physical device, present and absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceNeeds {
    /// To be switched on (`ppEnabledExtensionNames`).
    pub extensions: Vec<DeviceExtension>,
    /// Wanted, but the driver does not list them.
    pub absent: Vec<DeviceExtension>,
    /// True where there is the feature `timelineSemaphore` (`VkPhysicalDeviceTimelineSemaphoreFeatures`), to be switched on:
    /// frames come with a value to wait for, and both sides' queues wait for each other with one semaphore for all frames.
    pub timeline_semaphore: bool,
}

impl DeviceNeeds {
    /// Asks the driver of the device `name`.
    ///
    /// # Errors
    /// What it says.
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
        Ok(Self { extensions, absent, timeline_semaphore: unsafe { Sharing::timelines(instance, physical) } })
    }

    /// The extensions, as `VkDeviceCreateInfo` takes them.
    pub fn names(&self) -> Vec<&'static CStr> {
        self.extensions.iter().map(|extension| extension.name).collect()
    }
}

impl Sharing {
    /// True where the driver has semaphores that count.
    ///
    /// # Safety
    /// The physical device is of this instance; both are of Vulkan 1.1 or later.
    pub unsafe fn timelines(instance: &ash::Instance, physical: vk::PhysicalDevice) -> bool {
        let mut counters = vk::PhysicalDeviceTimelineSemaphoreFeatures::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut counters);
        // SAFETY: the caller's promise; the structures live through the call, and a driver that does not know one of them
        // leaves it as it is.
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        counters.timeline_semaphore == vk::TRUE
    }
}
