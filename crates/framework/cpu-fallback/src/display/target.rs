//! The target that the memory display draws into.

use interop_core::compute::zeros;
use interop_core::describe::color::store;
use interop_core::draw::{Plan, paint};
use interop_core::{Extent, ImageView, PixelFormat, Region, Result, View};

/// A picture in memory to draw into ([`crate::MemoryDisplay::draw`]). Row 0 is the top row.
///
/// It has no format that encodes; where a draw requests an encoding format, it encodes in the same way.
#[derive(Debug, Clone)]
pub struct OffscreenTarget {
    bytes: Vec<u8>,
    view: ImageView,
}

impl OffscreenTarget {
    /// Creates a zeroed target; its description was checked against the display's limits.
    pub(crate) fn new(extent: Extent, format: PixelFormat, len: usize) -> Result<Self> {
        let view = ImageView::packed(extent, format, 1, 0, false)?;
        Ok(Self { bytes: zeros(len)?, view })
    }

    /// Returns the width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        (self.view.extent.width, self.view.extent.height)
    }

    /// Returns the pixel format.
    pub fn format(&self) -> PixelFormat {
        self.view.format
    }

    /// Fills the target with red, green, blue and alpha, as numbers of its format.
    pub fn clear(&mut self, color: [f32; 4]) {
        let format = self.view.format;
        self.bytes.chunks_exact_mut(format.bytes_per_pixel()).for_each(|pixel| store(format, color, pixel));
    }

    /// Returns every pixel unchanged, in tight rows, top row first.
    pub fn read_pixels(&self) -> &[u8] {
        &self.bytes
    }

    /// Checks that the viewport is not empty and lies inside.
    pub(crate) fn check(&self, viewport: Region) -> Result<()> {
        viewport.check_inside(self.view.extent)
    }

    /// Draws a surface's pixels by a plan for a viewport at `at`.
    pub(crate) fn paint(&mut self, plan: &Plan, bytes: &[u8], view: &View, at: (u32, u32)) -> Result<()> {
        paint(plan, (bytes, view.pixels()?), (&mut self.bytes, &self.view), at)
    }
}
