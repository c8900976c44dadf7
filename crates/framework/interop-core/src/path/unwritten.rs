//! Content of unwritten pixels: the only module that knows the rules of [`Unwritten`].
//!
//! Every path stores a part of a frame at its position in the whole frame, so that each slot of its memory is a
//! picture. The outdated part of a slot is one range of bytes, similar to `EGL_EXT_buffer_age` for whole buffers. A
//! frame with few changes makes little outdated in other slots, and a slot that holds the newest frame needs no copy.

use super::layout::{FrameLayout, FrameTransfer};
use crate::compute::{ComputeBackend, Target};
use crate::describe::error::Result;
use crate::describe::pattern::Pattern;
use crate::describe::surface::Unwritten;
use crate::devices::timeline::step;
use crate::display::SurfacePart;
use std::ops::Range;

/// How the display reads the slots.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    /// It copies the written part of each slot into a surface of its own.
    Uploads,
    /// Like [`Reader::Uploads`], or in place, but an engine owns the surface and also writes it: only the display knows
    /// its content.
    UploadsBesideAnother,
    /// It shows a slot in place, so all of the slot must be correct.
    InPlace,
    /// It shows a slot in place, and its user may have drawn into the texture or written the buffer: changes there are
    /// unknown.
    InPlaceAndDraws,
}

/// Preparation that a slot needs before kernels write it.
pub(super) struct Plan {
    /// Outdated bytes, and the slot that holds their content. If it is the same slot, only the display holds it.
    pub copy: Option<(usize, Range<usize>)>,
    /// True where the display copies the part out of its surface.
    pub fetch: bool,
    /// The part that is cleared afterwards, see [`clear`].
    pub clear: Clear,
}

/// The part of a slot that is set to zero before kernels write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clear {
    Nothing,
    /// The part that the frame replaces.
    Part,
    /// The whole slot, which holds no picture of this surface.
    Whole,
}

/// Ages of the slots of a path's memory.
pub(super) struct Ages {
    rule: Unwritten,
    reader: Reader,
    full: SurfacePart,
    whole: Range<usize>,
    /// For each slot, the bytes that differ from the newest frame.
    stale: Vec<Range<usize>>,
    /// For each slot, whether it holds no picture of this surface: frames of another size, or a frame that was
    /// discarded before the first one was finished.
    foreign: Vec<bool>,
    /// The slot with the last finished frame.
    newest: Option<usize>,
    /// The part that the current frame replaces.
    part: Range<usize>,
    /// True where kernels or the host received that part for writing.
    touched: bool,
}

impl Ages {
    /// Ages of slots that hold no frame yet. Their content is zero, or is cleared by the code that opened them.
    pub(super) fn new(layout: &FrameLayout, reader: Reader, pieces: usize) -> Result<Self> {
        let whole = layout.whole()?.span();
        Ok(Self {
            rule: layout.desc().unwritten(),
            reader,
            full: layout.full(),
            stale: vec![whole.clone(); pieces],
            foreign: vec![false; pieces],
            whole,
            newest: None,
            part: 0..0,
            touched: false,
        })
    }

    /// Ages of the same slots for frames of another size: each slot is zero before its first frame.
    pub(super) fn resized(&self, layout: &FrameLayout) -> Result<Self> {
        let pieces = self.stale.len();
        Ok(Self { foreign: vec![true; pieces], ..Self::new(layout, self.reader, pieces)? })
    }

    /// Returns the slot with the last finished frame. Other frames copy from it, so it must not be written.
    pub(super) fn newest(&self) -> Option<usize> {
        self.newest
    }

    /// Begins a frame in slot `piece`.
    pub(super) fn begin(&mut self, piece: usize, transfer: &FrameTransfer) -> Plan {
        (self.part, self.touched) = (transfer.native.span(), false);
        if self.reader == Reader::UploadsBesideAnother {
            let clear = if self.rule == Unwritten::Clear { Clear::Part } else { Clear::Nothing };
            return Plan { copy: None, fetch: self.rule == Unwritten::Keep, clear };
        }
        let must_hold = match self.rule {
            Unwritten::Keep => true,
            Unwritten::Clear | Unwritten::Overwrite => self.reader != Reader::Uploads && transfer.part != self.full,
        };
        let stale = &self.stale[piece];
        let from = self.newest.filter(|_| must_hold && !stale.is_empty());
        let clear = match self.rule {
            _ if self.foreign[piece] && from.is_none() => Clear::Whole,
            Unwritten::Clear => Clear::Part,
            Unwritten::Keep | Unwritten::Overwrite => Clear::Nothing,
        };
        Plan { copy: from.map(|from| (from, stale.clone())), fetch: false, clear }
    }

