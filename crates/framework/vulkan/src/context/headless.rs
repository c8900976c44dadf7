//! Vulkan devices that the display creates itself.

use crate::context::engine::VulkanEngine;
use crate::sharing::{Candidate, DeviceNeeds, Instance, OwnDevice, failure, loader};
use ash::vk;
use interop_core::{DeviceIdentity, Error, Result};

/// Options for choosing the device that the display creates itself.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct VulkanOptions {
    /// Only devices whose name contains this are considered; case does not matter.
    pub name: Option<String>,
    /// The device that is preferred over all others (matched by UUID, otherwise by LUID). Give the compute device, so
    /// that frames are shown where they are computed.
    pub same_device_as: Option<DeviceIdentity>,
}

interop_core::setters!(VulkanOptions {
    /// Considers only devices whose name contains this.
    with_name(name: impl Into<String> => Some(name.into()));
    /// Prefers this device over all others.
    with_same_device_as(same_device_as: impl Into<Option<DeviceIdentity>>);
});

fn unavailable(reason: String) -> Error {
    let hint =
        "Install the Vulkan loader and driver of the GPU (libvulkan1, mesa-vulkan-drivers), or allow another one.";
    Error::unavailable("a Vulkan device", reason, hint)
}

/// Returns the rank of a candidate; smaller is better.
fn order(options: &VulkanOptions, candidate: &Candidate) -> (bool, u8) {
    let same = options.same_device_as.as_ref().is_some_and(|wanted| {
        wanted.uuid == Some(candidate.ids.uuid) || (wanted.luid.is_some() && wanted.luid == candidate.ids.luid)
    });
    let rank = match candidate.kind {
        vk::PhysicalDeviceType::DISCRETE_GPU => 0,
        vk::PhysicalDeviceType::INTEGRATED_GPU => 1,
        vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
        vk::PhysicalDeviceType::CPU => 4,
        _ => 3,
    };
    (!same, rank)
}

fn choose(instance: &Instance, options: &VulkanOptions) -> Result<Candidate> {
    let mut found = instance.candidates("Vulkan")?;
    let listed: Vec<_> = found.iter().map(|candidate| candidate.name.clone()).collect();
    if let Some(part) = &options.name {
        let part = part.to_lowercase();
        found.retain(|candidate| candidate.name.to_lowercase().contains(&part));
    }
    // Among equals, the first in the driver's order wins.
    found.into_iter().min_by_key(|candidate| order(options, candidate)).ok_or_else(|| {
        unavailable(match (&options.name, listed.is_empty()) {
            (Some(part), false) => format!("no device's name contains '{part}'; listed are {}", listed.join(", ")),
            _ => "the Vulkan loader lists no device of Vulkan 1.1 or later".into(),
        })
    })
}

/// Opens a device with all extensions and features that this crate uses and the driver has.
pub(crate) fn open(options: &VulkanOptions) -> Result<VulkanEngine> {
    let entry = loader().map_err(|reason| unavailable(format!("the Vulkan loader could not be loaded: {reason}")))?;
    let own = Instance::get("Vulkan")?;
    let chosen = choose(own, options)?;
    let (instance, physical, name) = (own.raw(), chosen.physical, &chosen.name);
    // SAFETY: the physical device is of this instance, both of Vulkan 1.1.
    let (needs, families) = unsafe {
        (DeviceNeeds::of(instance, physical, name)?, instance.get_physical_device_queue_family_properties(physical))
    };
    let first = |wanted| families.iter().position(|family| family.queue_flags.contains(wanted));
    let family = first(vk::QueueFlags::GRAPHICS).or_else(|| first(vk::QueueFlags::COMPUTE));
    let family = family.and_then(|family| u32::try_from(family).ok());
    let family = family.ok_or_else(|| unavailable(format!("{name} has no queue that draws or computes")))?;
    let timeline = needs.timeline_semaphore && chosen.version >= vk::API_VERSION_1_2;
    let mut counters = vk::PhysicalDeviceTimelineSemaphoreFeatures::default().timeline_semaphore(true);
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family).queue_priorities(&[1.0])];
    let names = needs.names();
    let pointers: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
    // SAFETY: as above.
    let has = unsafe { instance.get_physical_device_features(physical) }.shader_storage_image_extended_formats;
    let features = vk::PhysicalDeviceFeatures { shader_storage_image_extended_formats: has, ..Default::default() };
    let mut info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_extension_names(&pointers)
        .enabled_features(&features);
    if timeline {
        info = info.push_next(&mut counters);
    }
    // SAFETY: the driver lists extensions, feature and family. The instance stays; the display keeps the device until nothing
    // of it is left.
    let own = unsafe { OwnDevice::create(instance, physical, &info) }.map_err(failure("vkCreateDevice", name))?;
    // SAFETY: the device was made with one queue of this family.
    let queue = unsafe { own.device().get_device_queue(family, 0) };
    let engine = VulkanEngine::new(entry, instance, physical, own.device(), (queue, family), ());
    let engine = engine.with_extensions(names).keeping(own);
    let engine = if has == vk::TRUE { engine.with_extended_storage_formats() } else { engine };
    Ok(if timeline { engine.with_timeline_semaphores() } else { engine })
}
