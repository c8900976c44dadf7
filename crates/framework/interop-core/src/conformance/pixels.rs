//! Images and buffers that cases write, and their comparison.

use super::failure::Failure;
use crate::describe::error::Result;
use crate::describe::format::PixelFormat;
use crate::describe::geometry::{Extent, Region};
use crate::describe::pattern::Pattern;
use crate::describe::surface::{ImageAccess, ImageDesc, SurfaceDesc};
use crate::describe::view::{BufferView, ImageView, View};
use crate::display::{Display, Staging, StagingKind, Surface, SurfacePart};

/// Returns the view of tight rows in the surface's order.
pub fn tight(desc: &SurfaceDesc) -> Result<View> {
    Ok(match desc {
        SurfaceDesc::Image(i) => View::Image(ImageView::packed(i.extent, i.format, 1, 0, false)?),
        SurfaceDesc::Buffer(_) => View::Buffer(BufferView { offset: 0, len: desc.byte_len()? }),
    })
}

/// Fails where `shown` differs from `expected`, with the position.
pub fn same_bytes(what: &str, expected: &[u8], shown: &[u8]) -> Result<(), Failure> {
    if expected.len() != shown.len() {
        return Err(Failure::Failed(format!("{what}: {} bytes shown, {} expected", shown.len(), expected.len())));
    }
    // Most of the bytes that the suite reads are equal; a single comparison of the slices is fast.
    let differs = if expected == shown { None } else { expected.iter().zip(shown).position(|(a, b)| a != b) };
    let Some(at) = differs else { return Ok(()) };
    Err(Failure::Failed(format!(
        "{what}: byte {at} of {} is {:#04x}, should be {:#04x}",
        shown.len(),
        shown[at],
        expected[at]
    )))
}

/// Returns memory that holds the pattern of `nonce` in `view`, with 0xA5 around it.
pub fn patterned(view: &View, nonce: u32) -> Vec<u8> {
    let mut bytes = vec![0xA5; view.span().end + 7];
    Pattern::for_view(view, nonce).write(view, &mut bytes);
    bytes
}

/// Returns the same pattern in tight rows.
pub fn expected(view: &View, nonce: u32) -> Vec<u8> {
    let tight = match *view {
        View::Image(i) => View::Image(ImageView { offset: 0, row_pitch: i.row_len() as isize, ..i }),
        View::Buffer(b) => View::Buffer(BufferView { offset: 0, len: b.len }),
    };
    let mut bytes = patterned(&tight, nonce);
    bytes.truncate(tight.payload_len());
    bytes
}

/// Writes the first bytes of a block after all reads of it are done.
pub fn fill(block: &mut Staging, bytes: &[u8]) -> Result<()> {
    block.wait()?;
    block.map_write(&mut |to| {
        to[..bytes.len()].copy_from_slice(bytes);
        Ok(())
    })
}

/// Creates a surface with storage of its own that holds these tight rows or bytes.
pub fn stored(display: &dyn Display, desc: &SurfaceDesc, bytes: &[u8]) -> Result<Surface> {
    let mut surface = display.create_surface(desc)?;
    surface.upload(&SurfacePart::full(desc), bytes, &tight(desc)?)?;
    Ok(surface)
}

/// Creates a surface that reads these tight rows or bytes in place, in a block that stays mapped or, where the display
/// has none, in another kind of block.
pub fn in_place(display: &dyn Display, desc: &SurfaceDesc, bytes: &[u8]) -> Result<Surface> {
    let stays = display.caps().persistent_staging.is_yes();
    let kind = if stays { StagingKind::Persistent } else { StagingKind::Orphaned };
    // Some blocks consist of whole words.
    let mut block = display.create_staging(kind, bytes.len().next_multiple_of(4))?;
    fill(&mut block, bytes)?;
    let mut surface = display.create_in_place_surface(desc)?;
    surface.read_in_place(&block, &tight(desc)?)?;
    Ok(surface)
}

/// Returns an image description with which this path has the greatest freedom.
pub(super) fn any(width: u32, height: u32, format: PixelFormat) -> ImageDesc {
    ImageDesc::new(width, height, format).with_access(ImageAccess::Any)
}

/// Copies tightly packed pixels of a part into the tight rows of a whole image.
pub(super) fn paste(whole: &mut [u8], extent: Extent, region: Region, part: &[u8], bpp: usize) {
    let row_len = region.width as usize * bpp;
    for (i, row) in part.chunks(row_len).enumerate() {
        let at = ((region.y as usize + i) * extent.width as usize + region.x as usize) * bpp;
        whole[at..at + row_len].copy_from_slice(row);
    }
}
