//! Devices with the extensions for sharing memory and semaphores.

use super::Api;
use crate::context::device_extension::DeviceExtension;
use ash::vk;
use interop_core::{DeviceIdentity, DeviceLuid, DeviceUuid, Error, Result};
use pixelferry_vulkan::sharing::{DEVICE_EXTENSIONS, DeviceNeeds, Ids, OwnDevice};
use std::ffi::CStr;

/// Returns the identifiers of the adapter, if its API is Vulkan 1.1 or later.
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

/// Returns the extensions for an engine that creates the adapter's device itself; `None` if its API is not Vulkan.
pub(crate) fn extensions(adapter: &wgpu::Adapter, identity: &DeviceIdentity) -> Option<Result<Vec<DeviceExtension>>> {
    // SAFETY: nothing of the guard's is destroyed.
    let hal = unsafe { adapter.as_hal::<Api>() }?;
    let instance = hal.shared_instance().raw_instance();
    if hal.physical_device_capabilities().properties().api_version < vk::API_VERSION_1_1 {
        let reason = "its driver is older than Vulkan 1.1".into();
        return Some(Err(Error::Unsupported { operation: "device_extensions", device: identity.to_string(), reason }));
    }
    // SAFETY: the physical device is of this instance and of Vulkan 1.1.
    let needs = unsafe { DeviceNeeds::of(instance, hal.raw_physical_device(), &identity.to_string()) };
    let told = |listed| {
        move |known: pixelferry_vulkan::sharing::DeviceExtension| DeviceExtension {
            name: known.name,
            used_for: known.used_for,
            listed,
        }
    };
    Some(needs.map(|needs| {
        needs.extensions.into_iter().map(told(true)).chain(needs.absent.into_iter().map(told(false))).collect()
    }))
}

/// Adds the extensions of [`crate::open_device`] that the driver lists to those with which a device of this adapter is
/// about to be created, for engines that allow this through wgpu-hal's callback
/// ([`wgpu::hal::vulkan::Adapter::open_with_callback`]). None of them needs a feature.
pub fn add_device_extensions(adapter: &wgpu::hal::vulkan::Adapter, extensions: &mut Vec<&'static CStr>) {
    let about = adapter.physical_device_capabilities();
    for name in DEVICE_EXTENSIONS.map(|extension| extension.name) {
        if about.supports_extension(name) && !extensions.contains(&name) {
            extensions.push(name);
        }
    }
}

/// Opens a device; `None` if the adapter's API is not Vulkan.
pub(crate) fn open(
    adapter: &wgpu::Adapter,
    identity: &DeviceIdentity,
    descriptor: &wgpu::DeviceDescriptor<'_>,
) -> Option<Result<(wgpu::Device, wgpu::Queue)>> {
    // SAFETY: nothing of the guard's is destroyed.
    let hal = unsafe { adapter.as_hal::<Api>() }?;
    let features = descriptor.required_features;
    let mut extensions = hal.required_device_extensions(features);
    add_device_extensions(&hal, &mut extensions);
    let failed = |reason: String| {
        Error::unavailable(identity, reason, "Update the GPU's Vulkan driver, or request fewer features.")
    };
    // SAFETY: only extensions that the driver lists are added.
    let opened = unsafe { create(&hal, &extensions, descriptor) };
    Some(opened.map_err(failed).and_then(|opened| {
        // SAFETY: the device was opened on this very adapter with these features and limits.
        unsafe { adapter.create_device_from_hal::<Api>(opened, descriptor) }.map_err(|e| failed(e.to_string()))
    }))
}

/// Creates a device as [`wgpu::hal::vulkan::Adapter::open_with_callback`] does; [`OwnDevice`] then destroys it.
///
/// # Safety
/// The adapter lists all extensions, which are at least those that it requires for the features of the descriptor.
unsafe fn create(
    hal: &wgpu::hal::vulkan::Adapter,
    extensions: &[&'static CStr],
    descriptor: &wgpu::DeviceDescriptor<'_>,
) -> std::result::Result<wgpu::hal::OpenDevice<Api>, String> {
    // wgpu-hal also uses the first family.
    const FAMILY: u32 = 0;
    let (features, limits) = (descriptor.required_features, &descriptor.required_limits);
    let mut enabled = hal.physical_device_features(extensions, features);
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(FAMILY).queue_priorities(&[1.0])];
    let names: Vec<_> = extensions.iter().map(|name| name.as_ptr()).collect();
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
    let info = enabled.add_to_device_create(info);
    let instance = hal.shared_instance().raw_instance();
    // SAFETY: the caller's promise; the structures live through the call.
    let device = unsafe { OwnDevice::create(instance, hal.raw_physical_device(), &info) };
    // wgpu drops the callback when it has released the device, and releases the instance later.
    let own = device.map_err(|code| format!("vkCreateDevice returned {code:?}"))?;
    let raw = own.device().clone();
    let let_go: wgpu::hal::DropCallback = Box::new(move || drop(own));
    // SAFETY: the device was made of this adapter with these extensions, features and this family, and lives until the callback
    // goes.
    unsafe {
        hal.device_from_raw(raw, Some(let_go), extensions, features, limits, &descriptor.memory_hints, FAMILY, 0)
            .map_err(|error| error.to_string())
    }
}
