//! Kernels of one device, shown by another device of the same GPU in memory that this one exports.

use crate::engine::Engine;
use crate::{device, display, exported};
use interop_core::{ComputeBackend, Display, HandleType, MemoryShape, Support, SyncKind};
use pixelferry_vulkan::{VulkanBackend, VulkanOptions};
use std::rc::Rc;
use std::sync::Arc;

/// A backend of a device of its own, and a display of another. `None` after saying SKIPPED.
fn pair() -> Option<(Arc<dyn ComputeBackend>, Rc<dyn Display>)> {
    let display: Rc<dyn Display> = display()?;
    let backend = VulkanBackend::open(&VulkanOptions::default().with_name(device())).unwrap();
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
