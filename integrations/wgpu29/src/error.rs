//! Errors between the two.

use thiserror::Error;

/// A failure of wgpu's, of pixelferry's, or of what the one cannot give the other.
#[derive(Debug, Error)]
pub enum GuestError {
    /// wgpu found no Vulkan device.
    #[error("wgpu found no Vulkan device: {0}. Install a Vulkan driver")]
    NoAdapter(#[from] wgpu::RequestAdapterError),
    /// The device could not be made.
    #[error("wgpu could not make a device on {device}: {reason}")]
    NoDevice {
        /// Device that could not be made.
        device: String,
        /// Reason of wgpu.
        reason: String,
    },
    /// The device, texture or encoder is not of wgpu's Vulkan.
    #[error("{0} is not of wgpu's Vulkan")]
    NotVulkan(&'static str),
    /// Compute, link or display.
    #[error(transparent)]
    Core(#[from] pixelferry::Error),
}
