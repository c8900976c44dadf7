//! Identity of the device.

use crate::sharing::Ids;
use ash::{ext, vk};
use interop_core::devices::identity::vendor_name;
use interop_core::{Api, DeviceIdentity, MemoryKind};
use std::ffi::CStr;

/// Queries the identity of a device from the driver.
///
/// # Safety
/// The physical device is of this instance; both are of Vulkan 1.1 or later.
pub(crate) unsafe fn identify(instance: &ash::Instance, physical: vk::PhysicalDevice) -> DeviceIdentity {
    // SAFETY: the caller's promise.
    let (about, ids, listed) = unsafe {
        (
            instance.get_physical_device_properties(physical),
            Ids::of(instance, physical),
            instance.enumerate_device_extension_properties(physical).unwrap_or_default(),
        )
    };
    let lists = |name: &CStr| listed.iter().any(|e| e.extension_name_as_c_str() == Ok(name));
    let (mut driver, mut place) =
        (vk::PhysicalDeviceDriverProperties::default(), vk::PhysicalDevicePCIBusInfoPropertiesEXT::default());
    let named = about.api_version >= vk::API_VERSION_1_2 || lists(ash::khr::driver_properties::NAME);
    let placed = lists(ext::pci_bus_info::NAME);
    let mut properties = vk::PhysicalDeviceProperties2::default();
    if named {
        properties = properties.push_next(&mut driver);
    }
    if placed {
        properties = properties.push_next(&mut place);
    }
    // SAFETY: as above; the driver knows the structures, which live through the call.
    unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
    let text = |text: Result<&CStr, _>| text.map_or(String::new(), |text: &CStr| text.to_string_lossy().into_owned());
    let parts = [text(driver.driver_name_as_c_str().map_err(drop)), text(driver.driver_info_as_c_str().map_err(drop))];
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let version = vk::api_version_major(about.api_version);
    let minor = vk::api_version_minor(about.api_version);
    DeviceIdentity::new(Api::Vulkan, text(about.device_name_as_c_str().map_err(drop)))
        .with_vendor(vendor_name(about.vendor_id))
        .with_driver(format!("Vulkan {version}.{minor} {}", parts.join(" ")))
        .with_uuid(ids.uuid)
        .with_luid(ids.luid)
        .with_pci(placed.then(|| {
            let (domain, bus, device) = (place.pci_domain, place.pci_bus, place.pci_device);
            format!("{domain:04x}:{bus:02x}:{device:02x}.{:x}", place.pci_function)
        }))
        .with_memory(match about.device_type {
            vk::PhysicalDeviceType::CPU => MemoryKind::Host,
            vk::PhysicalDeviceType::INTEGRATED_GPU => MemoryKind::Integrated,
            vk::PhysicalDeviceType::DISCRETE_GPU => MemoryKind::Discrete,
            _ => MemoryKind::Unknown,
        })
        .with_software(about.device_type == vk::PhysicalDeviceType::CPU)
}
