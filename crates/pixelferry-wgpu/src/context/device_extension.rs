//! An extension by which something is shared, as data.

use std::ffi::CStr;

/// An extension of Vulkan's that [`crate::open_device`] switches on beside those that wgpu asks for, and what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceExtension {
    /// The name that `VkDeviceCreateInfo` takes.
    pub name: &'static CStr,
    /// Features that it makes work.
    pub used_for: &'static str,
    /// True where the driver lists it; only then may it be switched on.
    pub listed: bool,
}
