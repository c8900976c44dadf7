//! The engines of the examples as programs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

#[path = "../../examples/engine/camera.rs"]
mod camera;
mod engines;
