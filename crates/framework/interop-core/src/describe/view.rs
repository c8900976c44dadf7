//! Layout of a frame inside linear memory: offsets and pitches in bytes.

use super::error::{Error, Result};
use super::format::PixelFormat;
use super::geometry::Extent;
use std::ops::Range;

/// An image in linear memory. Pixel (x, y) starts at byte `offset + y * row_pitch + x * bytes_per_pixel`.
///
/// A negative `row_pitch` (with `offset` at the last row) stores the rows in reverse.
///
/// ```
/// use interop_core::{Extent, ImageView, PixelFormat};
///
/// // Rows of 12 bytes that begin at multiples of 16.
/// let view = ImageView::packed(Extent::new(3, 2), PixelFormat::Rgba8, 16, 0, false)?;
/// assert_eq!((view.row_len(), view.pitch()), (12, 16));
/// assert_eq!(view.row(1), 16..28);
/// let upside_down = ImageView::packed(Extent::new(3, 2), PixelFormat::Rgba8, 16, 0, true)?;
/// assert_eq!((upside_down.row(0), upside_down.row_pitch), (16..28, -16));
/// # Ok::<(), interop_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageView {
    /// Byte of pixel (0, 0).
    pub offset: usize,
    /// Bytes from one row to the next, a multiple of the pixel size; negative where rows are stored in reverse.
    pub row_pitch: isize,
    /// Size in pixels.
    pub extent: Extent,
    /// Pixel format.
    pub format: PixelFormat,
}

/// A range of bytes in linear memory.
///
/// ```
/// use interop_core::{BufferView, View};
///
/// let second_half = View::Buffer(BufferView { offset: 512, len: 512 });
/// assert_eq!(second_half.span(), 512..1024);
/// assert!(second_half.check_inside(1024).is_ok());
/// assert!(second_half.check_inside(1000).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferView {
    /// First byte.
    pub offset: usize,
    /// Number of bytes.
    pub len: usize,
}

/// Layout of the memory that a kernel may write: an image or a buffer.
///
/// ```
/// use interop_core::{Extent, ImageView, PixelFormat, View};
///
/// let padded = ImageView::packed(Extent::new(3, 2), PixelFormat::R8, 4, 0, false)?;
/// let view = View::Image(padded);
/// // Six pixels; the byte between the two rows is padding, and the last row has none.
/// assert_eq!((view.payload_len(), view.span()), (6, 0..7));
/// # Ok::<(), interop_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// Pixels in rows.
    Image(ImageView),
    /// A range of bytes.
    Buffer(BufferView),
}

impl ImageView {
    /// Packs the rows of `extent` as tightly as `pitch_alignment` (bytes, a power of two) allows, starting at byte
    /// `base`. With `reversed`, row 0 is the last in memory.
    pub fn packed(
        extent: Extent,
        format: PixelFormat,
        pitch_alignment: usize,
        base: usize,
        reversed: bool,
    ) -> Result<Self> {
        let too_large = || Error::refused(format!("{extent} {format} exceeds the address space; use a smaller size"));
        if extent.width == 0 || extent.height == 0 {
            return Err(Error::refused(format!("{extent} has a zero side; give at least 1x1")));
        }
        if !pitch_alignment.is_power_of_two() {
            return Err(Error::refused(format!("invalid pitch alignment {pitch_alignment}; give a power of two")));
        }
        let bpp = format.bytes_per_pixel();
        let pitch = (extent.width as usize)
            .checked_mul(bpp)
            .and_then(|row| row.checked_next_multiple_of(pitch_alignment.max(bpp)))
            .ok_or_else(too_large)?;
        let last_row = pitch.checked_mul(extent.height as usize - 1).ok_or_else(too_large)?;
        let end = last_row.checked_add(pitch).and_then(|n| n.checked_add(base)).ok_or_else(too_large)?;
        if isize::try_from(end).is_err() {
            return Err(too_large());
        }
        let pitch = pitch as isize;
        Ok(if reversed {
            Self { offset: base + last_row, row_pitch: -pitch, extent, format }
        } else {
            Self { offset: base, row_pitch: pitch, extent, format }
        })
    }

    /// Bytes of the pixels of one row, without padding.
    pub const fn row_len(&self) -> usize {
        (self.extent.width as usize).saturating_mul(self.format.bytes_per_pixel())
    }

