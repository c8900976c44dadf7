//! Digests of frames: one number for each band of rows. Kernels and the host compute the same numbers.

use crate::describe::pattern::Pattern;
use crate::describe::view::View;
use crate::display::SurfacePart;
use std::ops::Range;

/// Most bands of a digest. A verdict names wrong rows by their bands.
const MOST_BANDS: u32 = 256;

const WORD: usize = 4;

/// Rows of a frame in memory, and their bands. Rows count in the order of the view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DigestPlan {
    /// Byte of the first row.
    first: u32,
    /// Bytes from one row to the next, in two's complement.
    pitch: u32,
    /// Bytes of a row that count; the last row of a buffer may have fewer.
    row: u32,
    rows: u32,
    /// Bytes of all rows that count.
    payload: u32,
    per_band: u32,
}

impl DigestPlan {
    /// Plans the digest of `part` in a checked view; `None` where kernels cannot count its bytes in 32 bits.
    ///
    /// Kernels read whole words. Where rows need not end with one, their last bytes do not count, because nothing may lie
    /// behind them. The part alone decides that, as its memory differs from side to side.
    pub fn new(view: &View, part: &SurfacePart) -> Option<Self> {
        let small = |bytes: usize| u32::try_from(bytes).ok();
        // Items beyond the last byte count in 32 bits, too.
        small(view.span().end.checked_add(1 << 16)?)?;
        let has_words = match (view, part) {
            (View::Image(image), _) => image.format.bytes_per_pixel().is_multiple_of(WORD),
            (_, SurfacePart::Buffer(bytes)) => bytes.start.is_multiple_of(WORD) && bytes.len().is_multiple_of(WORD),
            (View::Buffer(_), SurfacePart::Image(_)) => false,
        };
        let counted = |bytes: usize| small(if has_words { bytes } else { bytes.saturating_sub(WORD - 1) });
        let (first, pitch, row, rows, payload) = match view {
            View::Image(image) => {
                let (row, rows) = (counted(image.row_len())?, image.extent.height);
                (image.offset, image.row_pitch as u32, row, rows, row.checked_mul(rows)?)
            }
            View::Buffer(buffer) => {
                let (row, rows) = (small(Pattern::BUFFER_ROW)?, buffer.len.div_ceil(Pattern::BUFFER_ROW));
                (buffer.offset, row, row, small(rows)?, counted(buffer.len)?)
            }
        };
        Some(Self { first: small(first)?, pitch, row, rows, payload, per_band: rows.div_ceil(MOST_BANDS) })
    }

    /// Number of bands.
    pub fn bands(&self) -> u32 {
        self.rows.div_ceil(self.per_band.max(1))
    }

    /// Returns the rows of bands that follow each other.
    pub fn rows_of(&self, bands: Range<u32>) -> Range<u32> {
        bands.start * self.per_band..(bands.end * self.per_band).min(self.rows)
    }

    /// Returns the numbers of the kernel, in the order of its parameters.
    pub fn numbers(&self, lanes: u32) -> [u32; 7] {
        [self.first, self.pitch, self.row, self.rows, self.payload, self.per_band, lanes]
    }

    /// Computes the digest on the host. `bytes` are those of the memory from byte `start` on.
    pub fn host(&self, bytes: &[u8], start: usize) -> Vec<u32> {
        let mut digest = vec![0_u32; self.bands() as usize];
        for y in 0..self.rows {
            let at = self.first.wrapping_add(y.wrapping_mul(self.pitch)) as usize - start;
            let len = self.row.min(self.payload.saturating_sub(y * self.row)) as usize;
            let (words, rest) = bytes[at..at + len].as_chunks::<4>();
            let mut last = [0; 4];
            last[..rest.len()].copy_from_slice(rest);
            let last = (!rest.is_empty()).then_some(last);
            let sum = (0..)
                .zip(words.iter().copied().chain(last))
                .fold(0_u32, |sum, (x, word)| sum.wrapping_add(mixed(u32::from_le_bytes(word), x, y)));
            let band = &mut digest[(y / self.per_band) as usize];
            *band = band.wrapping_add(sum);
        }
        digest
    }
}

