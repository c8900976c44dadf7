//! Describes a frame's position in memory as words of a shared page.

use interop_core::{
    AlphaMode, BufferView, Encoding, Error, Extent, ImageDesc, ImageView, PixelFormat, Result, SurfaceDesc, View,
};

/// Number of words of a description.
pub(crate) const WORDS: usize = 6;

/// A frame: its layout in its piece of memory, the meaning of its numbers, and when it was published.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlacedFrame {
    pub desc: SurfaceDesc,
    /// Top row first: a stream's display has its rows in that order, whichever order the surface has.
    pub view: View,
    /// Nanoseconds of `CLOCK_MONOTONIC`, which all processes of a machine share.
    pub nanoseconds: u64,
}

const IMAGE: u64 = 1;
const BUFFER: u64 = 2;
const ENCODINGS: [Encoding; 4] = [Encoding::Unmanaged, Encoding::Srgb, Encoding::Linear, Encoding::Gamma22];
const ALPHAS: [AlphaMode; 4] = [AlphaMode::Stored, AlphaMode::Opaque, AlphaMode::Premultiplied, AlphaMode::Straight];

/// Index of a value among all of its kind.
fn place<T: PartialEq>(all: &[T], value: &T) -> u64 {
    all.iter().position(|one| one == value).unwrap_or(0) as u64
}

fn nth<T: Copy>(all: &[T], place: u64) -> Option<T> {
    all.get(usize::try_from(place).ok()?).copied()
}

impl PlacedFrame {
    pub(crate) fn words(&self) -> [u64; WORDS] {
        match (&self.desc, &self.view) {
            (SurfaceDesc::Image(image), View::Image(view)) => [
                IMAGE
                    | place(&PixelFormat::ALL, &view.format) << 8
                    | place(&ENCODINGS, &image.encoding) << 16
                    | place(&ALPHAS, &image.alpha) << 24,
                u64::from(view.extent.width) | u64::from(view.extent.height) << 32,
                view.offset as u64,
                view.row_pitch as u64,
                0,
                self.nanoseconds,
            ],
            (desc, view) => {
                let span = view.span();
                let bytes = desc.byte_len().unwrap_or(0) as u64;
                [BUFFER, bytes, span.start as u64, 0, span.len() as u64, self.nanoseconds]
            }
        }
    }

    /// Decodes a frame in a piece of this size. The words come from another process and are checked.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an invalid description, or a frame outside of the piece.
    pub(crate) fn of(words: [u64; WORDS], bytes: u64) -> Result<Self> {
        let [kind, sides, offset, pitch, len, nanoseconds] = words;
        let wrong = || Error::refused(format!("the publisher describes an invalid frame in {bytes} bytes: {words:x?}"));
        let byte = |at: u32| kind >> at & 0xff;
        let size = |number: u64| usize::try_from(number).map_err(|_| wrong());
        let (desc, view) = match kind & 0xff {
            IMAGE => {
                let format = nth(&PixelFormat::ALL, byte(8)).ok_or_else(wrong)?;
                let encoding = nth(&ENCODINGS, byte(16)).ok_or_else(wrong)?;
                let alpha = nth(&ALPHAS, byte(24)).ok_or_else(wrong)?;
                let extent = Extent::new(sides as u32, (sides >> 32) as u32);
                let row_pitch = isize::try_from(pitch.cast_signed()).map_err(|_| wrong())?;
                let view = ImageView { offset: size(offset)?, row_pitch, extent, format };
                let image = ImageDesc::new(extent.width, extent.height, format);
                (SurfaceDesc::Image(image.with_encoding(encoding).with_alpha(alpha)), View::Image(view))
            }
            BUFFER => {
                let view = BufferView { offset: size(offset)?, len: size(len)? };
                (SurfaceDesc::buffer(sides), View::Buffer(view))
            }
            _ => return Err(wrong()),
        };
        desc.byte_len()?;
        view.check_inside(usize::try_from(bytes).map_err(|_| wrong())?)?;
        Ok(Self { desc, view, nanoseconds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_comes_back_from_its_words() {
        for (format, encoding) in PixelFormat::ALL.iter().flat_map(|format| ENCODINGS.map(|e| (*format, e))) {
            let image = ImageDesc::new(33, 5, format).with_encoding(encoding).with_alpha(AlphaMode::Straight);
            let placed = |image, reversed| {
                let view = ImageView::packed(Extent::new(33, 5), format, 64, 128, reversed).unwrap();
                PlacedFrame { desc: SurfaceDesc::Image(image), view: View::Image(view), nanoseconds: u64::MAX }
            };
            let frame = placed(image, false);
            assert_eq!(PlacedFrame::of(frame.words(), 1 << 20).unwrap(), frame);
            let from_below = placed(image.with_row_order(interop_core::RowOrder::BottomUp), true);
            assert_eq!(PlacedFrame::of(from_below.words(), 1 << 20).unwrap(), placed(image, true));
        }
        let view = View::Buffer(BufferView { offset: 16, len: 100 });
        let frame = PlacedFrame { desc: SurfaceDesc::buffer(100), view, nanoseconds: 1 };
        assert_eq!(PlacedFrame::of(frame.words(), 116).unwrap(), frame);
        assert!(PlacedFrame::of(frame.words(), 115).is_err(), "outside of its piece");
    }

    #[test]
    fn words_of_any_kind_are_taken_or_refused() {
        // A generator of its own, so that the same words come again.
        let mut state = 1_u64;
        let mut word = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ state >> 33
        };
        let mut taken = 0;
        for round in 0..100_000_u64 {
            // Many near the edge of what is right, where an overflow would hide.
            let near = |number: u64| if round % 3 == 0 { number } else { number % 70 };
            let kind = (near(word()) % 4) | ((word() % 16) << 8) | ((word() % 4) << 16) | ((word() % 5) << 24);
            let words = [kind, near(word()) | near(word()) << 32, near(word()), near(word()), near(word()), 0];
            let Ok(frame) = PlacedFrame::of(words, 4096) else { continue };
            taken += 1;
            assert!(frame.view.span().end <= 4096 && frame.desc.byte_len().is_ok(), "{words:x?}");
        }
        assert!(taken > 100, "only {taken} were frames");
    }
}
