//! Fallback: a path that fails while frames are shown is replaced by the next one that works, which repeats the frame.
//!
//! Until then the display keeps showing the last frame, and the first frame of the next path starts from it.
//! [`Link::frame`] repeats a failed frame at once. [`Link::acquire`] and `finish` return the error, and the next
//! `acquire` uses another path.

use super::frame_trace::FrameTrace;
use super::retired_frame::RetiredFrame;
use super::{Link, WriteFrame};
use crate::describe::error::{Error, Result};
use crate::describe::geometry::Region;
use crate::describe::surface::{SurfaceDesc, Unwritten};
use crate::devices::timeline::{FrameTag, stage, step};
use crate::display::SurfacePart;
use crate::path::{FrameLayout, OpenedPath, PathId, SharingPath, blank};
use crate::select::report::ProbeReport;
use crate::select::{LiveTrials, PathHistory, Policy, Selection, distrust, open_path, open_without};
use std::ops::Range;
use std::time::Duration;

impl Error {
    /// True where another path may succeed: for errors of a driver, limits and wrong pixels, not for the caller's
    /// values or kernels.
    pub(crate) fn is_of_the_path(&self) -> bool {
        matches!(
            self,
            Self::Driver(_)
                | Self::Unsupported { .. }
                | Self::Unavailable { .. }
                | Self::Rejected { .. }
                | Self::Panicked { .. }
        )
    }
}

/// State at the beginning of a fallback, restored if no other path works.
pub(super) struct Descent {
    demoted: usize,
    id: PathId,
    report: ProbeReport,
    first: Error,
    /// The path itself, unless it moved to `retired` because it has a frame on show.
    unshown: Option<OpenedPath>,
}

