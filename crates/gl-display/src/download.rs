//! Pixels of a texture, as they are stored, into a buffer or to the host.

use crate::context_state::ContextState;
use crate::engine_level::{Attached, Level};
use crate::gl_format::GlFormat;
use crate::state::Pack;
use crate::tools::Tools;
use glow::{HasContext as _, PixelPackData};
use interop_core::{Region, Result};

/// Where they go.
pub(crate) enum Reading<'a> {
    /// Rows of `row_length` pixels (0: tight) from a byte on, all inside.
    Buffer { buffer: glow::Buffer, offset: usize, row_length: i32 },
    /// Tight rows, as many bytes as they have.
    Client(&'a mut [u8]),
}

/// Queues it, or waits where the host reads. `at` lies inside the level; the context must be current.
pub(crate) fn read_level(tools: &Tools, level: &Level, at: Region, format: GlFormat, into: Reading<'_>) -> Result<()> {
    let shared: &ContextState = tools.shared();
    let _attached = Attached::new(shared, tools.lent_framebuffer()?, level)?;
    shared.checked("glReadPixels", || {
        let (_pack, data) = match into {
            Reading::Buffer { buffer, offset, row_length } => {
                // Blocks are no larger than 2^31 - 1 bytes, so offsets fit.
                (Pack::set(shared, row_length, Some(buffer)), PixelPackData::BufferOffset(offset as u32))
            }
            Reading::Client(bytes) => (Pack::tight(shared), PixelPackData::Slice(Some(bytes))),
        };
        let [x, y, width, height] = [at.x, at.y, at.width, at.height].map(|n| n as i32);
        // SAFETY: the context is current with the level attached, and the bytes lie inside buffer or slice.
        unsafe { shared.gl.read_pixels(x, y, width, height, format.format, format.ty, data) }
    })
}
