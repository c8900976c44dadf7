//! The network as programs use it: tiles, viewers, strangers, broken connections, and what stays behind.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

// Private parts of the crate, with its own tests: one program for all of them.
#[allow(dead_code)]
#[path = "../../src/canvas.rs"]
mod canvas;
mod common;
mod faults;
#[path = "../../../pixelferry-rules/src/hostile.rs"]
mod hostile;
mod lasting;
#[allow(dead_code)]
#[path = "../../src/lend.rs"]
mod lend;
mod lines;
#[allow(dead_code)]
#[path = "../../src/lock.rs"]
mod lock;
mod packing;
mod papers;
mod peer;
mod proxy;
mod python;
mod refusals;
mod security;
mod soak;
mod strangers;
mod tiles;
