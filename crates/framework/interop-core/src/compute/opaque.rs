//! Images in a texture's own layout, addressed byte-wise; for backends.

use crate::describe::error::{Error, Result};
use crate::describe::geometry::Region;
use crate::describe::surface::{ImageDesc, SurfaceDesc};
use crate::describe::view::View;
use crate::devices::capability::{ComputeCaps, Support};
use crate::devices::identity::DeviceIdentity;
use std::ops::Range;

/// Message of calls that need linear memory (kernel arguments, parts of a queue's copy) and are given an image.
pub const NOT_LINEAR: &str = "this memory is a texture without linear addresses; copy it to linear memory first";

/// An image whose layout only the driver knows, addressed as tightly packed rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpaqueImage {
    desc: ImageDesc,
    len: usize,
}

/// Position of a view in an [`OpaqueImage`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// Rectangle of the view, in the image's row order.
    pub region: Region,
    /// True where the view's rows run in the opposite direction.
    pub reversed: bool,
}

impl Placement {
    /// Returns the row of the view's pixel (0, 0), and the step to its next row: 1 or -1.
    pub const fn first_row(&self) -> (u32, i32) {
        let last = self.region.y.saturating_add(self.region.height.saturating_sub(1));
        if self.reversed { (last, -1) } else { (self.region.y, 1) }
    }
}

impl OpaqueImage {
    /// Describes an image of that size and format.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a zero side, and for a size that exceeds the address space.
    pub fn new(desc: ImageDesc) -> Result<Self> {
        Ok(Self { desc, len: SurfaceDesc::Image(desc).byte_len()? })
    }

    /// Returns the size and format of the image.
    pub const fn desc(&self) -> &ImageDesc {
        &self.desc
    }

    /// Rejects another image whose size or format differs.
    pub fn check_alike(&self, other: &Self) -> Result<()> {
        if (self.desc.extent, self.desc.format) == (other.desc.extent, other.desc.format) {
            return Ok(());
        }
        Err(Error::refused("the two textures differ in size or format"))
    }

    /// Returns the bytes of a linear copy whose rows lie `pitch` bytes apart, within the device's largest allocation:
    /// all of the image, or as many whole rows as fit.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where not even one row fits.
    pub fn copied_at_once(&self, pitch: usize, caps: &ComputeCaps) -> Result<usize> {
        let most = usize::try_from(caps.max_allocation).unwrap_or(usize::MAX);
        match (most / pitch).min(self.desc.extent.height as usize) * pitch {
            0 => Err(Error::refused(format!("a row of the image has more than {most} bytes"))),
            room => Ok(room),
        }
    }

    /// Splits a range of bytes into pieces that fit into a linear copy of `room` bytes.
    pub fn pieces(range: &Range<usize>, room: usize) -> impl Iterator<Item = Range<usize>> {
        let end = range.end;
        range.clone().step_by(room.max(1)).map(move |start| start..end.min(start.saturating_add(room)))
    }

    /// Rejects an image for a kernel that addresses words where the linear copy has only `room` of its `span` bytes.
    ///
    /// # Errors
    /// [`Error::Unsupported`] with the limit.
    pub fn check_room(&self, span: usize, room: usize, device: &DeviceIdentity, caps: &ComputeCaps) -> Result<()> {
        let fits = caps.fits(span as u64).and(|| Support::when(span <= room, "the texture is larger than that copy"));
        fits.ok_or_else(|reason| {
            let reason = format!("the kernel addresses words of the texture, which needs a linear copy: {reason}");
            Error::unsupported(device, reason)
        })
    }

    /// Bytes of one row, tightly packed.
    pub const fn pitch(&self) -> usize {
        self.desc.extent.width as usize * self.desc.format.bytes_per_pixel()
    }

