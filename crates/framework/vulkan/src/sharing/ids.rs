//! Identifiers of a physical device in other APIs.

use ash::vk;
use interop_core::{DeviceLuid, DeviceUuid};

/// Identifiers by which other APIs also know the device (`VkPhysicalDeviceIDProperties`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ids {
    /// `deviceUUID`.
    pub uuid: DeviceUuid,
    /// `deviceLUID`, which devices have on Windows.
    pub luid: Option<DeviceLuid>,
}

impl Ids {
    /// Queries the identifiers.
    ///
    /// # Safety
    /// The physical device belongs to the instance; both are of Vulkan 1.1 or later.
    pub unsafe fn of(instance: &ash::Instance, physical: vk::PhysicalDevice) -> Self {
        let mut id = vk::PhysicalDeviceIDProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut id);
        // SAFETY: the caller's promise; the structures live through the call.
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
        let luid = (id.device_luid_valid == vk::TRUE).then_some(DeviceLuid(id.device_luid));
        Self { uuid: DeviceUuid(id.device_uuid), luid }
    }
}
