//! The command as a program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod bench;
#[cfg(feature = "overlay")]
mod controls;
#[cfg(target_os = "linux")] // /dev/full
mod endings;
mod missing_drivers;
mod shaders;
#[cfg(target_os = "linux")]
mod sharing;
mod trace;
#[cfg(target_os = "linux")]
mod window;
