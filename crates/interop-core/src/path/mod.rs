//! Sharing paths: the ways in which a frame crosses from the compute side to the display.
//!
//! A mechanism is one file and one row (or a few variants) in [`PATHS`]. [`PathSpec::offer`] looks only at what both
//! sides published as data; [`PathSpec::open`] makes the resources. Whether pixels really cross is for
//! [`crate::verify`] to find out.

mod table;

pub use table::{PathId, PathKind};
