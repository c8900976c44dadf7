//! Paths, backends and displays from outside.

mod conformance;
mod selection;
