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

/// On a backend of a device of its own, and a display of another.
fn on_a_pair(check: fn(&Arc<dyn ComputeBackend>, &Rc<dyn Display>)) {
    let Some(display) = need(Need::Lavapipe, WgpuDisplay::headless(vulkan())) else { return };
    let backend: Arc<dyn ComputeBackend> = Arc::new(WgpuBackend::open(&vulkan()).unwrap());
    if exported::share(backend.as_ref(), display.as_ref()) {
        check(&backend, &(display as Rc<dyn Display>));
    }
}

pixelferry_testing::tests! {
    frames_cross_in_memory_that_the_display_exports => on_a_pair(exported::carries_frames);
    descriptors_are_not_leaked => exported::nothing_is_left_in_a_child("compute::shared::child_descriptors");
    #[ignore = "run by the test above, in a process of its own"]
    child_descriptors => on_a_pair(exported::nothing_is_left);
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
