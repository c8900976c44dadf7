//! What the tests share: which drivers a machine must have, running a test again in a process of its own, a virtual X
//! server, a kernel, and what a process uses.
//!
//! OpenCL loaders read their environment once, and two drivers in one process may bring two copies of one compiler
//! library: each driver is tested in a child process that sees only that driver.

mod child;
#[cfg(unix)]
pub mod faulty;
mod need;
mod ramp;
mod usage;
#[cfg(target_os = "linux")]
mod viewer;
mod xvfb;

pub use child::{Child, in_child, pass_in_child};
pub use need::{Driver, need};
pub use ramp::{ramp, ramp_pixel};
pub use usage::Usage;
#[cfg(target_os = "linux")]
pub use viewer::{Rgb, Viewer};
pub use xvfb::Xvfb;
