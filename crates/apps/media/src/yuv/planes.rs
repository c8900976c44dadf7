//! Pictures with luma and chroma in separate planes.

use super::{Matrix, Weights};
use interop_core::Extent;
use std::ops::Range;
use std::sync::Arc;

/// Order and depth of a picture's planes, which are consecutive in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Luma only; 8 bits.
    Grey,
    /// Luma, blue's chroma, red's chroma; 8 bits. Two by two pixels share their chroma (4:2:0).
    I420,
    /// Like [`Layout::I420`], but only two pixels beside each other share their chroma (4:2:2).
    I422,
    /// Like [`Layout::I420`], but each pixel has its own chroma (4:4:4).
    I444,
    /// Luma, then blue's and red's chroma interleaved; 8 bits. Two by two pixels share their chroma (4:2:0).
    Nv12,
    /// Like [`Layout::Nv12`] with 10 bits, in the upper bits of little-endian words of 16.
    P010,
}

impl Layout {
    /// log2 of the number of columns and rows that share their chroma; `None` without chroma.
    pub const fn shift(self) -> Option<[u32; 2]> {
        match self {
            Self::Grey => None,
            Self::I420 | Self::Nv12 | Self::P010 => Some([1, 1]),
            Self::I422 => Some([1, 0]),
            Self::I444 => Some([0, 0]),
        }
    }

    /// Returns whether both kinds of chroma are in one plane.
    pub const fn is_paired(self) -> bool {
        matches!(self, Self::Nv12 | Self::P010)
    }

    /// Bytes per value.
    pub const fn bytes(self) -> usize {
        if matches!(self, Self::P010) { 2 } else { 1 }
    }
}

/// Layout, size and colours of pictures in planes.
#[derive(Clone)]
pub struct Planes {
    layout: Layout,
    extent: Extent,
    is_tight: bool,
    matrix: Arc<Matrix>,
}

/// Position of a plane in a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plane {
    /// Its range of bytes.
    pub range: Range<usize>,
    /// Bytes from row to row.
    pub pitch: usize,
    /// Columns and rows. A column holds one value, or the pair of blue's and red's chroma.
    pub extent: Extent,
}

/// Rows of a plane, or of two interleaved ones.
struct Rows<'a> {
    bytes: &'a [u8],
    pitch: usize,
    layout: Layout,
}

impl Rows<'_> {
    /// Returns the value at a position; 0 outside.
    fn number(&self, y: usize, x: usize) -> u16 {
        match self.layout {
            Layout::P010 => {
                let at = y * self.pitch + 2 * x;
                self.bytes.get(at..at + 2).map_or(0, |word| u16::from_le_bytes([word[0], word[1]]) >> 6)
            }
            _ => self.bytes.get(y * self.pitch + x).copied().map_or(0, u16::from),
        }
    }
}

impl Planes {
    /// Pictures in GStreamer's default layout: each row begins at a multiple of four bytes, and luma has an even number
    /// of rows. `is_full` means that values use the full range.
    #[must_use]
    pub fn new(layout: Layout, extent: Extent, weights: Weights, is_full: bool) -> Self {
        let bits = if layout == Layout::P010 { 10 } else { 8 };
        Self { layout, extent, is_tight: false, matrix: Matrix::new(weights, is_full, bits).into() }
    }

    /// Pictures without padding between rows and planes, as in Y4M.
    #[must_use]
    pub fn tight(layout: Layout, extent: Extent, weights: Weights, is_full: bool) -> Self {
        Self { is_tight: true, ..Self::new(layout, extent, weights, is_full) }
    }

    /// Order and depth of the planes.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// Size in pixels.
    pub const fn extent(&self) -> Extent {
        self.extent
    }

    /// Returns its planes: luma, then chroma in one or two.
    pub fn planes(&self) -> Vec<Plane> {
        let Extent { width, height } = self.extent;
        let mut planes: Vec<Plane> = Vec::with_capacity(3);
        let mut add = |extent: Extent, numbers: usize, rows: u32| {
            let row = extent.width as usize * numbers * self.layout.bytes();
            let pitch = if self.is_tight { row } else { row.next_multiple_of(4) };
            let start = planes.last().map_or(0, |plane| plane.range.end);
            planes.push(Plane { range: start..start + pitch * rows as usize, pitch, extent });
        };
        add(self.extent, 1, if self.is_tight { height } else { height.next_multiple_of(2) });
        if let Some([across, down]) = self.layout.shift() {
            let chroma = Extent::new(width.div_ceil(1 << across), height.div_ceil(1 << down));
            if self.layout.is_paired() {
                add(chroma, 2, chroma.height);
            } else {
                add(chroma, 1, chroma.height);
                add(chroma, 1, chroma.height);
            }
        }
        planes
    }

    /// Bytes of a picture.
    pub fn bytes(&self) -> usize {
        self.planes().last().map_or(0, |plane| plane.range.end)
    }

