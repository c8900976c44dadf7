//! Pictures whose luma and chroma lie in planes of their own.

use super::{Matrix, Weights};
use interop_core::Extent;

/// Places of a picture's planes in memory: one after the other, each row of them beginning at a multiple of four bytes, as GStreamer lays
/// them out by itself. Two by two pixels share their chroma.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Luma, then blue's chroma, then red's; 8 bits.
    I420,
    /// Luma, then blue's and red's chroma in turn; 8 bits.
    Nv12,
    /// Planes as those of [`Layout::Nv12`], 10 bits in the upper ones of words of 16, the lower byte first.
    P010,
}

/// A kind of pictures in planes.
pub struct Planes {
    layout: Layout,
    extent: Extent,
    matrix: Box<Matrix>,
}

/// Rows of a plane, or of two that take turns.
struct Rows<'a> {
    bytes: &'a [u8],
    pitch: usize,
    layout: Layout,
}

impl Rows<'_> {
    /// The number at a place of a row; 0 where there is none.
    fn number(&self, y: usize, x: usize) -> u16 {
        match self.layout {
            Layout::P010 => {
                let at = y * self.pitch + 2 * x;
                self.bytes.get(at..at + 2).map_or(0, |word| u16::from_le_bytes([word[0], word[1]]) >> 6)
            }
            Layout::I420 | Layout::Nv12 => self.bytes.get(y * self.pitch + x).copied().map_or(0, u16::from),
        }
    }
}

impl Planes {
    /// Pictures of this layout, size and colours; `is_full` where numbers go from 0 to the highest.
    #[must_use]
    pub fn new(layout: Layout, extent: Extent, weights: Weights, is_full: bool) -> Self {
        let bits = if layout == Layout::P010 { 10 } else { 8 };
        Self { layout, extent, matrix: Matrix::new(weights, is_full, bits) }
    }

    /// Size in pixels.
    pub const fn extent(&self) -> Extent {
        self.extent
    }

    /// Bytes of a row of luma, of a row of chroma, and rows of each.
    fn pitches(&self) -> ([usize; 2], [usize; 2]) {
        let [width, height] = [self.extent.width, self.extent.height].map(|side| side as usize);
        let (luma, chroma) = match self.layout {
            Layout::I420 => (width, width.div_ceil(2)),
            Layout::Nv12 => (width, 2 * width.div_ceil(2)),
            Layout::P010 => (2 * width, 4 * width.div_ceil(2)),
        };
        ([luma, chroma].map(|bytes| bytes.next_multiple_of(4)), [height.next_multiple_of(2), height.div_ceil(2)])
    }

    /// Bytes of a picture.
    pub fn bytes(&self) -> usize {
        let ([luma, chroma], [rows, half]) = self.pitches();
        luma * rows + chroma * half * if self.layout == Layout::I420 { 2 } else { 1 }
    }

    /// Red, green and blue, 8 bits each, of all pixels; `None` where these are not the bytes of one picture.
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
        if picture.len() != self.bytes() {
            return None;
        }
        let ([luma, chroma], [rows, half]) = self.pitches();
        let (first, rest) = picture.split_at(luma * rows);
        let of = |bytes, pitch| Rows { bytes, pitch, layout: self.layout };
        let planes = [of(first, luma), of(rest, chroma), of(rest.get(chroma * half..).unwrap_or_default(), chroma)];
        let takes_turns = self.layout != Layout::I420;
        let [width, height] = [self.extent.width, self.extent.height].map(|side| side as usize);
        let mut all = Vec::with_capacity(3 * width * height);
        for y in 0..height {
            let mut before = None;
            for x in 0..width {
                let (at, column) = (y / 2, x / 2);
                let chroma = match before.filter(|_| x % 2 == 1) {
                    Some(chroma) => chroma,
                    None if takes_turns => [planes[1].number(at, 2 * column), planes[1].number(at, 2 * column + 1)],
                    None => [planes[1].number(at, column), planes[2].number(at, column)],
                };
                before = Some(chroma);
                all.extend(self.matrix.colour([planes[0].number(y, x), chroma[0], chroma[1]]));
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
                Layout::I420 => (8, 4),
                Layout::Nv12 => (8, 8),
                Layout::P010 => (6, 6),
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
        }
    }
}
