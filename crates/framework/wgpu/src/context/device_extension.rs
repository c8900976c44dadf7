//! An extension for sharing, as data.

use std::ffi::CStr;

/// A Vulkan extension that [`crate::open_device`] enables in addition to those of wgpu, and its use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceExtension {
    /// Name for `VkDeviceCreateInfo`.
    pub name: &'static CStr,
    /// The features of pixelferry that need it.
    pub used_for: &'static str,
    /// True where the driver lists it; only then may it be enabled.
    pub listed: bool,
}
