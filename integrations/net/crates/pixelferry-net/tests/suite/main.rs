//! The network as programs use it: tiles, viewers, strangers, broken connections, and what stays behind.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod common;
mod examples;
mod faults;
mod halo;
#[path = "../../../pixelferry-rules/src/hostile.rs"]
mod hostile;
mod lasting;
mod packing;
mod papers;
mod peer;
mod proxy;
mod python;
mod refusals;
mod security;
mod strangers;
mod tiles;
