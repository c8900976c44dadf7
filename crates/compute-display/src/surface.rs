//! Surfaces: memory of the device, their own or a staging block's.

use crate::display_state::DisplayState;
use crate::draw::{Canvas, Source};
use crate::memory::{Asked, Memory, asked, check_aligned, rows, tight};
use crate::staging::{ComputeStaging, Place};
use crate::target::read;
use interop_core::compute::host_bytes;
use interop_core::describe::pattern::{Pattern, rows as row_ranges};
use interop_core::devices::borrows::Holder;
use interop_core::devices::owned::own;
use interop_core::draw::{Manner, Plan};
use interop_core::{
    ComputeMemory, Error, ImageView, Part, PixelFormat, Region, Result, Staging, Surface, SurfaceDesc, Target, View,
};
use std::any::Any;
use std::borrow::Cow;
use std::rc::Rc;

/// An image or a buffer.
pub struct ComputeSurface {
    display: Rc<DisplayState>,
    desc: SurfaceDesc,
    /// What is seen; none yet at first where it is shown in place.
    shown: Option<(Memory, View)>,
    /// The memory is its own.
    stored: bool,
}

interop_core::owned!(ComputeSurface: DisplayState, "surface", |surface| surface.display.as_ref());

impl ComputeSurface {
    /// With zeroed memory of `bytes` bytes, the size of `desc`.
    pub fn stored(
        display: &Rc<DisplayState>,
        desc: &SurfaceDesc,
        bytes: usize,
        operation: &'static str,
    ) -> Result<Self> {
        let mut memory = display.backend.allocate(bytes)?;
        display.backend.write_pattern(Target::buffer(memory.as_mut()), &Pattern::ZERO)?;
        let shown = Some((Memory::new(memory), tight(desc, operation)?));
        Ok(Self { display: Rc::clone(display), desc: *desc, shown, stored: true })
    }

    pub fn in_place(display: &Rc<DisplayState>, desc: &SurfaceDesc) -> Self {
        Self { display: Rc::clone(display), desc: *desc, shown: None, stored: false }
    }

    /// The memory that is seen, and where in it.
    pub fn shown(&self) -> Result<(&Memory, &View)> {
        self.shown.as_ref().map(|(memory, view)| (memory, view)).ok_or(Error::NothingShown)
    }

    /// The memory, where it is its own.
    fn storage(&self, operation: &'static str) -> Result<(&Memory, &View)> {
        if !self.stored {
            let problem = "this surface shows staging memory in place and has no storage; use read_in_place";
            return Err(Error::invalid(operation, problem));
        }
        self.shown()
    }

    /// A part at its own size, as a draw or a copy reads it, in scratch memory: `then` gets that, and how many bytes it is.
    pub fn seen<R>(
        &self,
        part: &Part,
        operation: &'static str,
        then: impl FnOnce(&mut dyn ComputeMemory, usize) -> Result<R>,
    ) -> Result<R> {
        part.check_inside(&self.desc, operation)?;
        let (memory, view) = self.shown()?;
        match asked(view, part, operation)? {
            Asked::Pixels(view) => {
                let to = rows(view.extent.full(), view.format)?;
                let len = to.span().end;
                self.display.with_scratch(len, |scratch| {
                    let from = memory.get(operation)?;
                    let (source, canvas) =
                        (Source { memory: from.as_ref(), view }, Canvas { memory: scratch, view: to });
                    self.display.draw(&Plan::exact(view.extent), source, canvas, (0, 0))?;
                    then(scratch, len)
                })
            }
            Asked::Bytes { first, len } => self.display.with_scratch(len, |scratch| {
                self.display.copy_bytes((memory.get(operation)?.as_ref(), first), (scratch, 0), len)?;
                then(scratch, len)
            }),
        }
    }

