//! Tests of encoders, files and browsers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

#[cfg(unix)]
mod children;
#[cfg(feature = "video")]
mod decode;
#[cfg(feature = "web")]
mod gateway;
#[cfg(feature = "jpeg")]
mod gpu;
