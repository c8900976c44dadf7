//! A place to draw into.

use crate::display_state::DisplayState;
use crate::draw::Canvas;
use crate::memory::rows;
use interop_core::compute::zeros;
use interop_core::describe::color::store;
use interop_core::{ComputeMemory, ImageDesc, ImageView, PixelFormat, Region, Result, SurfaceDesc};
use std::rc::Rc;

/// A picture in the device's memory to draw into ([`crate::ComputeDisplay::draw`]): tight rows, row 0 is the top row.
///
/// It has no format that encodes; where a draw says so, it encodes like one.
pub struct ComputeTarget {
    display: Rc<DisplayState>,
    memory: Box<dyn ComputeMemory>,
    view: ImageView,
}

interop_core::owned!(ComputeTarget: DisplayState, "target", |target| target.display.as_ref());

impl ComputeTarget {
    /// Zeroed.
    pub(crate) fn new(display: &Rc<DisplayState>, width: u32, height: u32, format: PixelFormat) -> Result<Self> {
        let desc = ImageDesc::new(width, height, format);
        let bytes = display.check(&SurfaceDesc::Image(desc))?;
        let memory = display.backend.allocate(bytes)?;
        let mut target = Self { display: Rc::clone(display), memory, view: rows(desc.extent.full(), format)? };
        target.fill([0; 16])?;
        Ok(target)
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        (self.view.extent.width, self.view.extent.height)
    }

    /// Format of a pixel.
    pub fn format(&self) -> PixelFormat {
        self.view.format
    }

    /// Fills it with red, green, blue and alpha as numbers of its format, in the display's queue.
    ///
    /// # Errors
    /// What the backend reports.
    pub fn clear(&mut self, color: [f32; 4]) -> Result<()> {
        let mut pixel = [0; 16];
        store(self.view.format, color, &mut pixel);
        self.fill(pixel)
    }

    fn fill(&mut self, pixel: [u8; 16]) -> Result<()> {
        let canvas = Canvas { memory: self.memory.as_mut(), view: self.view };
        self.display.clear(canvas, pixel)
    }

    /// Every pixel as it is, in tight rows, top row first. Waits for what was drawn.
    ///
    /// # Errors
    /// [`Unavailable`](interop_core::Error::Unavailable) where the host has too little memory, and what the backend reports.
    pub fn read_pixels(&mut self) -> Result<Vec<u8>> {
        read(self.memory.as_mut(), self.view.span().len())
    }

    /// The memory that it is: an argument of the backend's kernels ([`interop_core::Arg::Memory`]), which follow what was drawn
    /// before.
    pub fn memory(&self) -> &dyn ComputeMemory {
        self.memory.as_ref()
    }

    /// The memory with the pixels, to be written or mapped.
    pub fn memory_mut(&mut self) -> &mut dyn ComputeMemory {
        self.memory.as_mut()
    }

    /// Tells where in the memory its pixels lie.
    pub fn view(&self) -> ImageView {
        self.view
    }

    /// Checks where a draw goes.
    pub(crate) fn check(&self, viewport: Region) -> Result<()> {
        viewport.check_inside(self.view.extent)
    }

    pub(crate) fn canvas(&mut self) -> Canvas<'_> {
        Canvas { memory: self.memory.as_mut(), view: self.view }
    }
}

/// The first bytes of a memory.
pub(crate) fn read(memory: &mut dyn ComputeMemory, len: usize) -> Result<Vec<u8>> {
    let mut bytes = zeros(len)?;
    memory.read(0, &mut bytes)?;
    Ok(bytes)
}