    /// Converts all pixels to red, green and blue, 8 bits each; `None` if `picture` does not have a picture's size.
    ///
    ///
    /// ```
    /// use interop_core::Extent;
    /// use pixelferry_media::yuv::{Layout, Planes, Weights};
    ///
    /// let planes = Planes::new(Layout::Nv12, Extent::new(2, 2), Weights::BT709, false);
    /// // Two rows of luma and one of chroma, of four bytes each: white.
    /// let picture = [235, 235, 0, 0, 235, 235, 0, 0, 128, 128, 0, 0];
    /// assert_eq!(planes.rgb(&picture), Some(vec![255; 12]));
    /// ```
    pub fn rgb(&self, picture: &[u8]) -> Option<Vec<u8>> {
        self.pixels(picture, |colour| colour)
    }

    /// Like [`Planes::rgb`] with alpha 255.
    pub fn rgba(&self, picture: &[u8]) -> Option<Vec<u8>> {
        self.pixels(picture, |[red, green, blue]| [red, green, blue, 255])
    }

    /// Converts all pixels to 8-bit grey; `None` if there is chroma, or `picture` does not have a picture's size.
    pub fn grey(&self, picture: &[u8]) -> Option<Vec<u8>> {
        if self.layout == Layout::Grey { self.pixels(picture, |[grey, ..]| [grey]) } else { None }
    }

    fn pixels<const N: usize>(&self, picture: &[u8], pixel: impl Fn([u8; 3]) -> [u8; N]) -> Option<Vec<u8>> {
        if picture.len() != self.bytes() {
            return None;
        }
        let rows = |Plane { range, pitch, .. }| Rows { bytes: &picture[range], pitch, layout: self.layout };
        let planes: Vec<_> = self.planes().into_iter().map(rows).collect();
        let [width, height] = [self.extent.width, self.extent.height].map(|side| side as usize);
        let mut all = Vec::with_capacity(N * width * height);
        let shift = self.layout.shift().unwrap_or_default();
        for y in 0..height {
            let row = y >> shift[1];
            // Consecutive pixels share their chroma.
            let (mut of, mut chroma) = (usize::MAX, [0; 2]);
            for x in 0..width {
                let luma = planes.first().map_or(0, |luma| luma.number(y, x));
                let column = x >> shift[0];
                if of != column {
                    of = column;
                    chroma = match planes.get(1..).unwrap_or_default() {
                        [both] => [both.number(row, 2 * column), both.number(row, 2 * column + 1)],
                        [blue, red] => [blue.number(row, column), red.number(row, column)],
                        _ => [0; 2],
                    };
                }
                all.extend(pixel(match planes.len() {
                    1 => [self.matrix.grey(luma); 3],
                    _ => self.matrix.colour([luma, chroma[0], chroma[1]]),
                }));
            }
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layout_has_its_numbers_where_they_belong() {
        // Odd sides, and rows that are padded.
        let extent = Extent::new(5, 3);
        let luma = |x: usize, y: usize| (20 + 40 * x + 7 * y) as u8;
        let chroma = |x: usize, y: usize, red: usize| (60 + 50 * x + 30 * y + 17 * red) as u8;
        let matrix = Matrix::new(Weights::BT601, false, 8);
        let places = (0..3).flat_map(|y| (0..5).map(move |x| (x, y)));
        let expected: Vec<u8> = places
            .flat_map(|(x, y)| {
                matrix.colour([luma(x, y), chroma(x / 2, y / 2, 0), chroma(x / 2, y / 2, 1)].map(u16::from))
            })
            .collect();
        for layout in [Layout::I420, Layout::Nv12, Layout::P010] {
            let planes = Planes::new(layout, extent, Weights::BT601, false);
            let mut picture = vec![0_u8; planes.bytes()];
            let mut put = |at: usize, number: u8| match layout {
                // 10 bits, four times as high, from bit 6 on.
                Layout::P010 => picture[2 * at..2 * at + 2].copy_from_slice(&(u16::from(number) << 8).to_le_bytes()),
                _ => picture[at] = number,
            };
            // Rows in numbers.
            let (row, half) = match layout {
                Layout::Nv12 => (8, 8),
                Layout::P010 => (6, 6),
                _ => (8, 4),
            };
            for (x, y) in (0..3).flat_map(|y| (0..5).map(move |x| (x, y))) {
                put(y * row + x, luma(x, y));
            }
            for (x, y, red) in (0..2).flat_map(|y| (0..3).flat_map(move |x| [(x, y, 0), (x, y, 1)])) {
                let within =
                    if layout == Layout::I420 { red * 2 * half + y * half + x } else { y * half + 2 * x + red };
                put(4 * row + within, chroma(x, y, red));
            }
            assert_eq!(planes.rgb(&picture).as_ref(), Some(&expected), "{layout:?}");
            assert_eq!(planes.rgb(&picture[1..]), None);
            let opaque = expected.chunks(3).flat_map(|pixel| [pixel[0], pixel[1], pixel[2], 255]).collect();
            assert_eq!(planes.rgba(&picture), Some(opaque));
        }
    }
}
