//! Threads that compute, and a display in plain memory.

// Helpers of tests fail as tests do; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod colour;
mod conformance;
mod display;
#[path = "../../../interop-core/tests/displays/hostile.rs"]
mod hostile;
mod images;
mod kernels;
mod memory;
mod resizes;
mod selection;
mod shared;
mod timeline;