    /// Bytes between rows in memory, always positive.
    pub const fn pitch(&self) -> usize {
        self.row_pitch.unsigned_abs()
    }

    /// True where every pixel starts at a multiple of its size, counted from the start of the memory.
    pub const fn has_whole_pixels(&self) -> bool {
        let pixel = self.format.bytes_per_pixel();
        self.offset.is_multiple_of(pixel) && self.pitch().is_multiple_of(pixel)
    }

    /// True where row 0 is the last in memory.
    pub const fn is_reversed(&self) -> bool {
        self.row_pitch < 0
    }

    /// Bytes from the first pixel in memory to the end of the last one; see [`View::span`].
    pub fn span(&self) -> Range<usize> {
        View::Image(*self).span()
    }

    /// Byte at which row `y` starts. `y` must be below the height, and the view inside its memory
    /// ([`View::check_inside`]); otherwise the number has no meaning.
    pub const fn row_start(&self, y: u32) -> usize {
        self.offset.wrapping_add_signed((y as isize).wrapping_mul(self.row_pitch))
    }

    /// Byte range of row `y`; see [`ImageView::row_start`] for its conditions.
    pub const fn row(&self, y: u32) -> Range<usize> {
        let start = self.row_start(y);
        start..start.saturating_add(self.row_len())
    }

    /// True where the rows follow each other in order, without gaps.
    pub const fn is_contiguous(&self) -> bool {
        self.row_pitch == self.row_len() as isize
    }

    /// Returns the view with pixel (0, 0) at byte `offset`.
    pub const fn moved_to(self, offset: usize) -> Self {
        Self { offset, ..self }
    }
}

impl View {
    /// Bytes that a kernel may touch. The range is empty for an image with a zero side. Where the bytes cannot be
    /// addressed, it is `usize::MAX..usize::MAX`, which lies in no memory.
    pub fn span(&self) -> Range<usize> {
        let empty = match self {
            Self::Image(i) => (i.extent.width == 0 || i.extent.height == 0).then_some(i.offset..i.offset),
            Self::Buffer(_) => None,
        };
        self.checked_span().or(empty).unwrap_or(usize::MAX..usize::MAX)
    }

    /// Bytes of payload: pixels without padding, or the buffer's length. Saturates.
    pub const fn payload_len(&self) -> usize {
        match self {
            Self::Image(i) => i.row_len().saturating_mul(i.extent.height as usize),
            Self::Buffer(b) => b.len,
        }
    }

    /// Returns the view moved so that memory begins with its first pixel or byte.
    #[must_use]
    pub fn from_its_start(self) -> Self {
        let start = self.span().start;
        match self {
            Self::Image(i) => Self::Image(i.moved_to(i.offset.saturating_sub(start))),
            Self::Buffer(b) => Self::Buffer(BufferView { offset: b.offset.saturating_sub(start), len: b.len }),
        }
    }

    /// [`View::span`], or `None` where a side is 0 or an offset overflows.
    pub fn checked_span(&self) -> Option<Range<usize>> {
        match self {
            Self::Image(i) => {
                let last_row = usize::try_from(i.extent.height).ok()?.checked_sub(1)?;
                let row_len = usize::try_from(i.extent.width).ok()?.checked_mul(i.format.bytes_per_pixel())?;
                let back = i.pitch().checked_mul(last_row)?;
                let start = if i.is_reversed() { i.offset.checked_sub(back)? } else { i.offset };
                let end = start.checked_add(back)?.checked_add(row_len)?;
                (row_len > 0 && isize::try_from(end).is_ok()).then_some(start..end)
            }
            Self::Buffer(b) => Some(b.offset..b.offset.checked_add(b.len)?),
        }
    }

    /// Returns the view of pixels.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a range of bytes.
    pub fn pixels(&self) -> Result<&ImageView> {
        match self {
            Self::Image(pixels) => Ok(pixels),
            Self::Buffer(_) => Err(Error::refused("expected a view of pixels; a range of bytes was given")),
        }
    }

