//! The tests of the other files once more, on wgpu's OpenGL; the paths are run by the workspace's table.

#![allow(clippy::duplicate_mod, reason = "each of them has the helpers of its own")]

#[path = "colour.rs"]
mod colour;
#[path = "drawing.rs"]
mod drawing;
#[path = "manners.rs"]
mod manners;
#[path = "sharing.rs"]
mod sharing;
