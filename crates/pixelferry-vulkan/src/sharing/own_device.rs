//! [`OwnDevice`].

use ash::vk;
use interop_core::describe::threads::SignalsBlocked;

/// A device of one's own. Destroyed when dropped.
pub struct OwnDevice(ash::Device);

impl OwnDevice {
    /// Makes it (`vkCreateDevice`).
    ///
    /// # Safety
    /// The physical device is of this instance and offers what `info` asks for. Nothing of the device is left when this is
    /// dropped, and the instance still lives.
    pub unsafe fn create(
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        info: &vk::DeviceCreateInfo<'_>,
    ) -> std::result::Result<Self, vk::Result> {
        let _blocked = SignalsBlocked::new();
        // SAFETY: the caller's promise.
        unsafe { instance.create_device(physical, info, None) }.map(Self)
    }

    /// Its functions.
    pub fn device(&self) -> &ash::Device {
        &self.0
    }
}

impl Drop for OwnDevice {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // SAFETY: the promise of whoever made this.
        unsafe { self.0.destroy_device(None) };
    }
}
