//! Copies the stored pixels of a texture into a buffer or to the host.

use crate::api::gl_format::GlFormat;
use crate::api::host_state::READS;
use crate::context::context_state::ContextState;
use crate::draw::tools::Tools;
use crate::objects::pixel_read::{self, is_direct};
use crate::objects::state_guards::Pack;
use crate::surface::engine_level::{AttachedLevel, Level};
use glow::{HasContext as _, PixelPackData};
use interop_core::{Region, Result};

/// Destination of the pixels.
pub(crate) enum ReadTarget<'a> {
    /// Rows of `row_length` pixels (0: tight) from a byte on, all inside the buffer.
    Buffer { buffer: glow::Buffer, offset: usize, row_length: i32 },
    /// Tight rows of exactly this size.
    Client(&'a mut [u8]),
}

/// Queues the copy, or waits where the host reads. `at` lies inside the level; the context must be current.
pub(crate) fn read_level(
    tools: &Tools,
    level: &Level,
    at: Region,
    format: GlFormat,
    into: ReadTarget<'_>,
) -> Result<()> {
    let shared: &ContextState = tools.shared();
    shared.check_host(READS)?;
    let _attached = AttachedLevel::new(shared, tools.lent_framebuffer()?, level)?;
    let (channels, ty) = (format.format, format.ty);
    if matches!(into, ReadTarget::Buffer { .. }) && !is_direct(shared, channels, ty) {
        let reason =
            "OpenGL ES cannot read this texture's format from a framebuffer: it supports four channels of few types";
        return Err(shared.unsupported(reason.into()));
    }
    shared.checked("glReadPixels", || {
        let [x, y, width, height] = [at.x, at.y, at.width, at.height].map(|n| n as i32);
        match into {
            ReadTarget::Buffer { buffer, offset, row_length } => {
                let _pack = Pack::set(shared, row_length, Some(buffer));
                // Blocks are no larger than 2^31 - 1 bytes, so offsets fit.
                let data = PixelPackData::BufferOffset(offset as u32);
                // SAFETY: the context is current with the level attached, and the bytes lie inside the buffer.
                unsafe { shared.gl.read_pixels(x, y, width, height, channels, ty, data) }
            }
            // SAFETY: the context is current with the level attached, and the bytes are those of tight rows.
            ReadTarget::Client(bytes) => unsafe { pixel_read::read(shared, at, channels, ty, bytes) },
        }
    })
}
