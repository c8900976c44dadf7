//! Content of a frame that other threads draw: names and pixels, which every thread may have.

use crate::abi::{pf_gl_buffer, pf_gl_texture, pf_vulkan_frame};
use pixelferry::Extent;

/// A shown frame by the names of its display, made on the display's thread.
pub enum GivenOut {
    /// Of an OpenGL display.
    GlTexture(pf_gl_texture),
    /// Of an OpenGL display.
    GlBuffer(pf_gl_buffer),
    /// Of a Vulkan display.
    Vulkan(pf_vulkan_frame),
    /// Of plain memory: 8-bit RGBA, top row first.
    Pixels(Extent, Vec<u8>),
    /// No names outside; a link reads it back.
    Nothing,
}
