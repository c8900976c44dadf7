//! The command as its users run it: what the README and the recipes say, and the page in a browser.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod browser;
mod demo;
mod operations;
#[allow(dead_code)]
#[path = "../../crates/pixelferry-net/tests/suite/papers.rs"]
mod papers;
// The command's own, with its tests.
#[allow(dead_code)]
#[path = "../../src/plasma.rs"]
mod plasma;
mod readme;
mod recipes;
