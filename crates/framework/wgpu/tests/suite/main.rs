//! wgpu displays and computes.

// Helpers of tests fail as tests do; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod colour;
#[path = "../../../interop-core/tests/displays/colour.rs"]
mod colours;
mod common;
#[cfg(feature = "compute")]
mod compute;
mod conformance;
mod drawing;
#[path = "../../../interop-core/tests/displays/engine_objects.rs"]
mod engine_objects;
mod engine_surfaces;
#[path = "../../../interop-core/tests/displays/hostile.rs"]
mod hostile;
#[cfg(feature = "compute")]
#[path = "../../../interop-core/tests/displays/kernels.rs"]
mod kernels;
#[cfg(feature = "compute")]
#[path = "../../../interop-core/tests/displays/large_images.rs"]
mod large_images;
#[path = "../../../interop-core/tests/displays/manners.rs"]
mod manner_rules;
mod manners;
#[cfg(target_os = "linux")]
mod opengl;
#[cfg(target_os = "linux")]
mod opengl_leaks;
#[path = "../../../interop-core/tests/displays/paths.rs"]
mod paths;
mod polls;
mod shared;
#[cfg(target_os = "linux")]
#[path = "../../../interop-core/tests/displays/sharing.rs"]
mod shared_memory;
#[cfg(target_os = "linux")]
mod sharing;
#[cfg(feature = "compute")]
#[path = "../../../interop-core/tests/displays/show.rs"]
mod shows;