    /// Records that the copy of [`Plan::copy`] was queued.
    pub(super) fn renewed(&mut self, piece: usize) {
        // Until the frame is finished, the display's user may draw on.
        self.stale[piece] = if self.reader == Reader::InPlaceAndDraws { self.whole.clone() } else { 0..0 };
        self.foreign[piece] = false;
    }

    /// Records that the clear of [`Clear::Whole`] was queued.
    pub(super) fn cleared(&mut self, piece: usize) {
        self.foreign[piece] = false;
    }

    /// Records that the part may be written from now on. Until the frame is finished, its content there does not count.
    pub(super) fn touched(&mut self, piece: usize) {
        self.touched = true;
        self.stale[piece] = joined(&self.stale[piece], &self.part);
        // No other slot has the content that it would be updated from.
        self.foreign[piece] |= self.newest.is_none();
    }

    /// Records that `piece` holds the newest frame; the other slots lack its changes.
    pub(super) fn finished(&mut self, piece: usize) {
        let changed = match self.rule {
            _ if self.reader == Reader::InPlaceAndDraws => self.whole.clone(),
            Unwritten::Keep if !self.touched => 0..0,
            _ => self.part.clone(),
        };
        for (other, stale) in self.stale.iter_mut().enumerate() {
            *stale = if other == piece { 0..0 } else { joined(stale, &changed) };
        }
        self.newest = Some(piece);
        self.foreign[piece] = false;
    }

    /// Keeps only the first slots.
    pub(super) fn truncate(&mut self, pieces: usize) {
        self.stale.truncate(pieces);
        self.foreign.truncate(pieces);
        self.newest = self.newest.filter(|newest| *newest < pieces);
    }
}

/// Returns the smallest range that contains both.
fn joined(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    match (a.is_empty(), b.is_empty()) {
        (true, _) => b.clone(),
        (_, true) => a.clone(),
        _ => a.start.min(b.start)..a.end.max(b.end),
    }
}