    /// Bytes of all rows, tightly packed.
    #[allow(clippy::len_without_is_empty)] // never empty
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns the position of `view` in the image. Rejects byte ranges, pixels of another size and rows that do not
    /// match.
    pub fn place(&self, view: &View) -> Result<Placement> {
        view.check_inside(self.len)?;
        let view = view.pixels()?;
        let (pixel, pitch) = (self.desc.format.bytes_per_pixel(), self.pitch());
        let start = view.span().start;
        let (x_bytes, top) = (start % pitch, start / pitch);
        let fits = view.format.bytes_per_pixel() == pixel
            && (view.pitch() == pitch || view.extent.height == 1)
            && x_bytes.is_multiple_of(pixel)
            && x_bytes + view.row_len() <= pitch;
        if !fits {
            return Err(Error::refused(format!(
                "{view:?} is not a rectangle of a texture with rows of {pitch} bytes and pixels of {pixel} bytes"
            )));
        }
        // Fits: the image's sides have 32 bits.
        let region = Region::new((x_bytes / pixel) as u32, top as u32, view.extent.width, view.extent.height);
        Ok(Placement { region, reversed: view.is_reversed() })
    }

    /// Splits a range of bytes into at most three rectangles, each with its first byte in the range. Rejects ranges
    /// that cut through a pixel.
    pub fn rectangles(&self, range: &Range<usize>) -> Result<Vec<(usize, Region)>> {
        let (pixel, pitch) = (self.desc.format.bytes_per_pixel(), self.pitch());
        if !(range.start.is_multiple_of(pixel) && range.end.is_multiple_of(pixel)) {
            return Err(Error::refused(format!("bytes {range:?} of a texture cut through a pixel of {pixel} bytes")));
        }
        let (mut list, mut at) = (Vec::with_capacity(3), range.start);
        while at < range.end {
            let (x, left) = (at % pitch, range.end - at);
            let (bytes, rows) = if x == 0 && left >= pitch { (pitch, left / pitch) } else { (left.min(pitch - x), 1) };
            // Fits: the image's sides have 32 bits.
            let region = Region::new((x / pixel) as u32, (at / pitch) as u32, (bytes / pixel) as u32, rows as u32);
            list.push((at - range.start, region));
            at += bytes * rows;
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::format::PixelFormat;
    use crate::describe::geometry::Extent;
    use crate::describe::view::ImageView;

    fn image() -> OpaqueImage {
        OpaqueImage::new(ImageDesc::new(5, 4, PixelFormat::Rgba8)).unwrap()
    }

    #[test]
    fn sizes_that_cannot_be_are_refused() {
        for (width, height) in [(0, 4), (4, 0), (u32::MAX, u32::MAX)] {
            let image = OpaqueImage::new(ImageDesc::new(width, height, PixelFormat::Rgba32F));
            assert!(matches!(image, Err(Error::InvalidInput { .. })), "{width}x{height}");
        }
        let view = |extent| View::Image(ImageView { offset: 0, row_pitch: 20, extent, format: PixelFormat::Rgba8 });
        image().place(&view(Extent::new(5, 0))).unwrap_err();
        image().place(&view(Extent::new(0, 1))).unwrap_err();
    }

    #[test]
    fn views_are_rectangles_either_way_up() {
        let whole = ImageView::packed(Extent::new(5, 4), PixelFormat::Rgba8, 1, 0, true).unwrap();
        let at = image().place(&View::Image(whole)).unwrap();
        assert_eq!((at.region, at.reversed, at.first_row()), (Region::new(0, 0, 5, 4), true, (3, -1)));
        let part = ImageView { offset: 20 + 4, row_pitch: 20, extent: Extent::new(3, 2), format: PixelFormat::Rgba8 };
        let at = image().place(&View::Image(part)).unwrap();
        assert_eq!((at.region, at.first_row()), (Region::new(1, 1, 3, 2), (1, 1)));
        for wrong in [
            ImageView { row_pitch: 24, ..part },
            ImageView { offset: 2, ..part },
            ImageView { extent: Extent::new(5, 2), ..part },
            ImageView { offset: 60, ..part },
            ImageView { format: PixelFormat::R8, ..part },
        ] {
            image().place(&View::Image(wrong)).unwrap_err();
        }
    }

    #[test]
    fn ranges_become_rectangles() {
        let whole = image().rectangles(&(0..80)).unwrap();
        assert_eq!(whole, [(0, Region::new(0, 0, 5, 4))]);
        let ragged = image().rectangles(&(4..72)).unwrap();
        assert_eq!(
            ragged,
            [(0, Region::new(1, 0, 4, 1)), (16, Region::new(0, 1, 5, 2)), (56, Region::new(0, 3, 3, 1))]
        );
        assert!(image().rectangles(&(0..0)).unwrap().is_empty());
        image().rectangles(&(2..8)).unwrap_err();
    }
}
