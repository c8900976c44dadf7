//! Who draws.

use interop_core::{Api, DeviceIdentity, MemoryKind};

/// PCI vendors, and the Khronos numbers of those that have none.
fn vendor(number: u32) -> String {
    match number {
        0x1002 => "AMD".into(),
        0x10de => "NVIDIA".into(),
        0x13b5 => "Arm".into(),
        0x5143 => "Qualcomm".into(),
        0x8086 => "Intel".into(),
        0x1_0005 => "Mesa".into(),
        other => format!("vendor {other:#06x}"),
    }
}

/// What an adapter says of itself.
pub(crate) fn identify(adapter: &wgpu::Adapter) -> DeviceIdentity {
    let info = adapter.get_info();
    let memory = match info.device_type {
        wgpu::DeviceType::Cpu => MemoryKind::Host,
        wgpu::DeviceType::IntegratedGpu => MemoryKind::Integrated,
        wgpu::DeviceType::DiscreteGpu => MemoryKind::Discrete,
        wgpu::DeviceType::VirtualGpu | wgpu::DeviceType::Other => MemoryKind::Unknown,
    };
    let driver = [info.driver, info.driver_info].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>();
    let (uuid, luid) = crate::vulkan::ids(adapter);
    DeviceIdentity {
        api: Api::Wgpu,
        name: info.name,
        vendor: vendor(info.vendor),
        driver: format!("{} {}", info.backend, driver.join(" ")),
        uuid,
        luid,
        ordinal: None,
        pci: Some(info.device_pci_bus_id).filter(|address| !address.is_empty()),
        memory,
        software: info.device_type == wgpu::DeviceType::Cpu,
    }
}

#[cfg(test)]
mod tests {
    use super::vendor;

    #[test]
    fn vendors_by_number() {
        assert_eq!(vendor(0x10de), "NVIDIA");
        assert_eq!(vendor(0x10005), "Mesa");
        assert_eq!(vendor(0x1234), "vendor 0x1234");
    }
}
