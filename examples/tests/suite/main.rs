//! The examples as programs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod backends;
mod film;
mod own_kernels;
