//! Whole links on real drivers, in one program. What counts a process's memory, needs an environment of its own, or may take
//! its process down runs itself again by `pixelferry_testing::Child`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod async_queues;
mod audits;
mod auto_link;
#[cfg(unix)]
mod calibration;
mod choice;
mod conformance;
#[cfg(target_os = "linux")]
mod contexts;
#[cfg(target_os = "linux")]
mod exported;
#[cfg(unix)]
mod faults;
mod flat;
#[cfg(target_os = "linux")]
mod forked;
mod fuzz;
mod gl_drawing;
#[cfg(target_os = "linux")]
mod gl_sharing;
#[cfg(target_os = "linux")]
mod isolated;
#[cfg(unix)]
mod meanwhile;
#[cfg(target_os = "linux")]
#[path = "../../crates/framework/interop-core/tests/displays/paths.rs"]
mod paths;
mod plugged;
mod side_by_side;
mod sizes;
mod slices;
#[cfg(target_os = "linux")]
mod streams;
mod threads;
mod together;
#[cfg(target_os = "linux")]
mod two_queues;
mod way_back;
#[cfg(target_os = "linux")]
mod windows;
