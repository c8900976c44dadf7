//! Helpers shared by the tests of all crates. It depends on none of them, so every crate's tests may use it.
//!
//! - [`need`]: what a test needs of the machine, by the rows of [`MACHINE`]. A test that cannot run says SKIPPED and why;
//!   where the machine must have the thing, it fails.
//! - [`has`] and [`judge`]: what a driver is known to lack or to do wrong, by the rows of [`KNOWN`]. A skip that no row
//!   names fails, and so does a pass where a row says otherwise.
//! - [`Child`]: a test run again in a process of its own. OpenCL loaders read their environment once, and two drivers in
//!   one process may bring two copies of one compiler library, so each driver is tested in a process that sees only it.
//! - [`chromium`]: the browser of tests that need one.
//! - [`level`]: how much of a test runs, as `scripts/test`, its `--all` and its `--long` ask for it.
//! - [`tests`]: tests of one call each, as rows.
//! - [`Patience`]: a limit for waits that the load of the machine does not break.

// Tests fail with panics.
#![allow(clippy::panic)]

mod child;
mod chromium;
mod dice;
mod known_outcomes;
mod level;
mod machine;
#[cfg(test)]
#[cfg(unix)]
mod one_place;
mod patience;
mod sharing_layer;
#[cfg(test)]
#[cfg(unix)]
mod summary;
mod table;
mod usage;

pub use child::{Child, ChildResult, given, in_child, pass_in_child};
pub use chromium::{CHROMIUM_FLAGS, chromium};
pub use dice::Dice;
pub use known_outcomes::{DRIVERS, Driver, ExpectedOutcome, KNOWN, KnownOutcome, Outcome, has, judge};
pub use level::{Level, by_level, from, level};
pub use machine::{MACHINE, Need, NeedRow, asked, need, needs_in_words};
pub use patience::{Patience, receive, wait_until};
pub use sharing_layer::sharing_layer;
pub use usage::{Usage, peak};
