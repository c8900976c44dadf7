//! A link goes on comparing paths while its program runs, and goes over to a better one between two frames.
//!
//! It goes over as it does from a path that fails (`fallback`): what is shown stays until the first frame on the new path is
//! finished, and that frame keeps its pixels.

use super::Link;
use super::touch::Drawn;
use crate::devices::timeline::FrameTag;
use crate::path::{OpenedPath, SharingPath};
use crate::select::report::{Comparison, ProbeReport};
use crate::select::{Limit, Meanwhile, Measured, Selection, Step, Table, Way, remember};
use std::time::Duration;

impl Link {
    /// Spends `time` on comparing the path in use with those that the start had no time for, and goes over to one that is
    /// quicker. For programs that know when they have time: while they load, or until the next frame is due. Nothing is begun
    /// that is thought to take longer than what is left, so that a short time may do nothing.
    ///
    /// Paths are compared by memory and a kernel of this crate's; frames, kernels and memory of the program's have no part in it.
    /// What is shown stays. Returns how many paths are still to be compared; [`ProbeReport::later`] has their names.
    ///
    /// [`crate::select::Trials`] says when this happens on its own.
    pub fn compare_paths(&mut self, time: Duration) -> usize {
        let end = self.options.policy.clock.now() + time;
        while !self.meanwhile.is_over() && self.broken.is_none() && self.compare(Limit::Until(end)) {}
        self.meanwhile.left().len()
    }

    /// A step between two frames, where the policy has time for it.
    pub(super) fn compare_between_frames(&mut self) {
        if self.meanwhile.is_over() {
            return;
        }
        self.meanwhile.frame_begins(self.touch.last(), &self.options.policy.clock);
        self.compare(Limit::Policy(self.options.policy.trials));
    }

    /// Tells when the program touched the link, where anybody asks.
    pub(super) fn touched(&self) -> Drawn {
        Drawn((!self.meanwhile.is_over()).then(|| self.touch.clone()))
    }

    /// Does one step; false where there was nothing to do, or no time for it.
    fn compare(&mut self, limit: Limit) -> bool {
        let _nobodys = FrameTag::enter(None);
        let policy = &self.options.policy;
        let in_use = self.way();
        let table = Table {
            pairing: policy.pairing(&self.backend, &self.display, self.layout.desc()),
            clock: &policy.clock,
            paths: &policy.paths,
            in_use,
            frames_behind: self.path.frames_behind(),
        };
        match self.meanwhile.step(&table, limit) {
            Step::Rested => return false,
            Step::Done => {}
            Step::Compared(comparison, measured) => {
                let us = self.meanwhile.reference_us();
                if let Some(us) = us {
                    remember(&table, policy, in_use, us, self.meanwhile.left());
                }
                tracing::debug!(%comparison, "compared");
                self.report.note(comparison, measured);
            }
            Step::Better { path, way, comparison, measured } => {
                remember(&table, policy, way, measured.median_us, self.meanwhile.left());
                self.go_over(*path, way, comparison, measured);
            }
        }
        // Memory is for what goes on.
        if self.meanwhile.is_over() {
            self.meanwhile.stop();
        }
        self.report.later.left = self.meanwhile.left().iter().map(Way::to_string).collect();
        (self.report.later.spent, self.report.later.running) = self.meanwhile.spent(&self.options.policy.clock);
        true
    }

    /// The path in use, and how it takes turns where that is not its own way.
    pub(super) fn way(&self) -> Way {
        let own = self.options.policy.paths.get(self.id).and_then(|spec| spec.syncs.first());
        Way { id: self.id, sync: Some(self.path.sync()).filter(|sync| Some(sync) != own) }
    }

    fn go_over(&mut self, path: OpenedPath, way: Way, comparison: Comparison, measured: Measured) {
        // Frames on their way would never be seen.
        if let Err(error) = self.flush() {
            tracing::warn!(%error, "the path in use fails: it is not left for a quicker one but by its next frame");
            return;
        }
        tracing::info!(from = %self.id, to = %way, %comparison, "a quicker path is taken");
        let why = format!("quicker than {} while the program ran, {:.0} us a frame", self.id, measured.median_us);
        let mut report: ProbeReport = self.report.clone();
        report.note(comparison, Some(measured));
        report.change(way.id, path.sync(), why);
        let desc = *self.layout.desc();
        self.take(Selection { path, id: way.id, report, meanwhile: Meanwhile::over() }, &desc);
    }
}
