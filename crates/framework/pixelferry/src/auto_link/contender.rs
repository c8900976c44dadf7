//! The two sides of a comparison: a link, the state of its backend, and its times.

use interop_core::tournament::{Entry, TURN, Terms};
use interop_core::{Kernel, Link, PathId, PathReport, PathState};
use std::sync::Arc;

/// Row number of a newcomer that is another path of the current pair.
pub(super) const OTHER_PATH: usize = usize::MAX;
/// A path that took this many times as long when the link was opened, or in other work, is not compared.
pub(super) const HOPELESS: f64 = 2.0;

/// A link, the state that its backend needs for a frame, and the times of its frames.
pub(super) struct Contender<S> {
    pub link: Link,
    pub state: S,
    /// Kernels of the link's backend.
    pub kernels: Vec<Arc<dyn Kernel>>,
    pub times: Entry<usize>,
}

impl<S> Contender<S> {
    /// Creates the side for the pair in this row of the report.
    pub fn new(row: usize, link: Link, kernels: Vec<Arc<dyn Kernel>>, state: S, has_run: bool) -> Self {
        Self { link, state, kernels, times: times(row, has_run) }
    }

    /// Its row in the report, or [`OTHER_PATH`] for another path of the current pair.
    pub const fn row(&self) -> usize {
        self.times.who
    }

    /// Discards its times, which belong to other work.
    pub fn forget(&mut self) {
        self.times = times(self.row(), true);
    }

    /// Returns the other paths of its pair except `slow` ones, the fastest at the first opening first.
    pub fn rivals(&self, slow: &[PathId]) -> Vec<PathId> {
        let rows = &self.link.report().paths;
        let best = rows.iter().find(|row| row.id == self.link.path()).and_then(PathReport::median_us);
        let is_slow = |row: &PathReport| row.median_us().zip(best).is_some_and(|(us, best)| us > HOPELESS * best);
        let works = |row: &&PathReport| {
            matches!(row.state, PathState::Offered | PathState::Slower | PathState::Verified { .. })
                && !is_slow(row)
                && !slow.contains(&row.id)
        };
        let mut others: Vec<_> = rows.iter().filter(works).collect();
        let time = |row: &PathReport| row.median_us().unwrap_or(f64::INFINITY);
        others.sort_by(|a, b| time(a).total_cmp(&time(b)));
        others.into_iter().map(|row| row.id).collect()
    }
}

fn times(row: usize, has_run: bool) -> Entry<usize> {
    Entry::new(row, Terms { turn: TURN, frames_behind: 0, slots: 3, bytes: 0 }, has_run)
}

/// The next action.
pub(super) enum NextFrame {
    /// Compute a frame with the current pair.
    Plain,
    /// Compute a frame with this pair and wait for it.
    Timed(usize),
    /// [`BackendTrials::open`](super::backend_trials::BackendTrials::open).
    Open,
}

/// Frames of one pair. The first one is a warm-up for threads that slept or a GPU that did other work.
pub(super) struct Turn {
    pub row: usize,
    pub has_begun: bool,
    pub samples_us: Vec<f64>,
}
