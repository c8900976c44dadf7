//! Kernels of one device, shown by another device of the same GPU in memory that this one exports.

use crate::engine::Engine;
use crate::{device, display, exported};
use interop_core::{ComputeBackend, Display, HandleType, MemoryShape, Support, SyncKind};
use pixelferry_vulkan::{VulkanBackend, VulkanOptions};
use std::rc::Rc;
use std::sync::Arc;

/// On a backend of a device of its own, and a display of another.
fn on_a_pair(check: fn(&Arc<dyn ComputeBackend>, &Rc<dyn Display>)) {
    let Some(display) = display() else { return };
    let backend: Arc<dyn ComputeBackend> =
        Arc::new(VulkanBackend::open(&VulkanOptions::default().with_name(device())).unwrap());
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
