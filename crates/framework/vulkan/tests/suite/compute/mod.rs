//! Vulkan computes, in the queue of a display.

mod backend;
mod batch;
mod drawing;
#[cfg(target_os = "linux")]
mod shared;
mod show;
mod spirv;
#[path = "../../../../wgsl-kernel/tests/suite/every_backend.rs"]
mod suite;
mod textures;
mod threads;

use crate::display;
use interop_core::ComputeBackend;
use pixelferry_vulkan::{VulkanBackend, VulkanDisplay};
use std::sync::Arc;

/// A display, and the backend in its queue.
struct Both {
    backend: Arc<dyn ComputeBackend>,
    display: Arc<VulkanDisplay>,
}

/// `None` after saying SKIPPED.
fn both() -> Option<Both> {
    let display = display()?;
    Some(Both { backend: Arc::new(VulkanBackend::on(&display).unwrap()), display })
}
