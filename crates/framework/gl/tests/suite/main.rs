//! OpenGL displays: headless, in engines' contexts, and of OpenGL ES.

// Helpers of tests fail as tests do; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod canvas;
mod colour;
#[path = "../../../interop-core/tests/displays/colour.rs"]
mod colours;
mod common;
#[cfg(feature = "compute")]
mod compute;
mod contexts;
#[cfg(unix)]
mod counted;
#[cfg(unix)]
mod device_copy;
#[cfg(unix)]
mod device_memory;
mod draw_targets;
mod engine;
mod engine_state;
#[cfg(unix)]
mod engine_surfaces;
mod engine_textures;
mod es;
#[cfg(unix)]
mod external;
#[cfg(unix)]
mod external_images;
mod frame_reads;
mod host_state;
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
#[path = "../../../interop-core/tests/displays/manners.rs"]
mod manner_rules;
mod manners;
#[cfg(unix)]
mod paint;
#[cfg(feature = "compute")]
#[path = "../../../interop-core/tests/displays/paths.rs"]
mod paths;
#[cfg(unix)]
mod peer;
#[cfg(unix)]
mod semaphores;
#[cfg(feature = "compute")]
#[path = "../../../interop-core/tests/displays/show.rs"]
mod shows;
mod state;
mod surfaces;
mod timeline;
#[cfg(unix)]
mod vulkan;
mod window_draws;
