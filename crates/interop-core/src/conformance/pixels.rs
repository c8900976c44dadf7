//! Images and buffers that cases write, and how they are compared.

use super::failure::Failure;
use crate::describe::error::Result;
use crate::describe::format::PixelFormat;
use crate::describe::geometry::{Extent, Region};
use crate::describe::surface::{ImageAccess, ImageDesc, SurfaceDesc};
use crate::describe::view::{BufferView, ImageView, View};

/// The view of tight rows in the surface's order.
pub fn tight(desc: &SurfaceDesc) -> Result<View> {
    Ok(match desc {
        SurfaceDesc::Image(i) => View::Image(ImageView::packed(i.extent, i.format, 1, 0, false)?),
        SurfaceDesc::Buffer(_) => View::Buffer(BufferView { offset: 0, len: desc.byte_len("tight")? }),
    })
}

/// Fails where `shown` differs from `expected`, saying where.
pub fn same_bytes(what: &str, expected: &[u8], shown: &[u8]) -> Result<(), Failure> {
    if expected.len() != shown.len() {
        return Err(Failure::Failed(format!("{what}: {} bytes shown, {} expected", shown.len(), expected.len())));
    }
    // Equal bytes are most of what the suite reads, and are compared many at a time.
    let differs = if expected == shown { None } else { expected.iter().zip(shown).position(|(a, b)| a != b) };
    let Some(at) = differs else { return Ok(()) };
    Err(Failure::Failed(format!(
        "{what}: byte {at} of {} is {:#04x}, should be {:#04x}",
        shown.len(),
        shown[at],
        expected[at]
    )))
}

/// The kind of image that this path can be asked for most freely.
pub(super) fn any(width: u32, height: u32, format: PixelFormat) -> ImageDesc {
    ImageDesc::new(width, height, format).with_access(ImageAccess::Any)
}

/// Copies tight `part` pixels into the tight rows of a whole image.
pub(super) fn paste(whole: &mut [u8], extent: Extent, region: Region, part: &[u8], bpp: usize) {
    let row_len = region.width as usize * bpp;
    for (i, row) in part.chunks(row_len).enumerate() {
        let at = ((region.y as usize + i) * extent.width as usize + region.x as usize) * bpp;
        whole[at..at + row_len].copy_from_slice(row);
    }
}
