//! Verification with pixels: the compute side writes patterns, which are read back through the display and compared.

use crate::compute::ComputeBackend;
use crate::describe::error::{Error, Result};
use crate::describe::format::PixelFormat;
use crate::describe::geometry::{Extent, Region};
use crate::describe::mismatch::Mismatch;
use crate::describe::pattern::Pattern;
use crate::describe::surface::{ImageDesc, SurfaceDesc, Unwritten};
use crate::describe::view::{ImageView, View};
use crate::devices::timeline::stage;
use crate::display::SurfacePart;
use crate::draw::{DrawOptions, Manner, Plan, paint};
use crate::path::{FrameLayout, OpenedPath, PathId, RING_SLOTS, SharingPath, pattern_frame};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// Minimum number of frames compared for one proof: one for each slot of a ring, because the memory of a single slot
/// may be wrong. The second frame also reveals a path that only ever shows its first frame.
pub const FRAMES: usize = RING_SLOTS;

/// Up to this many bytes every pixel is compared; of larger surfaces, [`BANDS`] bands of this total size.
const COMPARED_BYTES: usize = 8 << 20;

/// Bytes and bands compared of the slots of a long ring after the first [`FRAMES`]. These slots are made alike; the
/// only possible fault there is the wrong memory.
const MORE_COMPARED: (usize, usize) = (1 << 18, 4);

/// Bytes and bands compared of each frame under [`ProofExtent::FewRows`]: the first row, one in the middle, and the last.
const FEW_ROWS: (usize, usize) = (0, 3);

/// How much a proof compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProofExtent {
    /// Everything.
    All,
    /// A few rows of a frame in each slot, for a candidate that was verified at another size.
    FewRows,
}

/// Size of the corners that are drawn as programs draw: a format that a shader misinterprets shows in few pixels.
const DRAWN: Extent = Extent::new(32, 8);

/// Largest difference between two valid roundings of a number to 8 bits.
const DRAWN_TOLERANCE: u8 = 1;

/// Bands are distributed evenly and include the first and the last row.
const BANDS: usize = 32;

/// Writes patterns with new nonces and compares them with what the display shows; then a frame that writes nothing, if
/// the surface's rule determines its content. Leaves patterns in the surface and in the path's memory.
///
/// # Errors
/// [`Error::Rejected`] where the pixels differ; otherwise errors of the path, the backend or the display.
pub fn verify(id: PathId, path: &mut OpenedPath, backend: &dyn ComputeBackend, layout: &FrameLayout) -> Result<()> {
    compare(id, path, backend, layout, ProofExtent::All)
}

/// Compares the whole frame or a few of its rows, as `compared` says.
pub(super) fn compare(
    id: PathId,
    path: &mut OpenedPath,
    backend: &dyn ComputeBackend,
    layout: &FrameLayout,
    compared: ProofExtent,
) -> Result<()> {
    let _stage = stage!("verify", path = %id);
    let mut proof = Proof { compared, ..Proof::new(id, layout)? };
    while !proof.step(path, backend, layout)? {}
    Ok(())
}

/// The steps of [`verify`], frame by frame.
pub(super) struct Proof {
    id: PathId,
    compared: ProofExtent,
    whole: View,
    rows: Rows,
    /// Number of frames compared so far.
    frames: usize,
    /// Pattern of the frame that was compared last.
    pattern: Pattern,
}

impl Proof {
    pub fn new(id: PathId, layout: &FrameLayout) -> Result<Self> {
        let (whole, rows) = (layout.whole()?, Rows::of(layout.desc())?);
        Ok(Self { id, compared: ProofExtent::All, whole, rows, frames: 0, pattern: Pattern::ZERO })
    }

    /// Writes and compares one frame; returns true after the last.
    pub fn step(&mut self, path: &mut OpenedPath, backend: &dyn ComputeBackend, layout: &FrameLayout) -> Result<bool> {
        let rule = layout.desc().unwritten();
        let frames = match self.compared {
            ProofExtent::All => FRAMES.max(path.slots()),
            ProofExtent::FewRows => path.slots(),
        };
        if self.frames < frames {
            self.pattern = Pattern::for_view(&self.whole, next_nonce());
            pattern_frame(path, backend, layout, &self.pattern)?;
            path.flush()?;
            self.compare(path, layout)?;
            let has_more = rule != Unwritten::Overwrite && self.compared == ProofExtent::All;
            return Ok(self.frames == frames && !has_more);
        }
        if rule == Unwritten::Clear {
            self.pattern = Pattern::ZERO;
        }
        path.begin(&layout.full())?;
        path.finish()?;
        path.flush()?;
        self.compare(path, layout)?;
        Ok(true)
    }

