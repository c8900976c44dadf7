//! Where a frame lies inside linear memory: offsets and pitches in bytes.

use crate::error::{Error, Result};
use crate::format::PixelFormat;
use crate::geometry::Extent;
use std::ops::Range;

/// An image in linear memory. Pixel (x, y) starts at byte `offset + y * row_pitch + x * bytes_per_pixel`.
///
/// A negative `row_pitch` (with `offset` at the last row) stores the rows in reverse.
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

/// A range of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferView {
    /// First byte.
    pub offset: usize,
    /// Number of bytes.
    pub len: usize,
}

/// What a kernel may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// Pixels.
    Image(ImageView),
    /// Bytes.
    Buffer(BufferView),
}

impl ImageView {
    /// Rows of `extent` packed as tightly as `pitch_alignment` (bytes, a power of two) allows, starting at `base`.
    /// With `reversed`, row 0 is the last in memory.
    pub fn packed(
        extent: Extent,
        format: PixelFormat,
        pitch_alignment: usize,
        base: usize,
        reversed: bool,
    ) -> Result<Self> {
        const OP: &str = "ImageView::packed";
        let too_large = || Error::invalid(OP, format!("{extent} {format} needs more bytes than can be addressed"));
        if extent.width == 0 || extent.height == 0 {
            return Err(Error::invalid(OP, format!("{extent} has a zero side")));
        }
        if !pitch_alignment.is_power_of_two() {
            return Err(Error::invalid(OP, format!("pitch alignment {pitch_alignment} is not a power of two")));
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
        self.extent.width as usize * self.format.bytes_per_pixel()
    }

    /// Bytes between rows in memory, whatever their direction.
    pub const fn pitch(&self) -> usize {
        self.row_pitch.unsigned_abs()
    }

    /// True where row 0 is the last in memory.
    pub const fn is_reversed(&self) -> bool {
        self.row_pitch < 0
    }

    /// Bytes from the first pixel in memory to the end of the last one.
    pub const fn span(&self) -> Range<usize> {
        let back = self.pitch() * (self.extent.height as usize - 1);
        let start = if self.is_reversed() { self.offset - back } else { self.offset };
        start..start + back + self.row_len()
    }

    /// Byte at which row `y` starts; `y` must be below the height.
    pub const fn row_start(&self, y: u32) -> usize {
        (self.offset as isize + y as isize * self.row_pitch) as usize
    }

    /// Byte range of row `y`; `y` must be below the height.
    pub const fn row(&self, y: u32) -> Range<usize> {
        let start = self.row_start(y);
        start..start + self.row_len()
    }

    /// True where the rows follow each other with no gap, in order.
    pub const fn is_contiguous(&self) -> bool {
        self.row_pitch == self.row_len() as isize
    }

    /// The same pixels as seen from another start of memory.
    pub const fn moved_to(self, offset: usize) -> Self {
        Self { offset, ..self }
    }
}

impl View {
    /// Bytes that a kernel may touch.
    pub const fn span(&self) -> Range<usize> {
        match self {
            Self::Image(i) => i.span(),
            Self::Buffer(b) => b.offset..b.offset + b.len,
        }
    }

    /// Bytes of payload: pixels without padding, or the buffer's length.
    pub const fn payload_len(&self) -> usize {
        match self {
            Self::Image(i) => i.row_len() * i.extent.height as usize,
            Self::Buffer(b) => b.len,
        }
    }

    /// [`View::span`] of a view whose fields nobody checked yet: `None` where a side is 0 or an offset overflows.
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

    /// Refuses a view that reaches outside `len` bytes, is empty or cannot be addressed.
    pub fn check_inside(&self, len: usize, operation: &'static str) -> Result<()> {
        let span = self.checked_span().ok_or_else(|| {
            Error::invalid(operation, format!("{self:?} has a zero side or reaches outside what can be addressed"))
        })?;
        if span.end > len {
            return Err(Error::invalid(
                operation,
                format!("bytes {}..{} reach outside the memory of {len} bytes", span.start, span.end),
            ));
        }
        Ok(())
    }
}
