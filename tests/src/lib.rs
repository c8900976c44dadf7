//! What the tests share: which drivers a machine must have, and running a test again in a process of its own.
//!
//! OpenCL loaders read their environment once, and two drivers in one process may bring two copies of one compiler
//! library: each driver is tested in a child process that sees only that driver.

mod child;
#[cfg(unix)]
pub mod faulty;
mod need;

pub use child::{Child, in_child};
pub use need::{Driver, need};
