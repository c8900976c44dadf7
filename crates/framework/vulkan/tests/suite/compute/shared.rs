//! Memory of other queues, where it is no path or the device lacks what shares it. Where it is one, the workspace's tests show it.

use crate::engine::Engine;
use interop_core::{ComputeBackend as _, HandleType, MemoryShape, Support, SyncKind};
use pixelferry_vulkan::VulkanBackend;

#[test]
fn a_device_without_the_extensions_says_so() {
    let Some(engine) = Engine::make(true) else { return };
    let backend = VulkanBackend::on(&engine.display()).unwrap();
    let said = |support| match support {
        Support::No(reason) => assert!(reason.contains("the device was made without VK_"), "{reason}"),
        Support::Yes => panic!("it opens memory without the extension"),
    };
    said(backend.caps().can_import(HandleType::OPAQUE, MemoryShape::Linear));
    said(backend.caps().can_open_semaphore(SyncKind::BinarySemaphore));
    said(backend.caps().can_open_semaphore(SyncKind::TimelineSemaphore));
}
