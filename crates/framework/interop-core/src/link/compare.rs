//! A link continues comparing paths while its program runs, and switches to a faster one between two frames.
//!
//! It switches in the same way as it leaves a path that fails (`fallback`): the shown frame stays until the first frame
//! on the new path is finished, and that frame keeps its pixels.

use super::LinkCore;
use super::touch::DrawTouch;
use crate::devices::timeline::FrameTag;
use crate::path::{OpenedPath, SharingPath};
use crate::select::report::{Comparison, ProbeReport};
use crate::select::{LiveTrials, PathCost, PathVariant, Progress, Selection, TrialContext, TrialLimit, remember};
use std::time::Duration;

impl LinkCore {
    /// Spends `time` on comparing the current path with those that the start had no time for, and switches to a faster
    /// one. For programs that know when they have time, while they load or until the next frame is due. A step that is
    /// expected to exceed the remaining time is not started, so a short time may do nothing.
    ///
    /// The comparison uses memory and a kernel of this crate; frames, kernels and memory of the program take no part.
    /// The shown frame stays. Returns how many paths are still to be compared; [`ProbeReport::later`] has their names.
    ///
    /// [`crate::select::Trials`] determines when this happens automatically.
    pub fn compare_paths(&mut self, time: Duration) -> usize {
        let end = self.options.policy.clock.now() + time;
        while !self.live_trials.is_over() && self.broken.is_none() && self.compare(TrialLimit::Until(end)) {}
        self.live_trials.left().len()
    }

    /// Does a step between two frames, if the policy has time for it.
    pub(super) fn compare_between_frames(&mut self) {
        if self.live_trials.is_over() {
            return;
        }
        self.live_trials.frame_begins(self.touch.last(), &self.options.policy.clock);
        self.compare(TrialLimit::Policy(self.options.policy.trials));
    }

    /// Records the time of a draw, as long as comparisons need it.
    pub(super) fn touched(&self) -> DrawTouch {
        DrawTouch((!self.live_trials.is_over()).then(|| self.touch.clone()))
    }

    /// Does one step; returns false where there was nothing to do, or no time for it.
    fn compare(&mut self, limit: TrialLimit) -> bool {
        let _nobodys = FrameTag::enter(None);
        let policy = &self.options.policy;
        let in_use = self.variant();
        let table = TrialContext {
            pairing: policy.pairing(&self.backend, &self.display, self.layout.desc()),
            policy,
            in_use,
            frames_behind: self.path.frames_behind(),
        };
        match self.live_trials.step(&table, limit) {
            Progress::Rested => return false,
            Progress::Done => {}
            Progress::Compared(comparison, measured) => {
                let us = self.live_trials.reference_us();
                if let Some(us) = us {
                    remember(&table, in_use, us, self.live_trials.left());
                }
                tracing::debug!(%comparison, "compared");
                self.report.note(comparison, measured);
            }
            Progress::Better { path, variant, comparison, measured } => {
                remember(&table, variant, measured.median_us, self.live_trials.left());
                self.switch_path(*path, variant, comparison, measured);
            }
        }
        // Frees the memory of comparisons, which are over.
        if self.live_trials.is_over() {
            self.live_trials.stop();
        }
        self.report.later.left = self.live_trials.left().iter().map(PathVariant::to_string).collect();
        (self.report.later.spent, self.report.later.running) = self.live_trials.spent(&self.options.policy.clock);
        true
    }

    /// Returns the current path, with its synchronisation where that is not the path's own.
    pub(super) fn variant(&self) -> PathVariant {
        let own = self.options.policy.paths.get(self.id).and_then(|spec| spec.syncs.first());
        PathVariant { id: self.id, sync: Some(self.path.sync()).filter(|sync| Some(sync) != own) }
    }

    fn switch_path(&mut self, path: OpenedPath, variant: PathVariant, comparison: Comparison, measured: PathCost) {
        // Otherwise frames in flight would never be shown.
        if let Err(error) = self.flush() {
            tracing::warn!(%error, "the current path failed; the next frame replaces it");
            return;
        }
        tracing::info!(from = %self.id, to = %variant, %comparison, "switched to a faster path");
        let why = format!("faster than {} while the program ran, {:.0} us a frame", self.id, measured.median_us);
        let mut report: ProbeReport = self.report.clone();
        report.note(comparison, Some(measured));
        report.change(variant.id, path.sync(), why);
        let desc = *self.layout.desc();
        self.take(Selection { path, id: variant.id, report, live_trials: LiveTrials::over() }, &desc);
    }
}
