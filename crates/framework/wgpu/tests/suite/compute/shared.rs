//! Memory of other queues, where it is no path or the device lacks what shares it. Where it is one, the workspace's tests show it.

use interop_core::{ComputeBackend as _, HandleType, MemoryShape, Support, SyncKind};
use pixelferry_testing::has;
use pixelferry_wgpu::{WgpuBackend, WgpuOptions};

#[test]
fn opengls_device_says_what_it_lacks() {
    let opened = WgpuBackend::open(&WgpuOptions::default().with_backends(wgpu::Backends::GL));
    let Some(backend) = has("kernels by wgpu's OpenGL", "this machine", opened) else { return };
    let Support::No(reason) = backend.caps().can_import(HandleType::OPAQUE, MemoryShape::Linear) else {
        panic!("it opens memory")
    };
    assert!(reason.contains("not Vulkan"), "{reason}");
    assert!(!backend.caps().can_open_semaphore(SyncKind::BinarySemaphore).is_yes());
}
