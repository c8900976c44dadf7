//! A device with the extensions by which memory and semaphores are shared.

use super::Api;
use ash::{ext, vk};
use interop_core::{DeviceIdentity, DeviceLuid, DeviceUuid, Error, Result};
use std::ffi::CStr;
use vulkan_sharing::{ADDRESS_EXTENSION, CU_EXTENSION, Ids, SEMAPHORE_EXTENSION};

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
    let takes_cu = takes_cu(&hal);
    let mut addresses = vk::PhysicalDeviceBufferDeviceAddressFeatures::default().buffer_device_address(true);
    let add: Box<wgpu::hal::vulkan::CreateDeviceCallback<'_>> = Box::new(|args| {
        let mut add = |name| {
            let is_new = !args.extensions.contains(&name);
            if is_new {
                args.extensions.push(name);
            }
            is_new
        };
        for name in wanted {
            add(name);
        }
        // Where wgpu asks for the extension itself, for rays, it switches on the feature, too.
        if takes_cu && add(CU_EXTENSION) && add(ADDRESS_EXTENSION) {
            *args.create_info = args.create_info.push_next(&mut addresses);
        }
    });
    let (features, limits) = (descriptor.required_features, &descriptor.required_limits);
    // SAFETY: only extensions that the driver lists are added, and the one feature that one of them needs, which it lists, too.
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

/// Whether a device can be made whose queue takes kernels of CUDA's.
fn takes_cu(adapter: &wgpu::hal::vulkan::Adapter) -> bool {
    let about = adapter.physical_device_capabilities();
    let lists = [CU_EXTENSION, ADDRESS_EXTENSION].into_iter().all(|name| about.supports_extension(name));
    if !lists || about.properties().api_version < vk::API_VERSION_1_2 {
        return false;
    }
    let mut addresses = vk::PhysicalDeviceBufferDeviceAddressFeatures::default();
    let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut addresses);
    let instance = adapter.shared_instance().raw_instance();
    // SAFETY: the physical device is of this instance and of Vulkan 1.2; the structures live through the call.
    unsafe { instance.get_physical_device_features2(adapter.raw_physical_device(), &mut features) };
    addresses.buffer_device_address == vk::TRUE
}
