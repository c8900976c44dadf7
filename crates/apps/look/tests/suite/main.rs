//! Arrays as pictures, and the PTX that makes them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod pixels;
mod ptx;
