//! [`OwnDevice`].

use ash::vk;
use interop_core::describe::threads::SignalMaskGuard;

/// A logical device that this process created. Destroyed when dropped.
pub struct OwnDevice(ash::Device);

impl OwnDevice {
    /// Creates the device (`vkCreateDevice`).
    ///
    /// # Safety
    /// The physical device belongs to this instance and supports what `info` requests. When this is dropped, no objects
    /// of the device are left, and the instance still lives.
    pub unsafe fn create(
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        info: &vk::DeviceCreateInfo<'_>,
    ) -> std::result::Result<Self, vk::Result> {
        let _blocked = SignalMaskGuard::new();
        // SAFETY: the caller's promise.
        unsafe { instance.create_device(physical, info, None) }.map(Self)
    }

    /// Returns the device's functions.
    pub fn device(&self) -> &ash::Device {
        &self.0
    }
}

impl Drop for OwnDevice {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // SAFETY: promised by the caller of `create`.
        unsafe { self.0.destroy_device(None) };
    }
}
