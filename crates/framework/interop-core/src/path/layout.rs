//! Layout of a frame, or of a part of one, in shared memory, as each side sees it.

use crate::describe::error::{Error, Result};
use crate::describe::surface::SurfaceDesc;
use crate::describe::view::{BufferView, ImageView, View};
use crate::devices::capability::DisplayCaps;
use crate::display::SurfacePart;

/// Layout of one surface's frames in linear memory.
#[derive(Debug, Clone)]
pub struct FrameLayout {
    desc: SurfaceDesc,
    /// True where the display stores its rows in the opposite order.
    reversed: bool,
    pitch_alignment: usize,
}

/// One part of a frame in transfer: the same bytes as the kernel addresses them and as the display reads them.
#[derive(Debug, Clone)]
pub struct FrameTransfer {
    /// The view that the kernel writes, rows in the surface's order.
    pub kernel: View,
    /// The same bytes with rows in the display's order.
    pub native: View,
    /// Destination of the bytes, rows counted in the display's order.
    pub part: SurfacePart,
}

impl FrameLayout {
    /// Returns the layout for a display with these capabilities.
    pub fn new(desc: &SurfaceDesc, caps: &DisplayCaps) -> Self {
        let reversed = matches!(desc, SurfaceDesc::Image(i) if i.row_order != caps.native_row_order);
        Self { desc: *desc, reversed, pitch_alignment: caps.row_pitch_alignment }
    }

    /// Returns the description of the surface.
    pub fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    /// Returns the layout without padding between rows: images that are not linear have none.
    pub(crate) fn unpadded(self) -> Self {
        Self { pitch_alignment: 1, ..self }
    }

    /// Returns the layout with rows in the display's order, whatever the surface's order is.
    pub(crate) fn in_display_order(self) -> Self {
        Self { reversed: false, ..self }
    }

    /// Returns the layout of a surface that is read back: tight rows in the display's order.
    pub(crate) fn tight(&self) -> Self {
        self.clone().unpadded().in_display_order()
    }

    /// True where the display stores the rows in the opposite order of the surface.
    pub fn is_reversed(&self) -> bool {
        self.reversed
    }

    /// Returns the part that covers all of the surface.
    pub fn full(&self) -> SurfacePart {
        SurfacePart::full(&self.desc)
    }

    /// Bytes of a whole frame, including the display's padding.
    pub fn frame_bytes(&self) -> Result<usize> {
        Ok(self.whole()?.span().end)
    }

    /// Returns the view of the whole frame as the display reads it.
    pub fn whole(&self) -> Result<View> {
        Ok(match self.desc {
            SurfaceDesc::Image(i) => {
                View::Image(ImageView::packed(i.extent, i.format, self.pitch_alignment, 0, false)?)
            }
            SurfaceDesc::Buffer(_) => View::Buffer(BufferView { offset: 0, len: self.desc.byte_len()? }),
        })
    }

    /// Returns `part` (rows in the surface's order) at its position inside the whole frame.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where `part` lies outside the surface.
    pub fn in_place(&self, part: &SurfacePart) -> Result<FrameTransfer> {
        self.within(&self.whole()?, part)
    }

    /// Returns `part` (rows in the surface's order) at its position inside memory that holds the whole frame as `whole`
    /// says, rows in the display's order.
    ///
    /// # Errors
    /// Those of [`FrameLayout::in_place`].
    pub(crate) fn within(&self, whole: &View, part: &SurfacePart) -> Result<FrameTransfer> {
        part.check_inside(&self.desc)?;
        match (*whole, part) {
            (View::Image(whole), SurfacePart::Image(region)) => {
                let part = self.native(part);
                let SurfacePart::Image(native_region) = part else { return Err(wrong_part()) };
                let offset =
                    whole.row_start(native_region.y) + native_region.x as usize * whole.format.bytes_per_pixel();
                let native = ImageView { offset, extent: region.extent(), ..whole };
                let kernel = if self.reversed {
                    let offset = native.row_start(region.height - 1);
                    ImageView { offset, row_pitch: -native.row_pitch, ..native }
                } else {
                    native
                };
                Ok(FrameTransfer { kernel: View::Image(kernel), native: View::Image(native), part })
            }
            (View::Buffer(whole), SurfacePart::Buffer(range)) => {
                let view = View::Buffer(BufferView { offset: whole.offset + range.start, len: range.len() });
                Ok(FrameTransfer { kernel: view, native: view, part: part.clone() })
            }
            _ => Err(wrong_part()),
        }
    }

    /// Returns the view of `part` alone in memory: tight rows in the display's order, seen in the surface's order.
    pub(crate) fn alone(&self, part: &SurfacePart) -> Result<View> {
        Ok(match (self.desc, part) {
            (SurfaceDesc::Image(image), SurfacePart::Image(region)) => {
                View::Image(ImageView::packed(region.extent(), image.format, 1, 0, self.reversed)?)
            }
            (_, SurfacePart::Buffer(range)) => View::Buffer(BufferView { offset: 0, len: range.len() }),
            _ => return Err(wrong_part()),
        })
    }

    /// Converts `part` to rows counted in the display's order.
    pub fn native(&self, part: &SurfacePart) -> SurfacePart {
        match (self.desc, part) {
            (SurfaceDesc::Image(i), SurfacePart::Image(r)) if self.reversed => {
                SurfacePart::Image(r.flipped_in(i.extent))
            }
            _ => part.clone(),
        }
    }

    /// Converts tight rows of the whole surface from the display's order to the surface's order.
    pub fn to_surface_rows(&self, bytes: Vec<u8>) -> Vec<u8> {
        match self.desc {
            SurfaceDesc::Image(i) if self.reversed => {
                let row_len = i.extent.width as usize * i.format.bytes_per_pixel();
                bytes.chunks(row_len.max(1)).rev().collect::<Vec<_>>().concat()
            }
            _ => bytes,
        }
    }
}

fn wrong_part() -> Error {
    Error::invalid("acquire", "a buffer surface has no region of pixels, and an image surface no range of bytes")
}
