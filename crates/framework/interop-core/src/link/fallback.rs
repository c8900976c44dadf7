//! Fallback: a path that fails while frames are shown is replaced by the next one that works, which repeats the frame.
//!
//! Until then the display keeps showing the last frame, and the first frame of the next path starts from it.
//! [`Link::frame`](LinkCore::frame) repeats a failed frame at once. [`Link::acquire`](LinkCore::acquire) and `finish` return the error, and the next
//! `acquire` uses another path.

use super::LinkCore;
use super::retired_frame::RetiredFrame;
use crate::describe::error::{Error, Result};
use crate::describe::surface::SurfaceDesc;
use crate::devices::timeline::stage;
use crate::path::{FrameLayout, OpenedPath, PathId, SharingPath};
use crate::select::report::ProbeReport;
use crate::select::{LiveTrials, PathHistory, Policy, Selection, distrust, open_except, open_path};
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
                | Self::WrongFrame { .. }
        )
    }
}

/// State at the beginning of a fallback, restored if no other path works.
pub(super) struct FallbackState {
    demoted: usize,
    id: PathId,
    report: ProbeReport,
    first: Error,
    /// The path itself, unless it moved to `retired` because it has a frame on show.
    unshown: Option<OpenedPath>,
}

impl LinkCore {
    pub(super) fn leave_broken(&mut self, descent: &mut Option<FallbackState>) -> Result<()> {
        self.broken.take().map_or(Ok(()), |error| self.step_down(error, descent))
    }

    pub(super) fn may_demote(&self, error: &Error) -> bool {
        error.is_of_the_path() && self.options.policy.force.is_none()
    }

    /// Replaces the current path by the next one that works. If there is none, returns the first error and keeps the
    /// earlier path.
    pub(super) fn step_down(&mut self, error: Error, descent: &mut Option<FallbackState>) -> Result<()> {
        if error.is_of_the_path() {
            distrust(&self.backend, &self.display);
        }
        if !self.may_demote(&error) {
            return Err(error);
        }
        let from = self.id;
        let mut begun = descent.take().unwrap_or_else(|| FallbackState {
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
        let history = PathHistory {
            demoted: &self.demoted,
            keep: None,
            frames_behind: Some(self.path.frames_behind()),
            known: Some(&self.report),
        };
        match open_except(&self.backend, &self.display, self.layout.desc(), &policy, &history) {
            Ok(mut selection) => {
                selection.report.inherit(&self.report);
                // This machine has a fault: a working path is enough, so comparisons end.
                self.live_trials.stop();
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
    fn restore(&mut self, begun: FallbackState) -> Error {
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

    /// Like [`Link::take`](LinkCore::take), for a path that was verified for this surface.
    pub(super) fn replace(&mut self, path: OpenedPath, id: PathId, desc: &SurfaceDesc) -> Option<OpenedPath> {
        let layout = FrameLayout::new(desc, self.display.caps());
        let path = std::mem::replace(&mut self.path, path);
        let layout = std::mem::replace(&mut self.layout, layout);
        let id = std::mem::replace(&mut self.id, id);
        (self.proved, self.made_for) = (*desc, *desc);
        self.broken = None;
        self.unclean = false;
        self.auditor.forget();
        if !std::mem::take(&mut self.finished) {
            return Some(path);
        }
        self.retired = Some(RetiredFrame::path(layout, id, path));
        None
    }

    /// Tries and times all paths again, including those that failed, and continues with the best.
    ///
    /// # Errors
    /// The errors of [`Link::open`](super::Link::open); then the link is unchanged.
    pub fn recalibrate(&mut self) -> Result<()> {
        crate::select::forget(&self.backend, &self.display, self.layout.desc(), &self.options.policy);
        let mut selection = open_path(&self.backend, &self.display, self.layout.desc(), &self.options.policy)?;
        self.demoted.clear();
        self.live_trials = std::mem::replace(&mut selection.live_trials, LiveTrials::over());
        let desc = *self.layout.desc();
        self.take(selection, &desc);
        self.targets.forget();
        Ok(())
    }
}
