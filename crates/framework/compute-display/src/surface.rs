//! Surfaces in device memory: their own, or that of a staging block.

use crate::display_state::DisplayState;
use crate::draw::{Canvas, Source};
use crate::memory::{CheckedView, Memory, asked, check_aligned, rows, tight};
use crate::staging::{BlockMemory, ComputeStaging};
use crate::target::read;
use interop_core::compute::host_bytes;
use interop_core::describe::pattern::{Pattern, rows as row_ranges};
use interop_core::devices::borrows::Holder;
use interop_core::devices::maker_object::own;
use interop_core::display::{Content, InPlaceDriver, StoredDriver, SurfaceDriver};
use interop_core::draw::{Manner, Plan};
use interop_core::{ComputeMemory, Error, PixelFormat, Result, Staging, SurfaceDesc, SurfacePart, Target, View};
use std::borrow::Cow;
use std::sync::Arc;

/// An image or a buffer in device memory.
pub struct ComputeSurface {
    display: Arc<DisplayState>,
    /// The memory that is shown; `None` until an in-place surface shows the first block.
    shown: Option<(Memory, View)>,
}

interop_core::owned!(ComputeSurface: DisplayState, "surface", |surface| surface.display.as_ref());

impl ComputeSurface {
    /// Creates a surface with zeroed memory of `bytes` bytes, the size of `desc`.
    pub fn stored(display: &Arc<DisplayState>, desc: &SurfaceDesc, bytes: usize) -> Result<Self> {
        let mut memory = display.backend.allocate(bytes)?;
        display.backend.write_pattern(Target::buffer(memory.as_mut()), &Pattern::ZERO)?;
        let shown = Some((Memory::new(memory), tight(desc)?));
        Ok(Self { display: Arc::clone(display), shown })
    }

    pub fn in_place(display: &Arc<DisplayState>) -> Self {
        Self { display: Arc::clone(display), shown: None }
    }

    /// Returns the visible memory, and the view of the image or buffer in it.
    pub fn shown(&self) -> Result<(&Memory, &View)> {
        self.shown.as_ref().map(|(memory, view)| (memory, view)).ok_or(Error::NothingShown)
    }

    /// Copies a part to scratch memory at its own size, as a draw or a copy reads it; `then` receives that memory and
    /// its number of bytes.
    pub fn seen<R>(
        &self,
        part: &SurfacePart,
        then: impl FnOnce(&mut dyn ComputeMemory, usize) -> Result<R>,
    ) -> Result<R> {
        let (memory, view) = self.shown()?;
        match asked(view, part)? {
            CheckedView::Pixels(view) => {
                let to = rows(view.extent.full(), view.format)?;
                let len = to.span().end;
                self.display.with_scratch(len, |scratch| {
                    let from = memory.get()?;
                    let (source, canvas) =
                        (Source { memory: from.as_ref(), view }, Canvas { memory: scratch, view: to });
                    self.display.draw(&Plan::exact(view.extent), source, canvas, (0, 0))?;
                    then(scratch, len)
                })
            }
            CheckedView::Bytes { first, len } => self.display.with_scratch(len, |scratch| {
                self.display.copy_bytes((memory.get()?.as_ref(), first), (scratch, 0), len)?;
                then(scratch, len)
            }),
        }
    }

    /// Copies the bytes that `view` describes.
    fn store(&self, at: &SurfacePart, bytes: &[u8], view: &View) -> Result<()> {
        let (memory, whole) = self.shown()?;
        let bytes = packed(bytes, view)?;
        let mut memory = memory.get_mut()?;
        match asked(whole, at)? {
            CheckedView::Bytes { first, .. } => memory.write(first, &bytes),
            CheckedView::Pixels(to) if to.is_contiguous() => memory.write(to.offset, &bytes),
            CheckedView::Pixels(to) => self.display.with_scratch(bytes.len(), |scratch| {
                scratch.write(0, &bytes)?;
                let source = Source { memory: scratch, view: rows(to.extent.full(), to.format)? };
                self.display.copy_pixels(source, Canvas { memory: memory.as_mut(), view: to })
            }),
        }
    }

    /// Copies to a block of device memory.
    fn fetch(&self, at: &SurfacePart, staging: &Staging, view: View) -> Result<bool> {
        let staging = own::<ComputeStaging>(staging.driver(), &self.display)?;
        let BlockMemory::Device(to) = staging.place() else { return Ok(false) };
        let (memory, whole) = self.shown()?;
        let (from, mut to) = (memory.get()?, to.get_mut()?);
        match (asked(whole, at)?, view) {
            (CheckedView::Pixels(of), View::Image(view)) => {
                let source = Source { memory: from.as_ref(), view: of };
                self.display.copy_pixels(source, Canvas { memory: to.as_mut(), view })?;
            }
            (CheckedView::Bytes { first, len }, view) => {
                self.display.copy_bytes((from.as_ref(), first), (to.as_mut(), view.span().start), len)?;
            }
            (CheckedView::Pixels(_), View::Buffer(_)) => return Ok(false),
        }
        Ok(true)
    }
}

