//! OpenGL computes, in the context that draws.

// Helpers of tests fail as tests do; the lint knows only functions marked as tests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod backend;
mod common;
mod contexts;
#[path = "../../../gl-display/tests/suite/engine.rs"]
mod engine;
mod engine_state;
mod es;
mod glsl;
#[path = "../../../interop-core/tests/displays/paths.rs"]
mod paths;
#[path = "../../../gl-display/tests/suite/state.rs"]
mod state;
#[path = "../../../wgsl-kernel/tests/suite/every_backend.rs"]
mod suite;