/// Mixes a word with its position. Two words at one place never give the same number.
const fn mixed(word: u32, x: u32, y: u32) -> u32 {
    let mut h = word.wrapping_add(x.wrapping_mul(0x9E37_79B1)) ^ y.wrapping_mul(0x85EB_CA77);
    h ^= h >> 15;
    h = h.wrapping_mul(0x2C1B_3C6D);
    h ^= h >> 12;
    h = h.wrapping_mul(0x297A_2D39);
    h ^ h >> 15
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BufferView, Extent, ImageView, PixelFormat, Region};

    fn image(reversed: bool) -> View {
        View::Image(ImageView::packed(Extent::new(7, 300), PixelFormat::R8, 16, 3, reversed).unwrap())
    }

    fn plan(view: &View) -> DigestPlan {
        let part = match view {
            View::Image(image) => SurfacePart::Image(Region::new(0, 0, image.extent.width, image.extent.height)),
            View::Buffer(buffer) => SurfacePart::Buffer(0..buffer.len),
        };
        DigestPlan::new(view, &part).unwrap()
    }

    #[test]
    fn each_byte_changes_the_digest_of_its_band_and_no_other() {
        for view in [image(false), image(true), View::Buffer(BufferView { offset: 5, len: 9000 })] {
            let (plan, span) = (plan(&view), view.span());
            let mut bytes: Vec<u8> = (0..span.len()).map(|i| (i * 31 % 251) as u8).collect();
            let before = plan.host(&bytes, span.start);
            for (row, range) in crate::describe::pattern::rows(&view) {
                let end = if let View::Image(_) = view { range.end - 3 } else { range.end };
                for byte in [range.start, end - 1] {
                    bytes[byte - span.start] ^= 0x40;
                    let after = plan.host(&bytes, span.start);
                    bytes[byte - span.start] ^= 0x40;
                    let changed: Vec<_> = (0..).zip(before.iter().zip(&after)).filter(|(_, (a, b))| a != b).collect();
                    assert_eq!(changed.len(), 1, "{view:?}, row {row}");
                    assert!(plan.rows_of(changed[0].0..changed[0].0 + 1).contains(&row));
                }
            }
        }
    }

    #[test]
    fn rows_that_change_places_are_found_and_their_order_in_memory_does_not_matter() {
        let (down, up) = (image(false), image(true));
        let (plain, reversed) = (plan(&down), plan(&up));
        let mut memory = vec![9; down.span().end];
        for (row, range) in crate::describe::pattern::rows(&down) {
            memory[range].fill(row as u8);
        }
        let mut turned = vec![1; up.span().end];
        for (row, range) in crate::describe::pattern::rows(&up) {
            turned[range].fill(row as u8);
        }
        assert_eq!(plain.host(&memory, 0), reversed.host(&turned, 0));
        assert_ne!(plain.host(&memory, 0), plain.host(&turned, 0));
        assert_eq!((plain.bands(), plain.rows_of(149..150)), (150, 298..300));
    }

    #[test]
    fn no_byte_behind_the_last_whole_word_counts() {
        for len in [1, 3, 5, 4096, 4097, 8191] {
            let view = View::Buffer(BufferView { offset: 0, len });
            let words = plan(&view).payload as usize;
            assert!(words.next_multiple_of(WORD) <= len, "{len}: {words}");
        }
        for (width, counted) in [(1, 0), (3, 0), (4, 1), (7, 4)] {
            let rows = View::Image(ImageView::packed(Extent::new(width, 5), PixelFormat::R8, 1, 0, true).unwrap());
            assert_eq!(plan(&rows).row, counted, "{width}");
        }
    }

    #[test]
    fn memory_beyond_32_bits_is_not_planned() {
        let far = View::Buffer(BufferView { offset: u32::MAX as usize - 8, len: 8 });
        assert_eq!(DigestPlan::new(&far, &SurfacePart::Buffer(0..8)), None);
    }
}
