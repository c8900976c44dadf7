//! The verification pattern: bytes that depend on position, format and a nonce.
//!
//! Every backend computes it with a kernel of its own. [`Pattern::word`] is the reference, and [`Pattern::C_SOURCE`] is
//! the same function for the C-like languages. Floating-point channels have magnitudes from 0.5 to 2, of either sign.
//! These are finite and normal, so no display may change them, and many lie outside 0 to 1, so that clamping is found.

use super::format::ChannelKind;
use super::geometry::Extent;
use super::view::{BufferView, ImageView, View};

/// A verification pattern: a hash of the position, reduced to what the channel's format can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pattern {
    /// Bits of the hash that are kept.
    pub and_mask: u32,
    /// Bits that are always set.
    pub or_mask: u32,
    /// Number that makes two patterns differ in all kept bits that matter.
    pub nonce: u32,
}

/// Factors of the row and of the nonce in the hash.
const ROW: u32 = 0x85EB_CA77;
const NONCE: u32 = 0xC2B2_AE3D;

impl Pattern {
    /// All zeros. Writing it clears memory on the device, in the order of its queue.
    pub const ZERO: Self = Self { and_mask: 0, or_mask: 0, nonce: 0 };

    /// Returns the pattern for the content of `view`. Buffers count as 32-bit floats, because they may hold vertices.
    pub const fn for_view(view: &View, nonce: u32) -> Self {
        let kind = match view {
            View::Image(i) => i.format.channel_kind(),
            View::Buffer(_) => ChannelKind::Float32,
        };
        let (and_mask, or_mask) = match kind {
            ChannelKind::Unorm8 | ChannelKind::Unorm16 | ChannelKind::Unorm10A2 => (0xffff_ffff, 0),
            ChannelKind::Float16 => (0x87ff_87ff, 0x3800_3800),
            ChannelKind::Float32 => (0x80ff_ffff, 0x3f00_0000),
        };
        Self { and_mask, or_mask, nonce }
    }

    /// Returns a pattern that repeats one word, of the bits that [`Pattern::for_view`] keeps, for timing. Hashing each
    /// word would take a CPU several times as long as writing the frame and hide the differences between paths. It
    /// verifies nothing.
    pub const fn flat(view: &View, nonce: u32) -> Self {
        let word = Self::for_view(view, nonce).word(0, 0);
        // Makes all pixels equal, including those smaller than a word.
        let or_mask = match view {
            View::Image(image) if image.format.bytes_per_pixel() == 1 => (word & 0xff) * 0x0101_0101,
            View::Image(image) if image.format.bytes_per_pixel() == 2 => (word & 0xffff) * 0x0001_0001,
            _ => word,
        };
        Self { and_mask: 0, or_mask, nonce }
    }

    /// True where the pattern repeats one word. Backends write it with no more work than a plain kernel does.
    pub const fn is_flat(&self) -> bool {
        self.and_mask == 0
    }

    /// OpenCL C and CUDA C++ source of [`Pattern::word`], as a function `pf_pattern_word`.
    pub const C_SOURCE: &'static str = "
static unsigned int pf_pattern_word(unsigned int x, unsigned int y,
                                    unsigned int and_mask, unsigned int or_mask, unsigned int nonce) {
  unsigned int h = x * 0x9E3779B1u ^ (y * 0x85EBCA77u + nonce * 0xC2B2AE3Du);
  h ^= h >> 15; h *= 0x2C1B3C6Du; h ^= h >> 12; h *= 0x297A2D39u; h ^= h >> 15;
  return (h & and_mask) | or_mask;
}
";

    /// Returns the four bytes (native order) from byte `4 * x` of row `y` on; the last word of a row may be cut off.
    pub const fn word(&self, x: u32, y: u32) -> u32 {
        let mut h = x.wrapping_mul(0x9E37_79B1) ^ y.wrapping_mul(ROW).wrapping_add(self.nonce.wrapping_mul(NONCE));
        h ^= h >> 15;
        h = h.wrapping_mul(0x2C1B_3C6D);
        h ^= h >> 12;
        h = h.wrapping_mul(0x297A_2D39);
        h ^= h >> 15;
        (h & self.and_mask) | self.or_mask
    }

    /// Writes row `y` of the pattern into `row`.
    pub fn write_row(&self, y: u32, row: &mut [u8]) {
        self.write_row_from(0, y, row);
    }

    /// Writes row `y` of the pattern from word `first` on.
    fn write_row_from(&self, first: u32, y: u32, row: &mut [u8]) {
        if self.is_flat() {
            let word = self.or_mask.to_ne_bytes();
            let words = row.len() / 4;
            let (whole, rest) = row.split_at_mut(4 * words);
            whole.chunks_exact_mut(4).for_each(|bytes| bytes.copy_from_slice(&word));
            rest.copy_from_slice(&word[..rest.len()]);
            return;
        }
        // Whole words first: copies of a constant length are several times faster.
        let words = row.len() / 4;
        let (whole, rest) = row.split_at_mut(4 * words);
        for (x, bytes) in (first..).zip(whole.chunks_exact_mut(4)) {
            bytes.copy_from_slice(&self.word(x, y).to_ne_bytes());
        }
        rest.copy_from_slice(&self.word(first.wrapping_add(words as u32), y).to_ne_bytes()[..rest.len()]);
    }

