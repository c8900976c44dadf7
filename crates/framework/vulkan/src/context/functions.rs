//! Function tables of an engine's objects, and the checks before their use: ash ends the program when a function is
//! called that the driver lacks.

use crate::context::engine::VulkanEngine;
use crate::sharing::{DEVICE_EXTENSIONS, SharingDevice};
use ash::vk;
use interop_core::{Error, Result};
use std::ffi::CStr;

/// The instance functions of Vulkan 1.1 that this crate calls.
const INSTANCE_FUNCTIONS: [&CStr; 5] = [
    c"vkGetPhysicalDeviceProperties2",
    c"vkGetPhysicalDeviceFeatures2",
    c"vkGetPhysicalDeviceImageFormatProperties2",
    c"vkGetPhysicalDeviceExternalBufferProperties",
    c"vkGetPhysicalDeviceExternalSemaphoreProperties",
];

/// Function tables of one instance and one device.
pub(crate) struct Functions {
    pub instance: ash::Instance,
    pub device: ash::Device,
}

/// Name in errors before the device's own name is known.
const ENGINE: &str = "the engine's Vulkan device";

fn refused(problem: impl Into<String>) -> Error {
    Error::refused(problem)
}

/// Loads the tables.
///
/// # Safety
/// The promises of [`crate::VulkanDisplay::from_engine`].
pub(crate) unsafe fn load(engine: &VulkanEngine) -> Result<Functions> {
    use vk::Handle;
    let handles = [
        ("VkInstance", engine.instance.is_null()),
        ("VkPhysicalDevice", engine.physical.is_null()),
        ("VkDevice", engine.device.is_null()),
        ("VkQueue", engine.queue.is_null()),
    ];
    if let Some((name, _)) = handles.iter().find(|(_, null)| *null) {
        return Err(refused(format!("the {name} is null; pass the engine's handle")));
    }
    let get = engine.get_instance_proc_addr;
    for name in INSTANCE_FUNCTIONS {
        // SAFETY: the instance is one of this loader's, by the caller's promise.
        if unsafe { get(engine.instance, name.as_ptr()) }.is_none() {
            let reason = format!("its instance has no {}: create it for Vulkan 1.1 or later", name.to_string_lossy());
            return Err(Error::unsupported(ENGINE, reason));
        }
    }
    let loader = ash::StaticFn { get_instance_proc_addr: get };
    // SAFETY: both handles are alive and belong together, by the caller's promise.
    let (instance, device) = unsafe {
        let instance = ash::Instance::load(&loader, engine.instance);
        let device = ash::Device::load(instance.fp_v1_0(), engine.device);
        (instance, device)
    };
    Ok(Functions { instance, device })
}

/// Checks the engine's statements about its device, as far as the driver reports them. Returns the abilities of the
/// queue's family.
///
/// # Safety
/// The promises of [`crate::VulkanDisplay::from_engine`].
pub(crate) unsafe fn check(engine: &VulkanEngine, functions: &Functions) -> Result<vk::QueueFlags> {
    let Functions { instance, device } = functions;
    // SAFETY: the physical device is of this instance, by the caller's promise.
    let (version, families) = unsafe {
        let properties = instance.get_physical_device_properties(engine.physical);
        (properties.api_version, instance.get_physical_device_queue_family_properties(engine.physical))
    };
    if version < vk::API_VERSION_1_1 {
        let reason = "its driver is older than Vulkan 1.1; update it";
        return Err(Error::unsupported(ENGINE, reason));
    }
    for family in engine.readers.iter().chain([&engine.family]) {
        if families.get(*family as usize).is_none() {
            return Err(refused(format!("there is no queue family {family}; the device has {}", families.len())));
        }
    }
    let flags = families.get(engine.family as usize).map(|family| family.queue_flags).unwrap_or_default();
    if !flags.intersects(vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE) {
        let problem = format!("queues of family {} only copy; pass a queue that draws or computes", engine.family);
        return Err(refused(problem));
    }
    for extension in DEVICE_EXTENSIONS.iter().filter(|known| has(engine, known.name)) {
        let get = instance.fp_v1_0().get_device_proc_addr;
        // SAFETY: the device is alive, by the caller's promise.
        if unsafe { get(device.handle(), extension.function.as_ptr()) }.is_none() {
            let (name, function) = (extension.name.to_string_lossy(), extension.function.to_string_lossy());
            return Err(refused(format!("the device has no {function}: it was made without {name}")));
        }
    }
    // SAFETY: as above.
    let features = unsafe { instance.get_physical_device_features(engine.physical) };
    if engine.storage_formats && features.shader_storage_image_extended_formats == vk::FALSE {
        let problem = "the driver lacks shaderStorageImageExtendedFormats, so the device was made without it";
        return Err(refused(problem));
    }
    // SAFETY: the physical device is of this instance, both of Vulkan 1.1.
    if engine.timeline_semaphore && !unsafe { SharingDevice::timelines(instance, engine.physical) } {
        return Err(refused("the driver lacks the feature timelineSemaphore, so the device was made without it"));
    }
    Ok(flags)
}

/// Returns true where the engine has enabled an extension.
pub(crate) fn has(engine: &VulkanEngine, name: &CStr) -> bool {
    engine.extensions.iter().any(|enabled| enabled.as_c_str() == name)
}
