//! The tests of the other files once more, on wgpu's OpenGL; the paths are run by the workspace's table.

#[path = "colour.rs"]
mod colour;
#[path = "drawing.rs"]
mod drawing;
#[path = "sharing.rs"]
mod sharing;
