//! Extensions and features that an engine should enable when it creates its device.

use crate::context::engine::RawVulkan;
use crate::sharing::DeviceNeeds;
use ash::vk;
use interop_core::describe::error::call;
use interop_core::{Error, Result};

/// Returns the extensions and features that the engine should enable when it creates its device, and the use of each,
/// so that every path works. A device without them works by the remaining paths.
///
/// # Errors
/// [`Error::Unsupported`] where the driver is older than Vulkan 1.1; [`Error::Driver`] for errors of the driver.
///
/// # Safety
/// The physical device is of this instance, which was made for Vulkan 1.1 or later.
pub unsafe fn device_extensions(instance: &ash::Instance, physical: vk::PhysicalDevice) -> Result<DeviceNeeds> {
    call("device_extensions", || {
        // SAFETY: the caller's promise.
        let about = unsafe { instance.get_physical_device_properties(physical) };
        let name = about.device_name_as_c_str().map_or("a device".into(), |name| name.to_string_lossy().into_owned());
        if about.api_version < vk::API_VERSION_1_1 {
            let reason = "its driver is older than Vulkan 1.1; update it";
            return Err(Error::unsupported(name, reason));
        }
        // SAFETY: as above, and the device is of Vulkan 1.1.
        unsafe { DeviceNeeds::of(instance, physical, &name) }
    })
}

/// [`device_extensions`] for raw handles. Device and queue are ignored.
///
/// # Errors
/// Those of [`device_extensions`], and [`Error::InvalidInput`] for null handles.
///
/// # Safety
/// The promises of [`device_extensions`]; the function is `vkGetInstanceProcAddr` of the instance's loader, or null.
pub unsafe fn device_extensions_raw(raw: &RawVulkan) -> Result<DeviceNeeds> {
    // SAFETY: the caller's promise.
    let (instance, physical) = unsafe { raw.instance_functions() }
        .ok_or_else(|| Error::refused("vkGetInstanceProcAddr, VkInstance or VkPhysicalDevice is null"))?;
    // SAFETY: as above.
    unsafe { device_extensions(&instance, physical) }
}
