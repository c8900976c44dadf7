//! `VK_EXT_external_memory_host`: its functions and its alignment.

use ash::{ext, vk};
use std::ffi::CStr;

/// The extension.
pub const HOST_EXTENSION: &CStr = ext::external_memory_host::NAME;

/// The functions of the extension.
pub(crate) struct MemoryHost {
    pub(crate) functions: ext::external_memory_host::Device,
    /// Addresses and sizes must be multiples of this.
    pub(crate) alignment: usize,
}

impl MemoryHost {
    /// Loads the functions; `None` where the device was created without the extension.
    ///
    /// # Safety
    /// The conditions of [`crate::sharing::SharingDevice::new`] hold.
    pub(crate) unsafe fn of(
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        device: &ash::Device,
        has: impl Fn(&CStr) -> bool,
    ) -> Option<Self> {
        if !has(HOST_EXTENSION) {
            return None;
        }
        let mut host = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut host);
        // SAFETY: the physical device is of this instance and of Vulkan 1.1; the structures live through the call.
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
        let alignment = usize::try_from(host.min_imported_host_pointer_alignment).unwrap_or(usize::MAX).max(1);
        Some(Self { functions: ext::external_memory_host::Device::new(instance, device), alignment })
    }
}
