//! Images in a texture's own order, as byte-wise calls see them; for backends.

use crate::describe::error::{Error, Result};
use crate::describe::geometry::Region;
use crate::describe::surface::{ImageDesc, SurfaceDesc};
use crate::describe::view::View;
use crate::devices::capability::{ComputeCaps, Support};
use crate::devices::identity::DeviceIdentity;
use std::ops::Range;

/// Message of calls that need linear memory (kernel arguments, parts of a queue's copy) when they are given an image.
pub const NOT_LINEAR: &str = "this memory is a texture's own, which no address reaches; copy it to linear memory first";

/// An image whose order only the driver knows, taken for its rows one after the other with no gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpaqueImage {
    desc: ImageDesc,
    len: usize,
}

/// Position of a view in an [`OpaqueImage`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// In the image's order of rows.
    pub region: Region,
    /// The view's rows go the other way.
    pub reversed: bool,
}

impl Placement {
    /// Row of the view's pixel (0, 0), and the step to its next row.
    pub const fn first_row(&self) -> (u32, i32) {
        let last = self.region.y.saturating_add(self.region.height.saturating_sub(1));
        if self.reversed { (last, -1) } else { (self.region.y, 1) }
    }
}

impl OpaqueImage {
    /// An image of that size and format.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a zero side, and for more bytes than can be addressed.
    pub fn new(desc: ImageDesc) -> Result<Self> {
        Ok(Self { desc, len: SurfaceDesc::Image(desc).byte_len()? })
    }

    /// Size and format.
    pub const fn desc(&self) -> &ImageDesc {
        &self.desc
    }

    /// Refuses another image whose bytes do not lie where this one's do.
    pub fn check_alike(&self, other: &Self) -> Result<()> {
        if (self.desc.extent, self.desc.format) == (other.desc.extent, other.desc.format) {
            return Ok(());
        }
        Err(Error::refused("the two textures differ in size or format"))
    }

    /// Bytes of a linear copy of it, whose rows lie `pitch` bytes apart, on a device that allocates so many at most: all of it, or as
    /// many whole rows as there is room for.
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

    /// Cuts a range of bytes into pieces that a linear copy of `room` bytes holds.
    pub fn pieces(range: &Range<usize>, room: usize) -> impl Iterator<Item = Range<usize>> {
        let end = range.end;
        range.clone().step_by(room.max(1)).map(move |start| start..end.min(start.saturating_add(room)))
    }

    /// Refuses what a kernel that names words would need of it where only `room` bytes of it are copied at once.
    ///
    /// # Errors
    /// [`Error::Unsupported`] names the limit.
    pub fn check_room(&self, span: usize, room: usize, device: &DeviceIdentity, caps: &ComputeCaps) -> Result<()> {
        match caps.fits(span as u64).and(|| Support::when(span <= room, "its linear copy has no room for it")) {
            Support::Yes => Ok(()),
            Support::No(reason) => {
                let reason = format!("the kernel names words of the texture, by way of memory: {reason}");
                Err(Error::unsupported(device.to_string(), reason))
            }
        }
    }

    /// Bytes of one row.
    pub const fn pitch(&self) -> usize {
        self.desc.extent.width as usize * self.desc.format.bytes_per_pixel()
    }

    /// Bytes of all rows.
    #[allow(clippy::len_without_is_empty)] // never empty
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Tells where `view` lies; refuses bytes, pixels of another size and rows that are not the image's.
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
                "{view:?} is no rectangle of a texture whose rows have {pitch} bytes, {pixel} for a pixel"
            )));
        }
        // Inside an image whose sides are of 32 bits.
        let region = Region::new((x_bytes / pixel) as u32, top as u32, view.extent.width, view.extent.height);
        Ok(Placement { region, reversed: view.is_reversed() })
    }

    /// A range of bytes inside as rectangles (at most three), each with its first byte in the range. Refuses those that cut a pixel.
    pub fn rectangles(&self, range: &Range<usize>) -> Result<Vec<(usize, Region)>> {
        let (pixel, pitch) = (self.desc.format.bytes_per_pixel(), self.pitch());
        if !(range.start.is_multiple_of(pixel) && range.end.is_multiple_of(pixel)) {
            return Err(Error::refused(format!("bytes {range:?} of a texture cut a pixel of {pixel} bytes")));
        }
        let (mut list, mut at) = (Vec::with_capacity(3), range.start);
        while at < range.end {
            let (x, left) = (at % pitch, range.end - at);
            let (bytes, rows) = if x == 0 && left >= pitch { (pitch, left / pitch) } else { (left.min(pitch - x), 1) };
            // Inside an image whose sides are of 32 bits.
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
