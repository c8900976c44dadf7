//! Identity of the device.

use interop_core::devices::identity::vendor_name;
use interop_core::{Api, DeviceIdentity, MemoryKind};

/// Returns the identity of an adapter.
pub(crate) fn identify(adapter: &wgpu::Adapter) -> DeviceIdentity {
    let info = adapter.get_info();
    let memory = match info.device_type {
        wgpu::DeviceType::Cpu => MemoryKind::Host,
        wgpu::DeviceType::IntegratedGpu => MemoryKind::Integrated,
        wgpu::DeviceType::DiscreteGpu => MemoryKind::Discrete,
        wgpu::DeviceType::VirtualGpu | wgpu::DeviceType::Other => MemoryKind::Unknown,
    };
    let driver = [info.driver, info.driver_info].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
    let (uuid, luid) = crate::context::vulkan::ids(adapter);
    DeviceIdentity::new(Api::Wgpu, info.name)
        .with_vendor(vendor_name(info.vendor))
        .with_driver(format!("{} {}", info.backend, driver.join(" ")))
        .with_uuid(uuid)
        .with_luid(luid)
        .with_pci(Some(info.device_pci_bus_id).filter(|address| !address.is_empty()))
        .with_memory(memory)
        .with_software(info.device_type == wgpu::DeviceType::Cpu)
}
