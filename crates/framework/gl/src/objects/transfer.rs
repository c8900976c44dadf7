//! Pixel-store parameters: the layout of a transfer's pixels in memory.

use interop_core::{ImageView, Region};

/// Destination and layout of a checked image transfer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ImageTransfer {
    pub at: Region,
    pub view: ImageView,
    /// Row pitch in pixels, where GL can express it.
    pub row_length: Option<i32>,
}

/// Positions of an image's rows in linear memory, in texels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Texels {
    /// Texel of pixel (0, 0).
    pub base: i32,
    /// Texels from row to row.
    pub pitch: i32,
    /// One past the last texel.
    pub end: u64,
}

impl ImageTransfer {
    pub(crate) fn new(at: &Region, view: &ImageView) -> Self {
        let bpp = view.format.bytes_per_pixel();
        let expressible = view.pitch().is_multiple_of(bpp);
        let row_length = if view.extent.height == 1 || view.is_contiguous() {
            Some(0)
        } else {
            i32::try_from(view.pitch() / bpp).ok().filter(|_| expressible)
        };
        Self { at: *at, view: *view, row_length }
    }

    /// Returns `None` where the rows do not start at whole pixels.
    pub(crate) fn texels(&self) -> Option<Texels> {
        let bpp = self.view.format.bytes_per_pixel();
        let tight = i32::try_from(self.view.extent.width).ok()?;
        let pitch = self.row_length.map(|n| if n == 0 { tight } else { n })?;
        let base = i32::try_from(self.view.offset / bpp).ok()?;
        let end = (self.view.span().end / bpp) as u64;
        self.view.offset.is_multiple_of(bpp).then_some(Texels { base, pitch, end })
    }
}
