//! The shape of an encoder's pictures, and conversion of rows for it.

use super::child::Raw;
use super::error::Error;
use crate::wire::{HEADER_BYTES, Header, Limits};
use interop_core::{Extent, PixelFormat, RowOrder};

/// Smaller pictures are padded for browsers, which know the picture's own size: some hardware needs at least 145
/// pixels.
const LEAST: u32 = 160;
/// Shortest side of a film, which is the minimum of the encoders.
const LEAST_OF_FILM: u32 = 16;
/// Longest side of both software encoders. If hardware supports less, the next encoder is tried.
const MOST: u32 = 16_384;

/// Size and format of pictures. An encoder accepts pictures of one shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    extent: Extent,
    format: PixelFormat,
    /// The encoded size: even, because H.264 halves colours, with the picture in its upper left corner.
    padded: Extent,
}

/// Returns the header of a picture's message. The receiver of the message has checked the limits.
pub(crate) fn header(message: &[u8]) -> Result<Header, Error> {
    Ok(Header::read(message, &Limits { bytes: u64::MAX, ..Limits::default() })?)
}

impl Shape {
    /// Returns the shape of a picture's message.
    ///
    /// # Errors
    /// [`Error::Wire`]; [`Error::Format`] and [`Error::Size`] for pictures that no encoder supports.
    pub fn of(message: &[u8]) -> Result<Self, Error> {
        Self::new(&header(message)?)
    }

    pub(crate) fn new(header: &Header) -> Result<Self, Error> {
        let extent = header.image.extent;
        let padded = sides(extent, |side| side.max(LEAST).next_multiple_of(4));
        let shape = Self { extent, format: header.image.format, padded };
        if shape.name().is_none() {
            return Err(Error::Format(shape.format));
        }
        if shape.extent.width.max(shape.extent.height) > MOST {
            return Err(Error::Size(shape.extent));
        }
        Ok(shape)
    }

    /// Returns the shape of a film, whose size is visible to everyone: only an odd side gets one more pixel. Encoders
    /// crop what they add themselves.
    ///
    /// # Errors
    /// Those of [`Shape::of`].
    pub(crate) fn of_film(message: &[u8]) -> Result<Self, Error> {
        let shape = Self::of(message)?;
        if shape.extent.width.min(shape.extent.height) < LEAST_OF_FILM {
            return Err(Error::Size(shape.extent));
        }
        Ok(Self { padded: sides(shape.extent, |side| side.next_multiple_of(2)), ..shape })
    }

    /// Returns whether a header's picture has this shape.
    pub(crate) fn is_of(&self, header: &Header) -> bool {
        (self.extent, self.format) == (header.image.extent, header.image.format)
    }

    /// Describes its pictures for the child.
    pub(crate) fn raw(&self, rate: u32) -> Raw {
        Raw { format: self.name().unwrap_or_default(), extent: self.padded, rate }
    }

    /// GStreamer's name of the format.
    fn name(&self) -> Option<&'static str> {
        match self.format {
            PixelFormat::Rgba8 => Some("rgbx"),
            PixelFormat::Bgra8 => Some("bgrx"),
            PixelFormat::R8 => Some("gray8"),
            _ => None,
        }
    }

    pub(crate) fn padded(&self) -> Extent {
        self.padded
    }

    /// Bytes of a padded picture.
    pub(crate) fn padded_bytes(&self) -> usize {
        let Extent { width, height } = self.padded;
        width as usize * height as usize * self.format.bytes_per_pixel()
    }

    /// Returns rows of the padded size, top row first, with the picture's last pixels repeated beyond it.
    pub(crate) fn rows(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let header = header(message)?;
        let pixels = header.unpack(message.get(HEADER_BYTES..).unwrap_or_default())?;
        let is_top_down = header.image.row_order == RowOrder::TopDown;
        let padded = self.padded;
        if is_top_down && padded == self.extent {
            return Ok(pixels);
        }
        let pixel = self.format.bytes_per_pixel();
        let row_bytes = self.extent.width as usize * pixel;
        let mut rows = Vec::with_capacity(self.padded_bytes());
        let last = self.extent.height.saturating_sub(1);
        for y in 0..padded.height {
            let seen = y.min(last);
            let stored = if is_top_down { seen } else { last - seen } as usize;
            // `unpack` returns exactly the picture's bytes.
            let row = pixels.get(stored * row_bytes..(stored + 1) * row_bytes).unwrap_or_default();
            rows.extend_from_slice(row);
            for _ in self.extent.width..padded.width {
                rows.extend_from_slice(row.get(row_bytes - pixel..).unwrap_or_default());
            }
        }
        Ok(rows)
    }
}

fn sides(extent: Extent, side: impl Fn(u32) -> u32) -> Extent {
    Extent::new(side(extent.width), side(extent.height))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::MessageKind;
    use interop_core::ImageDesc;

    fn message(image: ImageDesc, pixels: &[u8]) -> Vec<u8> {
        [&Header::new(MessageKind::Picture, image, image.extent.full()).to_bytes()[..], pixels].concat()
    }

    #[test]
    fn rows_are_flipped_and_their_edges_repeated() {
        for order in [RowOrder::TopDown, RowOrder::BottomUp] {
            let image = ImageDesc::new(3, 2, PixelFormat::R8).with_row_order(order);
            let message = message(image, &[1, 2, 3, 4, 5, 6]);
            let rows = Shape::of(&message).unwrap().rows(&message).unwrap();
            assert_eq!(rows.len(), (LEAST * LEAST) as usize);
            let (first, last) =
                if order == RowOrder::TopDown { ([1, 2, 3], [4, 5, 6]) } else { ([4, 5, 6], [1, 2, 3]) };
            let row = |y: usize| &rows[y * LEAST as usize..(y + 1) * LEAST as usize];
            assert_eq!((&row(0)[..3], &row(1)[..3]), (&first[..], &last[..]));
            assert!(row(0)[3..].iter().all(|&value| value == first[2]));
            assert_eq!(row(159), row(1));
        }
    }

    #[test]
    fn what_h264_cannot_have_is_refused() {
        let deep = ImageDesc::new(2, 2, PixelFormat::Rg8);
        assert!(matches!(Shape::of(&message(deep, &[0; 8])), Err(Error::Format(PixelFormat::Rg8))));
        let wide = ImageDesc::new(20_000, 1, PixelFormat::R8);
        assert!(matches!(Shape::of(&message(wide, &[0; 20_000])), Err(Error::Size(_))));
        assert!(matches!(Shape::of(&[1, 2]), Err(Error::Wire(_))));
    }
}
