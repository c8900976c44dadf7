//! Helpers for the tests of whole links, beside `pixelferry_testing`: a virtual X server, doubles that fail, and a
//! kernel.

#![allow(clippy::panic)] // how tests fail

mod conform;
mod displays;
mod each_backend;
pub mod faults;
mod folder;
mod paths;
pub mod plugged;
mod ramp;
#[cfg(unix)]
pub mod sharing;
#[cfg(target_os = "linux")]
mod viewer;
mod xvfb;

pub use conform::{conform, conform_on};
pub use displays::{displays, need_display};
pub use each_backend::on;
pub use folder::Folder;
pub use paths::{has_path, offered, path_problems};
pub use pixelferry_testing::{
    Child, Dice, Level, Need, Patience, Usage, asked, by_level, from, given, has, in_child, level, need, pass_in_child,
    receive, sharing_layer, tests, wait_until,
};
pub use ramp::{ramp, ramp_pixel};
#[cfg(target_os = "linux")]
pub use viewer::{Rgb, Viewer};
pub use xvfb::Xvfb;

/// All of them, or at the shortest level the first few.
pub fn few<T>(all: &[T], short: usize) -> &[T] {
    if level() == Level::Short { &all[..short] } else { all }
}

/// A number that a variable gives, or the usual one.
///
/// # Panics
/// Where the variable is no number.
pub fn number(variable: &str, usual: u32) -> u32 {
    std::env::var(variable).map_or(usual, |n| n.parse().unwrap_or_else(|_| panic!("{variable} is no number: {n}")))
}

/// Examples of the repository's README are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// Examples of the page on arrays are compiled and run, too.
#[cfg(doctest)]
#[doc = include_str!("../../docs/arrays.md")]
struct Arrays;

/// Examples of the page on OpenCL are compiled, too.
#[cfg(doctest)]
#[doc = include_str!("../../docs/opencl.md")]
struct OpenCl;