    /// Returns the first byte of `row` that differs from row `y` of the pattern: (byte, expected, found).
    pub fn mismatch_in_row(&self, y: u32, row: &[u8]) -> Option<(usize, u8, u8)> {
        // Compares against the expected row in pieces: whole pieces are computed and compared several bytes at a time.
        const PIECE: usize = 1024;
        let mut expected = [0; PIECE];
        row.chunks(PIECE).enumerate().find_map(|(piece, found)| {
            let expected = &mut expected[..found.len()];
            self.write_row_from((piece * PIECE / 4) as u32, y, expected);
            if found == &*expected {
                return None;
            }
            let at = found.iter().zip(&*expected).position(|(a, b)| a != b)?;
            Some((piece * PIECE + at, expected[at], found[at]))
        })
    }

    /// Returns the pattern in which row `first` of this one is row 0.
    const fn below(self, first: u32) -> Self {
        // A row adds ROW to the hashed number, and a nonce adds NONCE. NONCE is odd and has an inverse: each step
        // doubles its correct bits.
        let (mut inverse, mut bits) = (NONCE, 3);
        while bits < u32::BITS {
            inverse = inverse.wrapping_mul(2_u32.wrapping_sub(NONCE.wrapping_mul(inverse)));
            bits *= 2;
        }
        Self { nonce: self.nonce.wrapping_add(first.wrapping_mul(ROW).wrapping_mul(inverse)), ..self }
    }

    /// Splits the pattern of an image into bands of at most `most` bytes, or one row, each with its part of the view.
    pub(crate) fn in_bands(self, view: &View, most: usize) -> impl Iterator<Item = (View, Self)> {
        let (view, bands) = (
            *view,
            match view {
                View::Image(image) => (most / image.pitch().max(1)).clamp(1, image.extent.height.max(1) as usize),
                View::Buffer(_) => 1,
            },
        );
        let height = if let View::Image(image) = view { image.extent.height.max(1) } else { 1 };
        (0..height).step_by(bands).map(move |first| match view {
            View::Buffer(_) => (view, self),
            View::Image(image) => {
                let rows = (bands as u32).min(image.extent.height.saturating_sub(first));
                let extent = Extent::new(image.extent.width, rows);
                (View::Image(ImageView { offset: image.row_start(first), extent, ..image }), self.below(first))
            }
        })
    }

    /// Bytes of one row in the pattern of a buffer, which has no rows of its own. A multiple of 4.
    pub const BUFFER_ROW: usize = 4096;

    /// Writes the pattern into `bytes` in the layout of `view`, as a kernel must. Writes nothing where the view reaches
    /// outside.
    pub fn write(&self, view: &View, bytes: &mut [u8]) {
        if view.check_inside(bytes.len()).is_ok() {
            rows(view).for_each(|(y, range)| self.write_row(y, &mut bytes[range]));
        }
    }
}

/// Returns the rows of a checked view ([`View::check_inside`]) as (row number, byte range in memory).
pub fn rows(view: &View) -> Box<dyn Iterator<Item = (u32, std::ops::Range<usize>)>> {
    match *view {
        View::Image(image) => Box::new(image_rows(image)),
        View::Buffer(buffer) => Box::new(buffer_rows(buffer)),
    }
}

/// Copies tightly packed rows into memory in the layout of `view`; bytes between them stay. The view was checked
/// ([`View::check_inside`]).
pub fn lay_out(tight: &[u8], view: &View, memory: &mut [u8]) {
    let mut left = tight;
    for (_, to) in rows(view) {
        let (row, rest) = left.split_at(to.len().min(left.len()));
        memory[to.start..to.start + row.len()].copy_from_slice(row);
        left = rest;
    }
}

fn image_rows(image: ImageView) -> impl Iterator<Item = (u32, std::ops::Range<usize>)> {
    (0..image.extent.height).map(move |y| (y, image.row(y)))
}

