//! Images in a texture's own order, as byte-wise calls see them; for backends.

use super::check_range;
use crate::error::{Error, Result};
use crate::geometry::Region;
use crate::surface::ImageDesc;
use crate::view::ImageView;
use std::ops::Range;

/// An image whose order only the driver knows, taken for its rows one after the other with no gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpaqueImage {
    /// Size and format.
    pub desc: ImageDesc,
}

/// Where a view lies in an [`OpaqueImage`].
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
        if self.reversed { (self.region.y + self.region.height - 1, -1) } else { (self.region.y, 1) }
    }
}

impl OpaqueImage {
    /// Bytes of one row.
    pub const fn pitch(&self) -> usize {
        self.desc.extent.width as usize * self.desc.format.bytes_per_pixel()
    }

    /// Bytes of all rows.
    #[allow(clippy::len_without_is_empty)] // never empty
    pub const fn len(&self) -> usize {
        self.pitch() * self.desc.extent.height as usize
    }

    /// Where `view` lies; refuses pixels of another size and rows that are not the image's.
    pub fn place(&self, view: &ImageView, operation: &'static str) -> Result<Placement> {
        let (pixel, pitch) = (self.desc.format.bytes_per_pixel(), self.pitch());
        let start = view.span().start;
        let (x_bytes, top) = (start % pitch, start / pitch);
        let fits = view.format.bytes_per_pixel() == pixel
            && (view.pitch() == pitch || view.extent.height == 1)
            && x_bytes.is_multiple_of(pixel)
            && x_bytes + view.row_len() <= pitch
            && view.span().end <= self.len();
        if !fits {
            return Err(Error::invalid(
                operation,
                format!("{view:?} is no rectangle of a texture whose rows have {pitch} bytes, {pixel} for a pixel"),
            ));
        }
        // Inside an image whose sides are of 32 bits.
        let region = Region::new((x_bytes / pixel) as u32, top as u32, view.extent.width, view.extent.height);
        Ok(Placement { region, reversed: view.is_reversed() })
    }

    /// A range of bytes as rectangles (at most three), each with its first byte in the range. Refuses ranges outside and
    /// those that cut a pixel.
    pub fn rectangles(&self, range: &Range<usize>, operation: &'static str) -> Result<Vec<(usize, Region)>> {
        check_range(range, self.len(), operation)?;
        let (pixel, pitch) = (self.desc.format.bytes_per_pixel(), self.pitch());
        if !(range.start.is_multiple_of(pixel) && range.end.is_multiple_of(pixel)) {
            return Err(Error::invalid(
                operation,
                format!("bytes {range:?} of a texture cut a pixel of {pixel} bytes"),
            ));
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
    use crate::format::PixelFormat;
    use crate::geometry::Extent;

    const IMAGE: OpaqueImage = OpaqueImage { desc: ImageDesc::new(5, 4, PixelFormat::Rgba8) };

    #[test]
    fn views_are_rectangles_either_way_up() {
        let whole = ImageView::packed(Extent::new(5, 4), PixelFormat::Rgba8, 1, 0, true).unwrap();
        let at = IMAGE.place(&whole, "t").unwrap();
        assert_eq!((at.region, at.reversed, at.first_row()), (Region::new(0, 0, 5, 4), true, (3, -1)));
        let part = ImageView { offset: 20 + 4, row_pitch: 20, extent: Extent::new(3, 2), format: PixelFormat::Rgba8 };
        let at = IMAGE.place(&part, "t").unwrap();
        assert_eq!((at.region, at.first_row()), (Region::new(1, 1, 3, 2), (1, 1)));
        for wrong in [
            ImageView { row_pitch: 24, ..part },
            ImageView { offset: 2, ..part },
            ImageView { extent: Extent::new(5, 2), ..part },
            ImageView { offset: 60, ..part },
            ImageView { format: PixelFormat::R8, ..part },
        ] {
            IMAGE.place(&wrong, "t").unwrap_err();
        }
    }

    #[test]
    fn ranges_become_rectangles() {
        let whole = IMAGE.rectangles(&(0..80), "t").unwrap();
        assert_eq!(whole, [(0, Region::new(0, 0, 5, 4))]);
        let ragged = IMAGE.rectangles(&(4..72), "t").unwrap();
        assert_eq!(
            ragged,
            [(0, Region::new(1, 0, 4, 1)), (16, Region::new(0, 1, 5, 2)), (56, Region::new(0, 3, 3, 1))]
        );
        assert!(IMAGE.rectangles(&(0..0), "t").unwrap().is_empty());
        IMAGE.rectangles(&(0..84), "t").unwrap_err();
        IMAGE.rectangles(&(2..8), "t").unwrap_err();
    }
}
