//! Surfaces of the memory display.

use super::display_state::DisplayState;
use super::staging::MemoryStaging;
use crate::raw::Bytes;
use interop_core::compute::host_bytes;
use interop_core::describe::pattern::rows;
use interop_core::devices::owned::own;
use interop_core::{BufferView, Error, ImageView, Part, Result, Staging, Surface, SurfaceDesc, View};
use std::any::Any;
use std::ops::Range;
use std::rc::Rc;

/// An image or a buffer in plain memory.
pub(crate) struct MemorySurface {
    display: Rc<DisplayState>,
    desc: SurfaceDesc,
    content: Content,
}

enum Content {
    /// Tight rows of its own.
    Stored(Bytes),
    /// Somebody else's bytes, where they lie; none yet at first.
    InPlace(Option<(Bytes, View)>),
}

impl MemorySurface {
    /// With zeroed storage of `bytes` bytes, the size of `desc`.
    pub(crate) fn stored(display: Rc<DisplayState>, desc: SurfaceDesc, bytes: usize) -> Result<Self> {
        Ok(Self { display, desc, content: Content::Stored(Bytes::allocate(bytes)?) })
    }

    pub(crate) fn in_place(display: Rc<DisplayState>, desc: SurfaceDesc) -> Self {
        Self { display, desc, content: Content::InPlace(None) }
    }

    pub(crate) fn display(&self) -> &Rc<DisplayState> {
        &self.display
    }

    /// The bytes that are seen, and where in them they lie.
    pub(crate) fn shown(&self) -> Result<(&Bytes, View)> {
        match &self.content {
            Content::Stored(bytes) => Ok((bytes, tight(&self.desc)?)),
            Content::InPlace(Some((bytes, view))) => Ok((bytes, *view)),
            Content::InPlace(None) => Err(Error::NothingShown),
        }
    }

    /// The part's bytes in tight rows, as they would be seen.
    pub(crate) fn pixels(&self, part: &Part, operation: &'static str) -> Result<Vec<u8>> {
        part.check_inside(&self.desc, operation)?;
        let (bytes, whole) = self.shown()?;
        let from = sub_view(&whole, part);
        let mut pixels = host_bytes(from.payload_len())?;
        let bytes = bytes.read(0..bytes.len(), operation, &"this surface")?;
        for (row, _) in row_pairs(&from, &from) {
            pixels.extend_from_slice(&bytes[row]);
        }
        Ok(pixels)
    }

    /// Copies what `view` describes in `from`.
    fn store(&mut self, at: &Part, from: &[u8], view: &View, operation: &'static str) -> Result<()> {
        at.check_source(&self.desc, view, from.len(), operation)?;
        let Content::Stored(bytes) = &mut self.content else {
            return Err(Error::invalid(
                operation,
                "this surface shows staging memory in place and has no storage; use read_in_place",
            ));
        };
        let to = sub_view(&tight(&self.desc)?, at);
        let all = 0..bytes.len();
        let mut bytes = bytes.write(all, operation, &"this surface")?;
        for (to, row) in row_pairs(&to, view) {
            bytes[to].copy_from_slice(&from[row]);
        }
        Ok(())
    }

    fn own<'s>(&self, staging: &'s dyn Staging, operation: &'static str) -> Result<&'s MemoryStaging> {
        own::<MemoryStaging>(staging.as_any(), &self.display, operation)
    }
}

interop_core::owned!(MemorySurface: DisplayState, "surface", |surface| surface.display());

impl Surface for MemorySurface {
    fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    fn upload(&mut self, at: &Part, bytes: &[u8], view: &View) -> Result<()> {
        self.store(at, bytes, view, "Surface::upload")
    }

    fn upload_staged(&mut self, at: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        const OP: &str = "Surface::upload_staged";
        let bytes = self.own(staging, OP)?.bytes();
        let bytes = bytes.read(0..bytes.len(), OP, &"this staging block")?;
        self.store(at, &bytes, view, OP)
    }

    fn read_in_place(&mut self, staging: &dyn Staging, view: &View) -> Result<()> {
        const OP: &str = "Surface::read_in_place";
        let bytes = self.own(staging, OP)?.bytes();
        Part::full(&self.desc).check_source(&self.desc, view, bytes.len(), OP)?;
        match &mut self.content {
            Content::InPlace(shown) => {
                *shown = Some((bytes.share(), *view));
                Ok(())
            }
            Content::Stored(_) => Err(Error::invalid(
                OP,
                "this surface has storage of its own; use upload_staged, or make it with create_in_place_surface",
            )),
        }
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        self.pixels(part, "Surface::read_back")
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A surface's own layout.
fn tight(desc: &SurfaceDesc) -> Result<View> {
    Ok(match desc {
        SurfaceDesc::Image(i) => View::Image(ImageView::packed(i.extent, i.format, 1, 0, false)?),
        SurfaceDesc::Buffer(_) => View::Buffer(BufferView { offset: 0, len: desc.byte_len("MemoryDisplay")? }),
    })
}

/// The part of what `view` describes. `part` was checked against the same surface, so the kinds agree.
fn sub_view(view: &View, part: &Part) -> View {
    match (view, part) {
        (View::Image(image), Part::Image(region)) => {
            let left = region.x as usize * image.format.bytes_per_pixel();
            View::Image(ImageView { extent: region.extent(), ..image.moved_to(image.row_start(region.y) + left) })
        }
        (View::Buffer(buffer), Part::Buffer(range)) => {
            View::Buffer(BufferView { offset: buffer.offset + range.start, len: range.len() })
        }
        _ => *view,
    }
}

/// Pairs of byte ranges in which the rows of two views of the same shape lie.
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