/// Clears memory that a frame is about to write, in queue order.
pub(crate) fn clear(backend: &dyn ComputeBackend, target: Target<'_>) -> Result<()> {
    let _step = step!("clear");
    backend.write_pattern(target, &Pattern::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::capability::DisplayCaps;
    use crate::{PixelFormat, Region, RowOrder, SurfaceDesc};

    fn layout(rule: Unwritten) -> FrameLayout {
        let caps = DisplayCaps::new(64, 4096, RowOrder::TopDown)
            .with_image_formats(PixelFormat::ALL)
            .with_max_in_place_pixels(64)
            .with_row_pitch_alignment(64);
        // 10 rows of 32 bytes, 64 apart.
        FrameLayout::new(&SurfaceDesc::image(8, 10, PixelFormat::Rgba8).with_unwritten(rule), &caps)
    }

    /// A frame in `piece` that replaces so many rows; what had to be copied before.
    fn frame(
        ages: &mut Ages,
        layout: &FrameLayout,
        piece: usize,
        rows: Range<u32>,
        writes: bool,
    ) -> Option<(usize, Range<usize>)> {
        let part = SurfacePart::Image(Region::new(0, rows.start, 8, rows.end - rows.start));
        let plan = ages.begin(piece, &layout.in_place(&part).unwrap());
        if plan.copy.is_some() {
            ages.renewed(piece);
        }
        if writes {
            ages.touched(piece);
        }
        ages.finished(piece);
        plan.copy
    }

    const WHOLE: Range<usize> = 0..9 * 64 + 32;

    #[test]
    fn kept_pieces_are_brought_up_to_date_by_what_changed() {
        let layout = layout(Unwritten::Keep);
        let mut ages = Ages::new(&layout, Reader::InPlace, 3).unwrap();
        let mut frame = |piece, rows, writes| frame(&mut ages, &layout, piece, rows, writes);
        assert_eq!(frame(0, 0..10, true), None, "there is nothing to keep yet");
        assert_eq!(frame(1, 2..3, true), Some((0, WHOLE)));
        assert_eq!(frame(2, 5..7, true), Some((1, WHOLE)));
        // Rows 2 to 6 in one range.
        assert_eq!(frame(0, 4..5, true), Some((2, 128..6 * 64 + 32)));
        assert_eq!(frame(1, 0..10, false), Some((0, 256..6 * 64 + 32)));
        assert_eq!(frame(2, 0..10, false), Some((1, 256..4 * 64 + 32)), "an empty frame changes nothing");
        assert_eq!(frame(0, 0..10, false), None, "nothing changed since");
        assert_eq!(frame(1, 0..10, false), None);
    }

    #[test]
    fn a_frame_that_was_given_up_is_copied_over() {
        let layout = layout(Unwritten::Keep);
        let mut ages = Ages::new(&layout, Reader::Uploads, 1).unwrap();
        assert_eq!(frame(&mut ages, &layout, 0, 0..10, true), None);
        assert_eq!(frame(&mut ages, &layout, 0, 0..10, true), None, "one piece holds its own frame");
        let part = SurfacePart::Image(Region::new(0, 3, 8, 1));
        let transfer = layout.in_place(&part).unwrap();
        assert!(ages.begin(0, &transfer).copy.is_none());
        ages.touched(0);
        assert_eq!(ages.begin(0, &transfer).copy, Some((0, 192..224)), "only the display has it");
        assert_eq!(ages.begin(0, &transfer).copy, Some((0, 192..224)), "still");
    }

    #[test]
    fn what_is_not_kept_is_not_copied() {
        for rule in [Unwritten::Clear, Unwritten::Overwrite] {
            let layout = layout(rule);
            let mut ages = Ages::new(&layout, Reader::InPlace, 2).unwrap();
            let mut of_pieces = |piece, rows, writes| frame(&mut ages, &layout, piece, rows, writes);
            assert_eq!(of_pieces(0, 0..10, true), None);
            assert_eq!(of_pieces(1, 0..10, true), None);
            assert_eq!(of_pieces(0, 1..2, true), Some((1, WHOLE)), "what lies around a part is shown with it");
            let mut ages = Ages::new(&layout, Reader::Uploads, 2).unwrap();
            let mut of_uploads = |piece, rows| frame(&mut ages, &layout, piece, rows, true);
            assert_eq!((of_uploads(0, 0..10), of_uploads(1, 1..2), of_uploads(0, 3..4)), (None, None, None));
            let expected = if rule == Unwritten::Clear { Clear::Part } else { Clear::Nothing };
            assert_eq!(ages.begin(1, &layout.in_place(&layout.full()).unwrap()).clear, expected);
        }
    }

    #[test]
    fn pieces_that_held_another_size_are_cleared_once() {
        for rule in Unwritten::ALL {
            let layout = layout(rule);
            let mut ages = Ages::new(&layout, Reader::InPlace, 3).unwrap();
            frame(&mut ages, &layout, 0, 0..10, true);
            let mut ages = ages.resized(&layout).unwrap();
            let transfer = layout.in_place(&SurfacePart::Image(Region::new(0, 3, 8, 1))).unwrap();
            // A frame that is given up leaves no trace.
            for _ in 0..2 {
                let plan = ages.begin(1, &transfer);
                assert_eq!((plan.copy, plan.clear), (None, Clear::Whole), "{rule}");
                ages.cleared(1);
                ages.touched(1);
            }
            ages.finished(1);
            let plan = ages.begin(1, &layout.in_place(&layout.full()).unwrap());
            assert_ne!(plan.clear, Clear::Whole, "{rule}");
            let whole = ages.begin(2, &layout.in_place(&layout.full()).unwrap());
            match rule {
                Unwritten::Keep => assert_eq!((whole.copy, whole.clear), (Some((1, WHOLE)), Clear::Nothing)),
                _ => assert_eq!((whole.copy, whole.clear), (None, Clear::Whole)),
            }
        }
    }

    #[test]
    fn what_the_display_may_draw_into_is_copied_whole() {
        let layout = layout(Unwritten::Overwrite);
        let mut ages = Ages::new(&layout, Reader::InPlaceAndDraws, 2).unwrap();
        let mut frame = |piece, rows| frame(&mut ages, &layout, piece, rows, true);
        assert_eq!(frame(0, 0..10), None);
        assert_eq!(frame(1, 1..2), Some((0, WHOLE)));
        assert_eq!(frame(0, 1..2), Some((1, WHOLE)));
    }
}