    fn compare(&mut self, path: &mut OpenedPath, layout: &FrameLayout) -> Result<()> {
        let (bytes, bands) = match self.compared {
            ProofExtent::FewRows => FEW_ROWS,
            ProofExtent::All if self.frames < FRAMES => (COMPARED_BYTES, BANDS),
            ProofExtent::All => MORE_COMPARED,
        };
        for band in self.rows.bands(bytes, bands) {
            let shown = path.surface_mut().read_back(&self.rows.part(&band))?;
            let (frame, reversed) = (self.frames as u32, layout.is_reversed());
            if let Some(mismatch) = self.rows.compare(&band, &shown, &self.pattern, frame, reversed) {
                return Err(Error::Rejected { path: self.id, mismatch });
            }
        }
        if let (SurfaceDesc::Image(image), 0, ProofExtent::All) = (layout.desc(), self.frames, self.compared) {
            self.compare_draws(path, image, layout.is_reversed())?;
        }
        self.frames += 1;
        Ok(())
    }

    /// Compares two drawn corners, in each manner that the display has, with the reference.
    fn compare_draws(&self, path: &mut OpenedPath, image: &ImageDesc, reversed: bool) -> Result<()> {
        let side = |whole: u32, most: u32| (whole.min(most), whole.saturating_sub(most));
        let ((width, right), (height, bottom)) =
            (side(image.extent.width, DRAWN.width), side(image.extent.height, DRAWN.height));
        let mut corners = vec![Region::new(0, 0, width, height), Region::new(right, bottom, width, height)];
        // The corners of a small image coincide.
        corners.dedup();
        let drawn = ImageDesc { extent: Extent::new(width, height), ..*image };
        let as_is = Plan::exact(drawn.extent);
        let plain = Plan::new(&drawn, drawn.extent, &DrawOptions::default())?;
        let draws = [(plain, Some(Manner::Triangle)), (plain, Some(Manner::Compute)), (plain, None), (as_is, None)];
        for (region, (plan, manner)) in corners.iter().flat_map(|region| draws.map(|draw| (region, draw))) {
            let Some(found) = path.surface_mut().draw_back(*region, &plan, manner)? else { continue };
            let expected = self.drawn(image, *region, &plan, reversed)?;
            let close = |(found, expected): (&u8, &u8)| found.abs_diff(*expected) <= DRAWN_TOLERANCE;
            if let Some(byte) = found.iter().zip(&expected).position(|pair| !close(pair)) {
                let row_len = 4 * width as usize;
                let mismatch = Mismatch {
                    row: region.y + (byte / row_len) as u32,
                    byte: byte % row_len,
                    expected: expected[byte],
                    found: found[byte],
                    frame: self.frames as u32,
                    unusual_states: Vec::new(),
                };
                tracing::warn!(path = %self.id, ?manner, %mismatch, "a draw of what arrived shows other colours");
                return Err(Error::Rejected { path: self.id, mismatch });
            }
        }
        Ok(())
    }

    /// Draws a region of the pattern with the reference into RGBA8; tight rows in the display's order.
    fn drawn(&self, image: &ImageDesc, region: Region, plan: &Plan, reversed: bool) -> Result<Vec<u8>> {
        let pixel = image.format.bytes_per_pixel();
        let mut row = vec![0; image.extent.width as usize * pixel];
        let mut pixels = Vec::with_capacity(region.extent().pixels() as usize * pixel);
        for y in region.y..region.y + region.height {
            self.pattern.write_row(if reversed { image.extent.height - 1 - y } else { y }, &mut row);
            pixels.extend_from_slice(&row[region.x as usize * pixel..][..region.width as usize * pixel]);
        }
        let from = ImageView::packed(region.extent(), image.format, 1, 0, false)?;
        let to = ImageView::packed(region.extent(), PixelFormat::Rgba8, 1, 0, false)?;
        let mut drawn = vec![0; to.span().len()];
        paint(plan, (&pixels, &from), (&mut drawn, &to), (0, 0))?;
        Ok(drawn)
    }
}

