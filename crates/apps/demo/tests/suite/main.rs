//! The scenes on every backend.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod drivers;
mod scenes;
