//! One frame: [`Link::frame`](LinkCore::frame), from the part that it replaces to the path that carries it.
//!
//! A frame begins on the path in use. The program computes it in a [`WriteFrame`], whose `finish` hands it over (see
//! `path::slot_sync` for the line that waits or signals). If the path fails, the frame is repeated on the next one
//! (`fallback`).

use super::fallback::FallbackState;
use super::frame_trace::FrameTrace;
use super::retired_frame::RetiredFrame;
use super::{LinkCore, WriteFrame};
use crate::describe::error::{Error, Result};
use crate::describe::geometry::Region;
use crate::describe::surface::Unwritten;
use crate::devices::timeline::{FrameTag, step};
use crate::display::SurfacePart;
use crate::path::{SharingPath, blank};
use std::ops::Range;

impl LinkCore {
    /// Computes and shows one frame of the whole surface. The surface's rule determines pixels that `compute` leaves
    /// unwritten, see [`Unwritten`]. If the path fails, `compute` is called again for a frame on the next path that
    /// works, so it should do the same each time. While the link is paused ([`Link::resize`](LinkCore::resize)), nothing is done.
    ///
    /// # Errors
    /// Those of `compute` that are not the path's fault, and those of a forced path; where no path is left, the first
    /// error.
    pub fn frame(&mut self, compute: impl FnMut(&mut WriteFrame<'_>) -> Result<()>) -> Result<()> {
        self.frame_part(self.layout.full(), compute)
    }

    /// Computes and shows one frame of a part of an image ([`Link::acquire_region`](LinkCore::acquire_region)), by the rules of [`Link::frame`](LinkCore::frame).
    pub fn frame_region(
        &mut self,
        region: Region,
        compute: impl FnMut(&mut WriteFrame<'_>) -> Result<()>,
    ) -> Result<()> {
        self.frame_part(SurfacePart::Image(region), compute)
    }

    /// Computes and shows one frame of a part of a buffer ([`Link::acquire_bytes`](LinkCore::acquire_bytes)), by the rules of [`Link::frame`](LinkCore::frame).
    pub fn frame_bytes(
        &mut self,
        bytes: Range<usize>,
        compute: impl FnMut(&mut WriteFrame<'_>) -> Result<()>,
    ) -> Result<()> {
        self.frame_part(SurfacePart::Buffer(bytes), compute)
    }

    /// Prepares a frame: selects a path that works, which may first be compared with another.
    fn next_frame(&mut self, part: &SurfacePart) -> Result<Option<FallbackState>> {
        part.check_inside(self.layout.desc()).map_err(|error| error.of("Link::frame"))?;
        if self.in_target && *part != self.layout.full() {
            // No surface holds the pixels around the part.
            return Err(Error::InTarget);
        }
        let mut descent = None;
        self.settle_audits();
        self.leave_broken(&mut descent)?;
        self.compare_between_frames();
        self.frames += 1;
        Ok(descent)
    }

    fn frame_part(
        &mut self,
        part: SurfacePart,
        mut compute: impl FnMut(&mut WriteFrame<'_>) -> Result<()>,
    ) -> Result<()> {
        if self.paused {
            return Ok(());
        }
        let mut descent = self.next_frame(&part)?;
        loop {
            let around = self.surroundings(&part)?;
            let done = self.begin(&part, around.as_deref()).and_then(|traced| {
                let mut frame = WriteFrame::new(self, part.clone(), Some(traced));
                compute(&mut frame)?;
                frame.finish()
            });
            let Err(error) = done else { return Ok(()) };
            self.broken = None;
            self.step_down(error, &mut descent)?;
        }
    }

    pub(super) fn acquire_part(&mut self, part: SurfacePart) -> Result<WriteFrame<'_>> {
        if self.paused {
            return Err(Error::Paused);
        }
        let mut descent = self.next_frame(&part)?;
        loop {
            let around = self.surroundings(&part)?;
            match self.begin(&part, around.as_deref()) {
                Ok(traced) => return Ok(WriteFrame::new(self, part, Some(traced))),
                Err(error) => self.step_down(error, &mut descent)?,
            }
        }
    }

    fn begin(&mut self, part: &SurfacePart, around: Option<&[u8]>) -> Result<FrameTrace> {
        let traced = FrameTrace::new(self, part);
        if self.unclean {
            self.make_pieces(true)?;
            blank(&mut self.path, self.backend.as_ref(), &self.layout)?;
            self.unclean = false;
        }
        if let Some(bytes) = around {
            let _step = step!("surroundings");
            let _tagged = FrameTag::enter(self.newest);
            let full = self.layout.full();
            self.make_pieces(false)?;
            self.path.begin(&full)?;
            let mut frame = WriteFrame::new(self, full, None);
            frame.write(bytes)?;
            frame.hand_over()?;
            if self.retired.as_ref().is_some_and(RetiredFrame::is_in_the_paths_memory) {
                // The path shows the same picture now, and uses the slot that the earlier surface reads for its next
                // frame.
                (self.finished, self.retired) = (true, None);
            }
        }
        self.make_pieces(false)?;
        self.path.begin(part)?;
        Ok(traced.in_slot(self.path.slot()))
    }

    /// Returns the picture that the first frame on a new path starts from: the last finished frame of the previous
    /// path, rows in the surface's order. `None` where the path has it already, where that frame had another size, and
    /// where there was no frame: a new path holds zero.
    ///
    /// # Errors
    /// Those of reading the shown frame. A frame of the whole surface then starts from zero: most frames write every
    /// pixel.
    fn surroundings(&mut self, part: &SurfacePart) -> Result<Option<Vec<u8>>> {
        let (desc, is_whole) = (*self.layout.desc(), *part == self.layout.full());
        if self.finished || (is_whole && desc.unwritten() != Unwritten::Keep) {
            return Ok(None);
        }
        match &mut self.retired {
            Some(retired) if retired.desc().with_unwritten(desc.unwritten()) == desc => {
                match retired.newest_picture() {
                    Err(error) if is_whole => {
                        tracing::warn!(%error, "cannot read the shown picture; unwritten pixels become zero");
                        Ok(None)
                    }
                    other => other.map(Some),
                }
            }
            _ => Ok(None),
        }
    }
}
