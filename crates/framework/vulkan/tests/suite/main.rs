//! On Mesa's Vulkan on the CPU, or on the device that `PIXELFERRY_VULKAN_DEVICE` names.

// Helpers of tests fail as tests do; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(feature = "compute")]
#[path = "../../../interop-core/tests/displays/colour.rs"]
mod colours;
#[cfg(feature = "compute")]
mod compute;
mod conformance;
mod drivers;
mod engine;
#[path = "../../../interop-core/tests/displays/engine_objects.rs"]
mod engine_objects;
mod engine_surfaces;
mod engines_own;
#[path = "../../../interop-core/tests/displays/hostile.rs"]
mod hostile;
#[cfg(feature = "compute")]
#[path = "../../../interop-core/tests/displays/images.rs"]
mod images;
#[cfg(feature = "compute")]
#[path = "../../../interop-core/tests/displays/kernels.rs"]
mod kernels;
#[cfg(feature = "compute")]
#[path = "../../../interop-core/tests/displays/large_images.rs"]
mod large_images;
mod misuse;
#[path = "../../../interop-core/tests/displays/paths.rs"]
mod paths;
#[cfg(target_os = "linux")]
#[path = "../../../interop-core/tests/displays/sharing.rs"]
mod shared_memory;
#[cfg(target_os = "linux")]
mod sharing;
#[cfg(feature = "compute")]
#[path = "../../../interop-core/tests/displays/show.rs"]
mod shows;

use pixelferry_testing::{Need, need};
use pixelferry_vulkan::{VulkanDisplay, VulkanOptions};
use std::sync::Arc;

fn device() -> String {
    std::env::var("PIXELFERRY_VULKAN_DEVICE").unwrap_or_else(|_| "llvmpipe".into())
}

/// `None` after saying SKIPPED; a failure where the machine must have it.
fn display() -> Option<Arc<VulkanDisplay>> {
    let options = VulkanOptions::default().with_name(device());
    need(Need::Lavapipe, VulkanDisplay::headless(&options))
}
