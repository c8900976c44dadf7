//! The content of a frame that other threads draw: names and pixels, which every thread may have.

use crate::abi::{pf_gl_buffer, pf_gl_texture, pf_vulkan_frame};
use pixelferry::Extent;

/// A shown frame in the names of its display's API, made on the display's thread.
pub enum FrameHandle {
    /// A texture of an OpenGL display.
    GlTexture(pf_gl_texture),
    /// A buffer of an OpenGL display.
    GlBuffer(pf_gl_buffer),
    /// A frame of a Vulkan display.
    Vulkan(pf_vulkan_frame),
    /// The pixels in plain memory: 8-bit RGBA, top row first.
    Pixels(Extent, Vec<u8>),
    /// No names outside; a link reads the frame back.
    Nothing,
}