fn buffer_rows(buffer: BufferView) -> impl Iterator<Item = (u32, std::ops::Range<usize>)> {
    let end = buffer.offset.saturating_add(buffer.len);
    (buffer.offset..end)
        .step_by(Pattern::BUFFER_ROW)
        .enumerate()
        .map(move |(row, start)| (row as u32, start..start.saturating_add(Pattern::BUFFER_ROW).min(end)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Extent, PixelFormat};

    #[test]
    fn bands_of_an_image_are_the_whole() {
        for reversed in [false, true] {
            let view = ImageView::packed(Extent::new(5, 23), PixelFormat::Rgba8, 1, 0, reversed).unwrap();
            let (view, mut whole, mut banded) = (View::Image(view), vec![0; 5 * 23 * 4], vec![0; 5 * 23 * 4]);
            let pattern = Pattern::for_view(&view, 77);
            pattern.write(&view, &mut whole);
            let bands: Vec<_> = pattern.in_bands(&view, 70).collect();
            assert_eq!(bands.len(), 8, "3 rows of 20 bytes each");
            for (band, pattern) in bands {
                assert!(band.span().len() <= 70);
                pattern.write(&band, &mut banded);
            }
            assert!(whole == banded, "reversed: {reversed}");
        }
        let buffer = View::Buffer(BufferView { offset: 4, len: 100 });
        assert_eq!(Pattern::ZERO.in_bands(&buffer, 8).collect::<Vec<_>>(), [(buffer, Pattern::ZERO)]);
    }

    #[test]
    fn a_flat_pattern_is_one_word_that_the_format_may_hold() {
        for (format, kept) in
            [(PixelFormat::Rgba8, 0), (PixelFormat::Rgba16F, 0x3800_3800), (PixelFormat::R32F, 0x3f00_0000)]
        {
            let view = View::Image(ImageView::packed(Extent::new(33, 7), format, 1, 0, false).unwrap());
            let (one, other) = (Pattern::flat(&view, 3), Pattern::flat(&view, 4));
            assert!(one.is_flat() && !Pattern::for_view(&view, 3).is_flat() && one.or_mask != other.or_mask);
            assert_eq!((one.word(0, 0), one.or_mask & kept), (one.word(31, 6), kept));
            let mut row = [0; 7];
            one.write_row(2, &mut row);
            assert_eq!((&row[..4], &row[4..]), (&one.or_mask.to_ne_bytes()[..], &one.or_mask.to_ne_bytes()[..3]));
        }
    }

    #[test]
    fn float_channels_are_normal_and_many_are_outside_of_0_to_1() {
        let check = |all: Vec<f32>| {
            assert!(all.iter().all(|v| v.is_normal() && (0.5..2.0).contains(&v.abs())), "{all:?}");
            let counts = [all.iter().filter(|v| **v < 0.0).count(), all.iter().filter(|v| **v > 1.0).count()];
            assert!(counts.iter().all(|count| 8 * count > all.len()), "{counts:?} of {}", all.len());
        };
        for format in [PixelFormat::R32F, PixelFormat::Rgba32F] {
            let view = View::Image(ImageView::packed(Extent::new(33, 7), format, 1, 0, false).unwrap());
            let mut bytes = vec![0; view.payload_len()];
            Pattern::for_view(&view, 3).write(&view, &mut bytes);
            check(bytemuck::allocation::pod_collect_to_vec::<u8, f32>(&bytes));
        }
        let view = View::Image(ImageView::packed(Extent::new(9, 5), PixelFormat::Rgba16F, 1, 0, false).unwrap());
        let mut bytes = vec![0; view.payload_len()];
        Pattern::for_view(&view, 3).write(&view, &mut bytes);
        let halves = bytemuck::allocation::pod_collect_to_vec::<u8, half::f16>(&bytes);
        assert!(halves.iter().all(|v| v.is_normal()));
        check(halves.into_iter().map(half::f16::to_f32).collect());
    }

    #[test]
    fn nonces_rows_and_columns_differ() {
        let view = View::Image(ImageView::packed(Extent::new(64, 64), PixelFormat::R8, 1, 0, false).unwrap());
        let (mut a, mut b) = (vec![0; 4096], vec![0; 4096]);
        Pattern::for_view(&view, 1).write(&view, &mut a);
        Pattern::for_view(&view, 2).write(&view, &mut b);
        let same = a.iter().zip(&b).filter(|(a, b)| a == b).count();
        assert!(same < 64, "{same} of 4096 bytes are the same under two nonces");
        assert_ne!(a[..64], a[64..128]);
        let column: Vec<u8> = a.iter().step_by(64).copied().collect();
        assert_ne!(a[..64], column[..]);
    }

    #[test]
    fn a_reversed_view_holds_the_same_rows_the_other_way_round() {
        let plain = ImageView::packed(Extent::new(5, 4), PixelFormat::Rg8, 1, 0, false).unwrap();
        let reversed = ImageView::packed(Extent::new(5, 4), PixelFormat::Rg8, 1, 0, true).unwrap();
        let (mut a, mut b) = (vec![0; 40], vec![0; 40]);
        Pattern::for_view(&View::Image(plain), 9).write(&View::Image(plain), &mut a);
        Pattern::for_view(&View::Image(plain), 9).write(&View::Image(reversed), &mut b);
        let flipped: Vec<u8> = a.chunks(10).rev().flatten().copied().collect();
        assert_eq!(flipped, b);
    }
}