    /// Checks the view against memory of `len` bytes. A view that passes has no more rows than `len` bytes hold, so
    /// work done row by row is bounded.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where it reaches outside, cannot be addressed, or is an image with a zero side or
    /// overlapping rows.
    pub fn check_inside(&self, len: usize) -> Result<()> {
        let span = self
            .checked_span()
            .ok_or_else(|| Error::refused(format!("{self:?} has a zero side or exceeds the address space")))?;
        if span.end > len {
            return Err(Error::refused(format!(
                "bytes {}..{} reach outside the memory of {len} bytes",
                span.start, span.end
            )));
        }
        match self {
            Self::Image(i) if i.extent.height > 1 && i.pitch() < i.row_len() => Err(Error::refused(format!(
                "a row pitch of {} bytes makes rows of {} bytes overlap",
                i.row_pitch,
                i.row_len()
            ))),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_view() -> impl Strategy<Value = View> {
        let format = prop::sample::select(&PixelFormat::ALL[..]);
        let wild = prop_oneof![3 => 0usize..64, 1 => any::<usize>()];
        let pitch = prop_oneof![3 => -64isize..64, 1 => any::<isize>()];
        let side = prop_oneof![3 => 0u32..9, 1 => any::<u32>()];
        let image = (wild.clone(), pitch, side.clone(), side, format).prop_map(|(offset, row_pitch, w, h, format)| {
            View::Image(ImageView { offset, row_pitch, extent: Extent::new(w, h), format })
        });
        let buffer = (wild.clone(), wild).prop_map(|(offset, len)| View::Buffer(BufferView { offset, len }));
        prop_oneof![3 => image, 1 => buffer]
    }

    /// First byte, bytes of a row, and from row to row, as numbers of 128 bits.
    fn rows(view: &View) -> (i128, i128, i128) {
        match view {
            View::Buffer(b) => (b.offset as i128, b.len as i128, 0),
            View::Image(i) => {
                let row = i128::from(i.extent.width) * i.format.bytes_per_pixel() as i128;
                (i.offset as i128, row, i.row_pitch as i128)
            }
        }
    }

    #[test]
    fn sides_of_none_are_refused_and_whole_pixels_told() {
        let packed = |w, h| ImageView::packed(Extent::new(w, h), PixelFormat::Rg16F, 1, 0, false);
        assert!(packed(0, 1).is_err() && packed(1, 0).is_err() && packed(0, 0).is_err());
        let view = packed(3, 2).unwrap();
        let at = |offset, row_pitch| ImageView { offset, row_pitch, ..view }.has_whole_pixels();
        assert!(at(0, 12) && at(8, -16));
        assert!(!at(2, 12) && !at(4, 14) && !at(1, -13));
    }

    proptest! {
        #[test]
        fn what_is_accepted_lies_inside_and_its_rows_apart(view in any_view(), memory in 0usize..4096) {
            let (first, row, pitch) = rows(&view);
            let height = match view {
                View::Image(i) => i128::from(i.extent.height),
                View::Buffer(_) => 1,
            };
            let last = first + (height - 1) * pitch;
            let inside = first.min(last) >= 0 && first.max(last) + row <= memory as i128;
            let apart = height == 1 || pitch.abs() >= row;
            let some = matches!(view, View::Buffer(_)) || (row > 0 && height > 0);
            prop_assert_eq!(view.check_inside(memory).is_ok(), some && inside && apart);
        }

        /// The numbers of a view are right wherever they can be counted; nothing overflows.
        #[test]
        fn any_view_can_be_asked(view in any_view(), y in any::<u32>()) {
            let (first, row, pitch) = rows(&view);
            let span = view.span();
            if let View::Image(image) = view {
                let (height, row_range) = (i128::from(image.extent.height), image.row(y));
                let last = first + (height - 1) * pitch;
                let whole = first.min(last)..first.max(last) + row;
                let addressable = whole.start >= 0 && whole.end <= isize::MAX as i128;
                prop_assert_eq!(view.payload_len() as i128, (height * row).min(usize::MAX as i128));
                if height == 0 || row == 0 {
                    prop_assert_eq!(span, image.offset..image.offset);
                } else if addressable {
                    prop_assert_eq!(span.start as i128..span.end as i128, whole);
                    if i128::from(y) < height {
                        prop_assert_eq!(row_range.start as i128, first + i128::from(y) * pitch);
                    }
                } else {
                    prop_assert_eq!(span, usize::MAX..usize::MAX);
                }
            } else {
                let end = (first + row <= usize::MAX as i128).then_some(first + row);
                prop_assert_eq!(span.end as i128, end.unwrap_or(usize::MAX as i128));
            }
        }
    }
}
