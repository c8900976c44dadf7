//! Everything that users may rely on, from the CPU to wgpu, on every path.

use crate::common;
use crate::paths::{conform, ran};
use cpu_fallback::CpuBackend;
use interop_core::conformance::Manner;
use interop_core::{ComputeBackend, Display, PathId};
use pixelferry_testing::{Level, from};
use pixelferry_wgpu::WgpuDisplay;
use std::sync::Arc;

/// An engine may have asked for no storage buffers and no compute shaders.
#[test]
fn every_path_holds_without_storage_buffers() {
    if !from(Level::All) || common::display().is_none() {
        return;
    }
    let adapter = common::adapter();
    let required_limits = common::wgpu::Limits::downlevel_webgl2_defaults();
    let descriptor = common::wgpu::DeviceDescriptor { required_limits, ..Default::default() };
    let (device, queue) = pixelferry_wgpu::open_device(&adapter, &descriptor).unwrap();
    let display: Arc<dyn Display> = WgpuDisplay::from_engine(&adapter, device, queue).unwrap();
    assert!(!display.caps().in_place_images.is_yes());
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let rows = conform(&backend, &display, Manner::default(), &PathId::ALL);
    let copied: Vec<_> = common::host_paths().filter(|path| !path.to_string().ends_with("in-place")).collect();
    ran(&rows, &copied);
}

/// Features to switch on, as listed for an engine that makes its device itself.
#[test]
fn extensions_are_listed_with_what_they_are_for() {
    if common::display().is_none() {
        return;
    }
    let adapter = common::adapter();
    let listed = pixelferry_wgpu::device_extensions(&adapter).unwrap();
    let of = |name: &str| listed.iter().find(|extension| extension.name.to_str() == Ok(name)).unwrap();
    assert!(of("VK_KHR_external_memory_fd").listed);
    assert!(listed.iter().all(|extension| !extension.used_for.is_empty()));
    // A device that is opened with all that is listed has no other reason than that the driver lacks the rest.
    let (device, queue) = pixelferry_wgpu::open_device(&adapter, &Default::default()).unwrap();
    let display = WgpuDisplay::from_engine(&adapter, device, queue).unwrap();
    let reasons = format!("{:?}", display.caps());
    for extension in &listed {
        let name = extension.name.to_str().unwrap();
        assert_eq!(!extension.listed, reasons.contains(&format!("made without {name}")), "{name}: {reasons}");
    }
    // No extension of Vulkan's is for another API's device.
    for adapter in pixelferry_wgpu::wgpu_adapters(common::wgpu::Backends::GL) {
        assert!(pixelferry_wgpu::device_extensions(&adapter).unwrap().is_empty());
    }
}
