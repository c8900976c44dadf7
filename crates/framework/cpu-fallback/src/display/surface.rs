//! Surfaces of the memory display.

use super::display_state::DisplayState;
use super::staging::MemoryStaging;
use crate::raw::Bytes;
use interop_core::compute::host_bytes;
use interop_core::describe::pattern::rows;
use interop_core::devices::maker_object::own;
use interop_core::display::{Content, InPlaceDriver, StoredDriver, SurfaceDriver};
use interop_core::{BufferView, Error, ImageView, Result, Staging, SurfaceDesc, SurfacePart, View};
use std::ops::Range;
use std::sync::Arc;

/// An image or a buffer in plain memory.
pub(crate) struct MemorySurface {
    display: Arc<DisplayState>,
    /// Its own tight rows, or bytes of another owner in place; `None` until an in-place surface shows the first block.
    shown: Option<(Bytes, View)>,
}

impl MemorySurface {
    /// Creates a surface with zeroed storage of `bytes` bytes, the size of `desc`.
    pub(crate) fn stored(display: &Arc<DisplayState>, desc: &SurfaceDesc, bytes: usize) -> Result<Self> {
        Ok(Self { display: Arc::clone(display), shown: Some((Bytes::allocate(bytes)?, tight(desc)?)) })
    }

    pub(crate) fn in_place(display: &Arc<DisplayState>) -> Self {
        Self { display: Arc::clone(display), shown: None }
    }

    /// Returns the visible bytes, and the view of the image or buffer in them.
    pub(crate) fn shown(&self) -> Result<(&Bytes, View)> {
        self.shown.as_ref().map(|(bytes, view)| (bytes, *view)).ok_or(Error::NothingShown)
    }

    /// Returns the part's bytes in tight rows, as they would be seen.
    pub(crate) fn pixels(&self, part: &SurfacePart) -> Result<Vec<u8>> {
        let (bytes, whole) = self.shown()?;
        let from = sub_view(&whole, part);
        let mut pixels = host_bytes(from.payload_len())?;
        let bytes = bytes.read(0..bytes.len(), &"this surface")?;
        for (row, _) in row_pairs(&from, &from) {
            pixels.extend_from_slice(&bytes[row]);
        }
        Ok(pixels)
    }

    /// Copies the bytes that `view` describes in `from`.
    fn store(&mut self, at: &SurfacePart, from: &[u8], view: &View) -> Result<()> {
        let (bytes, whole) = self.shown.as_mut().ok_or(Error::NothingShown)?;
        let (to, all) = (sub_view(whole, at), 0..bytes.len());
        let mut bytes = bytes.write(all, &"this surface")?;
        for (to, row) in row_pairs(&to, view) {
            bytes[to].copy_from_slice(&from[row]);
        }
        Ok(())
    }

    fn bytes<'s>(&self, staging: &'s Staging) -> Result<&'s Bytes> {
        own::<MemoryStaging>(staging.driver(), &self.display).map(MemoryStaging::bytes)
    }
}

interop_core::owned!(MemorySurface: DisplayState, "surface", |surface| &surface.display);

impl<C: Content> SurfaceDriver<C> for MemorySurface {
    fn read_back(&mut self, at: &C::At) -> Result<Vec<u8>> {
        self.pixels(&C::part(at))
    }
}

impl<C: Content> StoredDriver<C> for MemorySurface {
    fn upload(&mut self, at: &C::At, bytes: &[u8], view: &C::View) -> Result<()> {
        self.store(&C::part(at), bytes, &C::view(view))
    }

    fn upload_staged(&mut self, at: &C::At, staging: &mut Staging, view: &C::View) -> Result<()> {
        let bytes = self.bytes(staging)?;
        let bytes = bytes.read(0..bytes.len(), &"this staging block")?;
        self.store(&C::part(at), &bytes, &C::view(view))
    }
}

impl<C: Content> InPlaceDriver<C> for MemorySurface {
    fn show(&mut self, staging: &Staging, view: &C::View) -> Result<()> {
        self.shown = Some((self.bytes(staging)?.share(), C::view(view)));
        Ok(())
    }
}

/// Returns the layout of a surface with storage of its own.
fn tight(desc: &SurfaceDesc) -> Result<View> {
    Ok(match desc {
        SurfaceDesc::Image(i) => View::Image(ImageView::packed(i.extent, i.format, 1, 0, false)?),
        SurfaceDesc::Buffer(_) => View::Buffer(BufferView { offset: 0, len: desc.byte_len()? }),
    })
}

/// Returns the view of a part. `part` was checked against the same surface, so the kinds agree.
fn sub_view(view: &View, part: &SurfacePart) -> View {
    match (view, part) {
        (View::Image(image), SurfacePart::Image(region)) => {
            let left = region.x as usize * image.format.bytes_per_pixel();
            View::Image(ImageView { extent: region.extent(), ..image.moved_to(image.row_start(region.y) + left) })
        }
        (View::Buffer(buffer), SurfacePart::Buffer(range)) => {
            View::Buffer(BufferView { offset: buffer.offset + range.start, len: range.len() })
        }
        _ => *view,
    }
}

/// Iterates over pairs of byte ranges of the rows of two views of the same shape.
fn row_pairs(a: &View, b: &View) -> Box<dyn Iterator<Item = (Range<usize>, Range<usize>)>> {
    if is_contiguous(a) && is_contiguous(b) {
        return Box::new(std::iter::once((a.span(), b.span())));
    }
    Box::new(rows(a).zip(rows(b)).map(|((_, a), (_, b))| (a, b)))
}

fn is_contiguous(view: &View) -> bool {
    match view {
        View::Image(image) => image.is_contiguous(),
        View::Buffer(_) => true,
    }
}
