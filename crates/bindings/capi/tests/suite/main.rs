//! The header, and programs in C and C++ that use it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod common;
#[cfg(target_os = "linux")]
mod foreign;
#[cfg(target_os = "linux")]
mod guest;
#[cfg(target_os = "linux")]
mod header;
#[cfg(target_os = "linux")]
mod page;
#[cfg(target_os = "linux")]
mod programs;
#[cfg(all(feature = "stream", target_os = "linux"))]
mod streams;