    /// Copies what `view` describes in `bytes`.
    fn store(&self, at: &Part, bytes: &[u8], view: &View, operation: &'static str) -> Result<()> {
        at.check_source(&self.desc, view, bytes.len(), operation)?;
        let (memory, whole) = self.storage(operation)?;
        let bytes = packed(bytes, view)?;
        let mut memory = memory.get_mut(operation)?;
        match asked(whole, at, operation)? {
            Asked::Bytes { first, .. } => memory.write(first, &bytes),
            Asked::Pixels(to) if to.is_contiguous() => memory.write(to.offset, &bytes),
            Asked::Pixels(to) => self.display.with_scratch(bytes.len(), |scratch| {
                scratch.write(0, &bytes)?;
                let source = Source { memory: scratch, view: rows(to.extent.full(), to.format)? };
                self.display.copy_pixels(source, Canvas { memory: memory.as_mut(), view: to })
            }),
        }
    }
}

/// The bytes in tight rows.
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

impl Surface for ComputeSurface {
    fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    fn upload(&mut self, at: &Part, bytes: &[u8], view: &View) -> Result<()> {
        self.store(at, bytes, view, "Surface::upload")
    }

    fn upload_staged(&mut self, at: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        const OP: &str = "Surface::upload_staged";
        let staging = own::<ComputeStaging>(staging.as_any(), &self.display, OP)?;
        at.check_source(&self.desc, view, staging.len(), OP)?;
        check_aligned(view, OP)?;
        let (memory, whole) = self.storage(OP)?;
        let from = match staging.place() {
            Place::Device(from) => from.get(OP)?,
            Place::Host(block) => {
                let bytes = block.read(0..staging.len(), Holder::Staging, OP)?;
                return self.store(at, &bytes, view, OP);
            }
        };
        let mut memory = memory.get_mut(OP)?;
        match (asked(whole, at, OP)?, view) {
            (Asked::Pixels(to), View::Image(view)) => {
                let source = Source { memory: from.as_ref(), view: *view };
                self.display.copy_pixels(source, Canvas { memory: memory.as_mut(), view: to })
            }
            (Asked::Bytes { first, len }, View::Buffer(view)) => {
                self.display.copy_bytes((from.as_ref(), view.offset), (memory.as_mut(), first), len)
            }
            _ => Err(Error::invalid(OP, format!("{view:?} is no part of the {}", self.desc))),
        }
    }

    fn read_in_place(&mut self, staging: &dyn Staging, view: &View) -> Result<()> {
        const OP: &str = "Surface::read_in_place";
        let staging = own::<ComputeStaging>(staging.as_any(), &self.display, OP)?;
        Part::full(&self.desc).check_source(&self.desc, view, staging.len(), OP)?;
        check_aligned(view, OP)?;
        if self.stored {
            let problem =
                "this surface has storage of its own; use upload_staged, or make it with create_in_place_surface";
            return Err(Error::invalid(OP, problem));
        }
        let Place::Device(memory) = staging.place() else {
            let reason = "kernels of this device read no memory of the host; use upload_staged".into();
            return Err(self.display.unsupported(OP, reason));
        };
        self.shown = Some((memory.clone(), *view));
        Ok(())
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        const OP: &str = "Surface::read_back";
        self.seen(part, OP, read)
    }

    fn draw_back(&mut self, region: Region, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        const OP: &str = "Surface::draw_back";
        let part = Part::Image(region);
        part.check_inside(&self.desc, OP)?;
        let (memory, view) = self.shown()?;
        let (Asked::Pixels(view), None) = (asked(view, &part, OP)?, manner) else { return Ok(None) };
        let to = rows(region, PixelFormat::Rgba8)?;
        let len = to.span().end;
        let drawn = self.display.with_scratch(len, |scratch| {
            self.display.clear(Canvas { memory: &mut *scratch, view: to }, [0; 16])?;
            let from = memory.get(OP)?;
            let source = Source { memory: from.as_ref(), view };
            self.display.draw(plan, source, Canvas { memory: &mut *scratch, view: to }, (0, 0))?;
            read(scratch, len)
        });
        drawn.map(Some)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Where an image is shown.
pub fn image_of(view: &View, operation: &'static str) -> Result<ImageView> {
    match view {
        View::Image(image) => Ok(*image),
        View::Buffer(_) => Err(Error::invalid(operation, "a buffer has no pixels; give an image")),
    }
}
