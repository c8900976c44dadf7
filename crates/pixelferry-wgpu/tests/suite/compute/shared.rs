//! Kernels of one device, shown by another device of the same GPU in memory that this one exports.

use crate::exported;
use interop_core::{ComputeBackend, Display, HandleType, MemoryShape, Support, SyncKind};
use pixelferry_testing::{Need, has, need};
use pixelferry_wgpu::{WgpuBackend, WgpuDisplay, WgpuOptions};
use std::rc::Rc;
use std::sync::Arc;

fn vulkan() -> WgpuOptions {
    WgpuOptions::default().with_backends(wgpu::Backends::VULKAN)
}

/// A backend of a device of its own, and a display of another. `None` after saying SKIPPED.
fn pair() -> Option<(Arc<dyn ComputeBackend>, Rc<dyn Display>)> {
    let display: Rc<dyn Display> = need(Need::Lavapipe, WgpuDisplay::headless(vulkan()))?;
    let backend = WgpuBackend::open(&vulkan()).unwrap();
    exported::share(&backend, display.as_ref()).then(|| (Arc::new(backend) as Arc<dyn ComputeBackend>, display))
}

#[test]
fn frames_cross_in_memory_that_the_display_exports() {
    let Some((backend, display)) = pair() else { return };
    exported::carries_frames(&backend, &display);
}

#[test]
fn descriptors_are_not_leaked() {
    exported::nothing_is_left_in_a_child("compute::shared::child_descriptors");
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_descriptors() {
    let Some((backend, display)) = pair() else { return };
    exported::nothing_is_left(&backend, &display);
}

#[test]
fn opengls_device_says_what_it_lacks() {
    let opened = WgpuBackend::open(&WgpuOptions::default().with_backends(wgpu::Backends::GL));
    let Some(backend) = has("kernels by wgpu's OpenGL", "this machine", opened) else { return };
    let Support::No(reason) = backend.caps().can_import(HandleType::OPAQUE, MemoryShape::Linear) else {
        panic!("it opens memory")
    };
    assert!(reason.contains("not driven by Vulkan"), "{reason}");
    assert!(!backend.caps().can_open_semaphore(SyncKind::BinarySemaphore).is_yes());
}