/// Returns the bytes in tight rows.
fn packed<'b>(bytes: &'b [u8], view: &View) -> Result<Cow<'b, [u8]>> {
    let is_tight = match view {
        View::Image(image) => image.is_contiguous() || image.extent.height == 1,
        View::Buffer(_) => true,
    };
    if is_tight {
        return Ok(Cow::Borrowed(&bytes[view.span()]));
    }
    let mut rows = host_bytes(view.payload_len())?;
    row_ranges(view).for_each(|(_, row)| rows.extend_from_slice(&bytes[row]));
    Ok(Cow::Owned(rows))
}

impl<C: Content> SurfaceDriver<C> for ComputeSurface {
    fn read_back(&mut self, at: &C::At) -> Result<Vec<u8>> {
        self.seen(&C::part(at), read)
    }

    fn draw_back(&mut self, at: &C::At, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        let (memory, view) = self.shown()?;
        let (CheckedView::Pixels(view), None) = (asked(view, &C::part(at))?, manner) else { return Ok(None) };
        let to = rows(view.extent.full(), PixelFormat::Rgba8)?;
        let len = to.span().end;
        let drawn = self.display.with_scratch(len, |scratch| {
            self.display.clear(Canvas { memory: &mut *scratch, view: to }, [0; 16])?;
            let from = memory.get()?;
            let source = Source { memory: from.as_ref(), view };
            self.display.draw(plan, source, Canvas { memory: &mut *scratch, view: to }, (0, 0))?;
            read(scratch, len)
        });
        drawn.map(Some)
    }
}

impl<C: Content> StoredDriver<C> for ComputeSurface {
    fn downloads(&self, staging: &Staging) -> bool {
        let own = own::<ComputeStaging>(staging.driver(), &self.display);
        own.is_ok_and(ComputeStaging::is_of_the_device)
    }

    fn download(&mut self, at: &C::At, staging: &mut Staging, view: &C::View) -> Result<()> {
        self.fetch(&C::part(at), staging, C::view(view)).map(drop)
    }

    fn upload(&mut self, at: &C::At, bytes: &[u8], view: &C::View) -> Result<()> {
        self.store(&C::part(at), bytes, &C::view(view))
    }

    fn upload_staged(&mut self, at: &C::At, staging: &mut Staging, view: &C::View) -> Result<()> {
        let (at, view, len) = (C::part(at), C::view(view), staging.len());
        let staging = own::<ComputeStaging>(staging.driver(), &self.display)?;
        check_aligned(&view)?;
        let (memory, whole) = self.shown()?;
        let from = match staging.place() {
            BlockMemory::Device(from) => from.get()?,
            BlockMemory::Host(block) => {
                let bytes = block.read(0..len, Holder::Staging)?;
                return self.store(&at, &bytes, &view);
            }
        };
        let mut memory = memory.get_mut()?;
        match (asked(whole, &at)?, view) {
            (CheckedView::Pixels(to), View::Image(view)) => {
                let source = Source { memory: from.as_ref(), view };
                self.display.copy_pixels(source, Canvas { memory: memory.as_mut(), view: to })
            }
            (CheckedView::Bytes { first, len }, view) => {
                self.display.copy_bytes((from.as_ref(), view.span().start), (memory.as_mut(), first), len)
            }
            (CheckedView::Pixels(_), View::Buffer(_)) => {
                Err(Error::refused("a view of bytes was given for an image; give a view of pixels"))
            }
        }
    }
}

impl<C: Content> InPlaceDriver<C> for ComputeSurface {
    fn download_shown(&mut self, at: &C::At, staging: &mut Staging, view: &C::View) -> Result<bool> {
        self.fetch(&C::part(at), staging, C::view(view))
    }

    fn show(&mut self, staging: &Staging, view: &C::View) -> Result<()> {
        let (staging, view) = (own::<ComputeStaging>(staging.driver(), &self.display)?, C::view(view));
        check_aligned(&view)?;
        let BlockMemory::Device(memory) = staging.place() else {
            let reason = "kernels of this device cannot read host memory; use upload_staged".into();
            return Err(self.display.unsupported(reason));
        };
        self.shown = Some((memory.clone(), view));
        Ok(())
    }
}
