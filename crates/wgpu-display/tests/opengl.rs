//! The tests of the other files once more, on wgpu's OpenGL.

#[path = "colour.rs"]
mod colour;
#[path = "conformance.rs"]
mod conformance;
#[path = "drawing.rs"]
mod drawing;
#[path = "sharing.rs"]
mod sharing;
