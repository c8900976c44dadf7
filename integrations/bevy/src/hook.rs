//! bevy's hook for making its Vulkan device.

use bevy::prelude::App;
use bevy::render::renderer::raw_vulkan_init::RawVulkanInitSettings;

/// Makes bevy create its device with the extensions for sharing memory and semaphores that the driver supports.
pub fn share_memory(app: &mut App) {
    let mut settings = app.world_mut().get_resource_or_init::<RawVulkanInitSettings>();
    #[cfg(any(target_os = "linux", windows))]
    // SAFETY: adds only extensions that the driver supports, and removes nothing.
    unsafe {
        settings.add_create_device_callback(|device, adapter, _| {
            pixelferry::api::wgpu::add_device_extensions(adapter, device.extensions);
        });
    }
    #[cfg(not(any(target_os = "linux", windows)))]
    let _ = &mut settings;
}
