//! A device with the extensions by which memory and semaphores are shared.

use super::Api;
use ash::{ext, vk};
use interop_core::{DeviceIdentity, DeviceLuid, DeviceUuid, Error, Result};
use std::ffi::CStr;
use vulkan_sharing::{Ids, SEMAPHORE_EXTENSION};

/// What wgpu does not ask for itself.
const EXTENSIONS: [&CStr; 2] = [ext::external_memory_host::NAME, SEMAPHORE_EXTENSION];

/// Who the adapter is, where Vulkan 1.1 or later drives it.
pub(crate) fn ids(adapter: &wgpu::Adapter) -> (Option<DeviceUuid>, Option<DeviceLuid>) {
    let ids = asked(adapter);
    (ids.map(|ids| ids.uuid), ids.and_then(|ids| ids.luid))
}

fn asked(adapter: &wgpu::Adapter) -> Option<Ids> {
    // SAFETY: nothing of the guard's is destroyed.
    let hal = unsafe { adapter.as_hal::<Api>() }?;
    if hal.physical_device_capabilities().properties().api_version < vk::API_VERSION_1_1 {
        return None;
    }
    let instance = hal.shared_instance().raw_instance();
    // SAFETY: the physical device is of this instance and of Vulkan 1.1.
    Some(unsafe { Ids::of(instance, hal.raw_physical_device()) })
}

/// Opens a device; `None` where the adapter is not Vulkan's.
pub(crate) fn open(
    adapter: &wgpu::Adapter,
    identity: &DeviceIdentity,
    descriptor: &wgpu::DeviceDescriptor<'_>,
) -> Option<Result<(wgpu::Device, wgpu::Queue)>> {
    // SAFETY: nothing of the guard's is destroyed.
    let hal = unsafe { adapter.as_hal::<Api>() }?;
    let wanted: Vec<_> =
        EXTENSIONS.into_iter().filter(|name| hal.physical_device_capabilities().supports_extension(name)).collect();
    let add: Box<wgpu::hal::vulkan::CreateDeviceCallback<'_>> = Box::new(move |args| {
        for name in wanted {
            if !args.extensions.contains(&name) {
                args.extensions.push(name);
            }
        }
    });
    let (features, limits) = (descriptor.required_features, &descriptor.required_limits);
    // SAFETY: only extensions that the driver lists are added, and they need no feature.
    let opened = unsafe { hal.open_with_callback(features, limits, &descriptor.memory_hints, Some(add)) };
    let failed = |reason: String| Error::Unavailable {
        what: identity.to_string(),
        reason,
        hint: "Update the GPU's Vulkan driver, or ask for fewer features.".into(),
    };
    Some(opened.map_err(|e| failed(e.to_string())).and_then(|opened| {
        // SAFETY: the device was opened on this very adapter with these features and limits.
        unsafe { adapter.create_device_from_hal::<Api>(opened, descriptor) }.map_err(|e| failed(e.to_string()))
    }))
}