impl Link {
    /// Computes and shows one frame of the whole surface. The surface's rule determines pixels that `compute` leaves
    /// unwritten, see [`Unwritten`]. If the path fails, `compute` is called again for a frame on the next path that
    /// works, so it should do the same each time. While the link is paused ([`Link::resize`]), nothing is done.
    ///
    /// # Errors
    /// Those of `compute` that are not the path's fault, and those of a forced path; where no path is left, the first
    /// error.
    pub fn frame(&mut self, compute: impl FnMut(&mut WriteFrame<'_>) -> Result<()>) -> Result<()> {
        self.frame_part(self.layout.full(), compute)
    }

    /// Computes and shows one frame of a part of an image ([`Link::acquire_region`]), by the rules of [`Link::frame`].
    pub fn frame_region(
        &mut self,
        region: Region,
        compute: impl FnMut(&mut WriteFrame<'_>) -> Result<()>,
    ) -> Result<()> {
        self.frame_part(SurfacePart::Image(region), compute)
    }

    /// Computes and shows one frame of a part of a buffer ([`Link::acquire_bytes`]), by the rules of [`Link::frame`].
    pub fn frame_bytes(
        &mut self,
        bytes: Range<usize>,
        compute: impl FnMut(&mut WriteFrame<'_>) -> Result<()>,
    ) -> Result<()> {
        self.frame_part(SurfacePart::Buffer(bytes), compute)
    }

    /// Prepares a frame: selects a path that works, which may first be compared with another.
    fn next_frame(&mut self, part: &SurfacePart) -> Result<Option<Descent>> {
        part.check_inside(self.layout.desc()).map_err(|error| error.of("Link::frame"))?;
        if self.in_target && *part != self.layout.full() {
            // No surface holds the pixels around the part.
            return Err(Error::InTarget);
        }
        let mut descent = None;
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

    pub(super) fn leave_broken(&mut self, descent: &mut Option<Descent>) -> Result<()> {
        self.broken.take().map_or(Ok(()), |error| self.step_down(error, descent))
    }

    pub(super) fn may_demote(&self, error: &Error) -> bool {
        error.is_of_the_path() && self.options.policy.force.is_none()
    }

    /// Replaces the current path by the next one that works. If there is none, returns the first error and keeps the
    /// earlier path.
    fn step_down(&mut self, error: Error, descent: &mut Option<Descent>) -> Result<()> {
        if error.is_of_the_path() {
            distrust(&self.backend, &self.display);
        }
        if !self.may_demote(&error) {
            return Err(error);
        }
        let from = self.id;
        let mut begun = descent.take().unwrap_or_else(|| Descent {
            demoted: self.demoted.len(),
            id: from,
            report: self.report.clone(),
            first: error.clone(),
            unshown: None,
        });
        let reason = error.to_string();
        let _stage = stage!("demote", path = %from, reason);
        self.demoted.push((from, reason.clone()));
        let policy = Policy { prefer: None, budget: Duration::ZERO, ..self.options.policy.clone() };
        let standing = PathHistory {
            demoted: &self.demoted,
            keep: None,
            frames_behind: Some(self.path.frames_behind()),
            known: Some(&self.report),
        };
        match open_without(&self.backend, &self.display, self.layout.desc(), &policy, &standing) {
            Ok(mut selection) => {
                selection.report.inherit(&self.report);
                // This machine has a fault: a working path is enough, so comparisons end.
                self.meanwhile.stop();
                tracing::warn!(%from, to = %selection.id, %reason, "a path failed and was replaced");
                let desc = *self.layout.desc();
                let unshown = self.take(selection, &desc);
                if from == begun.id {
                    begun.unshown = unshown;
                }
                *descent = Some(begun);
                Ok(())
            }
            Err(nothing_left) => {
                tracing::warn!(%nothing_left, "no path can compute this frame, so the paths are not at fault");
                Err(self.restore(begun))
            }
        }
    }

    /// Restores the state of `begun`, because the demotions since then were not the paths' fault.
    fn restore(&mut self, begun: Descent) -> Error {
        self.demoted.truncate(begun.demoted);
        let before = match begun.unshown {
            // It has no frame on show, so the retired path stays.
            Some(path) => Some((path, false)),
            None if self.id == begun.id => None,
            None => self.retired.take().and_then(RetiredFrame::into_path).map(|path| (path, true)),
        };
        if let Some((path, finished)) = before {
            (self.path, self.id, self.finished) = (path, begun.id, finished);
        }
        self.report = begun.report;
        self.report.later.left.clear();
        begun.first
    }

    /// Continues with another path; the shown frame stays until its first frame. Returns the earlier path if it has no
    /// frame on show.
    pub(super) fn take(&mut self, selection: Selection, desc: &SurfaceDesc) -> Option<OpenedPath> {
        let unshown = self.replace(selection.path, selection.id, desc);
        self.report = selection.report;
        unshown
    }

    /// Like [`Link::take`], for a path that was verified for this surface.
    pub(super) fn replace(&mut self, path: OpenedPath, id: PathId, desc: &SurfaceDesc) -> Option<OpenedPath> {
        let layout = FrameLayout::new(desc, self.display.caps());
        let path = std::mem::replace(&mut self.path, path);
        let layout = std::mem::replace(&mut self.layout, layout);
        let id = std::mem::replace(&mut self.id, id);
        (self.proved, self.made_for) = (*desc, *desc);
        self.broken = None;
        self.unclean = false;
        if !std::mem::take(&mut self.finished) {
            return Some(path);
        }
        self.retired = Some(RetiredFrame::path(layout, id, path));
        None
    }

    /// Tries and times all paths again, including those that failed, and continues with the best.
    ///
    /// # Errors
    /// The errors of [`Link::open`]; then the link is unchanged.
    pub fn recalibrate(&mut self) -> Result<()> {
        crate::select::forget(&self.backend, &self.display, self.layout.desc(), &self.options.policy);
        let mut selection = open_path(&self.backend, &self.display, self.layout.desc(), &self.options.policy)?;
        self.demoted.clear();
        self.meanwhile = std::mem::replace(&mut selection.meanwhile, LiveTrials::over());
        let desc = *self.layout.desc();
        self.take(selection, &desc);
        self.targets.forget();
        Ok(())
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
