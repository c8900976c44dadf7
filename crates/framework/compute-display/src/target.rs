//! The target that the display draws into.

use crate::display_state::DisplayState;
use crate::draw::Canvas;
use crate::memory::rows;
use interop_core::compute::zeros;
use interop_core::describe::color::store;
use interop_core::{ComputeMemory, ImageDesc, ImageView, PixelFormat, Region, Result, SurfaceDesc};
use std::sync::Arc;

/// A target in the device's memory for draws ([`crate::ComputeDisplay::draw`]): tight rows, row 0 is the top row.
///
/// It has no format that encodes; where a draw requests an encoding format, it encodes in the same way.
pub struct ComputeTarget {
    display: Arc<DisplayState>,
    memory: Box<dyn ComputeMemory>,
    view: ImageView,
}

interop_core::owned!(ComputeTarget: DisplayState, "target", |target| target.display.as_ref());

impl ComputeTarget {
    /// Creates a zeroed target.
    pub(crate) fn new(display: &Arc<DisplayState>, width: u32, height: u32, format: PixelFormat) -> Result<Self> {
        let desc = ImageDesc::new(width, height, format);
        let bytes = display.check(&SurfaceDesc::Image(desc))?;
        let memory = display.backend.allocate(bytes)?;
        let mut target = Self { display: Arc::clone(display), memory, view: rows(desc.extent.full(), format)? };
        target.fill([0; 16])?;
        Ok(target)
    }

    /// Returns the width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        (self.view.extent.width, self.view.extent.height)
    }

    /// Returns the pixel format.
    pub fn format(&self) -> PixelFormat {
        self.view.format
    }

    /// Fills the target with red, green, blue and alpha, as numbers of its format, in the display's queue.
    ///
    /// # Errors
    /// Errors of the backend.
    pub fn clear(&mut self, color: [f32; 4]) -> Result<()> {
        let mut pixel = [0; 16];
        store(self.view.format, color, &mut pixel);
        self.fill(pixel)
    }

    fn fill(&mut self, pixel: [u8; 16]) -> Result<()> {
        let canvas = Canvas { memory: self.memory.as_mut(), view: self.view };
        self.display.clear(canvas, pixel)
    }

    /// Returns every pixel unchanged, in tight rows, top row first. Waits for queued draws.
    ///
    /// # Errors
    /// [`Unavailable`](interop_core::Error::Unavailable) where the host has too little memory; errors of the backend.
    pub fn read_pixels(&mut self) -> Result<Vec<u8>> {
        read(self.memory.as_mut(), self.view.span().len())
    }

    /// Returns the target's memory, as an argument for the backend's kernels ([`interop_core::Arg::Memory`]). They run
    /// after the draws queued before.
    pub fn memory(&self) -> &dyn ComputeMemory {
        self.memory.as_ref()
    }

    /// Returns the target's memory, for writes and maps.
    pub fn memory_mut(&mut self) -> &mut dyn ComputeMemory {
        self.memory.as_mut()
    }

    /// Returns the layout of its pixels in the memory.
    pub fn view(&self) -> ImageView {
        self.view
    }

    /// Checks that the viewport is not empty and lies inside.
    pub(crate) fn check(&self, viewport: Region) -> Result<()> {
        viewport.check_inside(self.view.extent)
    }

    pub(crate) fn canvas(&mut self) -> Canvas<'_> {
        Canvas { memory: self.memory.as_mut(), view: self.view }
    }
}

/// Reads the first bytes of a memory.
pub(crate) fn read(memory: &mut dyn ComputeMemory, len: usize) -> Result<Vec<u8>> {
    let mut bytes = zeros(len)?;
    memory.read(0, &mut bytes)?;
    Ok(bytes)
}