/// Returns a number that is unique in the process, so that leftovers of an earlier verification cannot pass for new
/// pixels.
pub(crate) fn next_nonce() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A surface as rows of bytes.
struct Rows {
    count: u32,
    /// Length of the row in bytes; the last row of a buffer may be shorter.
    len: usize,
    total: usize,
    image_width: Option<u32>,
}

impl Rows {
    fn of(desc: &SurfaceDesc) -> Result<Self> {
        let total = desc.byte_len()?;
        Ok(match desc {
            SurfaceDesc::Image(i) => Self {
                count: i.extent.height,
                len: total / i.extent.height as usize,
                total,
                image_width: Some(i.extent.width),
            },
            SurfaceDesc::Buffer(_) => {
                let count = total.div_ceil(Pattern::BUFFER_ROW);
                let count = u32::try_from(count)
                    .map_err(|_| Error::invalid("verify", format!("{desc} has too many bytes to verify")))?;
                Self { count, len: Pattern::BUFFER_ROW, total, image_width: None }
            }
        })
    }

    fn bands(&self, compared_bytes: usize, bands: usize) -> Vec<Range<u32>> {
        let whole = 0..self.count;
        if self.total <= compared_bytes || (self.count as usize) < 2 * bands {
            return vec![whole];
        }
        let height = (compared_bytes / bands / self.len).max(1) as u32;
        let last = u64::from(self.count.saturating_sub(height));
        (0..bands as u64)
            .map(|i| (last * i / (bands as u64 - 1)) as u32)
            .map(|start| start..(start + height).min(self.count))
            .collect()
    }

    fn part(&self, band: &Range<u32>) -> SurfacePart {
        match self.image_width {
            Some(width) => SurfacePart::Image(Region::new(0, band.start, width, band.end - band.start)),
            None => SurfacePart::Buffer(band.start as usize * self.len..(band.end as usize * self.len).min(self.total)),
        }
    }

    fn compare(
        &self,
        band: &Range<u32>,
        shown: &[u8],
        pattern: &Pattern,
        frame: u32,
        reversed: bool,
    ) -> Option<Mismatch> {
        shown.chunks(self.len).zip(band.clone()).find_map(|(bytes, row)| {
            let written_as = if reversed { self.count - 1 - row } else { row };
            let (byte, expected, found) = pattern.mismatch_in_row(written_as, bytes)?;
            Some(Mismatch { row, byte, expected, found, frame, unusual_states: Vec::new() })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PixelFormat;

    #[test]
    fn bands_cover_the_first_and_last_row_and_stay_inside() {
        for (w, h) in [(8192, 8192), (3840, 2160), (1, 16384), (16384, 65)] {
            let rows = Rows::of(&SurfaceDesc::image(w, h, PixelFormat::Rgba32F)).unwrap();
            for (compared, count) in [(COMPARED_BYTES, BANDS), MORE_COMPARED] {
                let bands = rows.bands(compared, count);
                assert_eq!(bands.first().unwrap().start, 0);
                assert_eq!(bands.last().unwrap().end, h);
                assert!(bands.iter().all(|b| b.start < b.end && b.end <= h));
            }
        }
    }

    #[test]
    fn a_changed_byte_is_found_where_it_is() {
        let desc = SurfaceDesc::image(5, 4, PixelFormat::Rgba8);
        let rows = Rows::of(&desc).unwrap();
        let pattern = Pattern { and_mask: u32::MAX, or_mask: 0, nonce: 5 };
        let mut shown = vec![0; 80];
        for (y, row) in shown.chunks_mut(20).enumerate() {
            pattern.write_row(3 - y as u32, row);
        }
        assert_eq!(rows.compare(&(0..4), &shown, &pattern, 0, true), None);
        assert!(rows.compare(&(0..4), &shown, &pattern, 0, false).is_some());
        shown[47] ^= 1;
        let found = rows.compare(&(0..4), &shown, &pattern, 0, true).unwrap();
        assert_eq!((found.row, found.byte), (2, 7));
    }
}
