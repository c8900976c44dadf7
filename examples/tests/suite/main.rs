//! The examples and engines as programs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod backends;
mod engines;
mod film;
mod own_kernels;
