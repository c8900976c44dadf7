//! What things are: pictures and buffers, their numbers and patterns, names of paths, and what can go wrong.

pub mod color;
pub mod error;
pub mod format;
pub mod geometry;
pub mod mismatch;
pub mod panics;
pub mod path_id;
pub mod pattern;
pub(crate) mod setters;
pub mod surface;
pub(crate) mod variable;
pub mod view;
