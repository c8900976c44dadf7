//! The sides of a comparison: links, what they need for a frame, and their times.

use interop_core::tournament::{Entry, TURN, Terms};
use interop_core::{Kernel, Link, PathId, PathReport, PathState};
use std::sync::Arc;

/// Stands for the row of a newcomer that is another path of the pair in use.
pub(super) const OTHER_PATH: usize = usize::MAX;
/// A path that took so many times as long when the link was opened, or in another work, is not compared.
pub(super) const HOPELESS: f64 = 2.0;

/// A link, what its backend needs for a frame, and the times of its frames.
pub(super) struct Lane<S> {
    pub link: Link,
    pub side: S,
    /// Of its backend.
    pub kernels: Vec<Arc<dyn Kernel>>,
    pub times: Entry<usize>,
}

impl<S> Lane<S> {
    /// That of the pair in this row of the report.
    pub fn new(row: usize, link: Link, kernels: Vec<Arc<dyn Kernel>>, side: S, has_run: bool) -> Self {
        Self { link, side, kernels, times: times(row, has_run) }
    }

    /// Its row in the report; of another path of the pair in use none.
    pub const fn row(&self) -> usize {
        self.times.who
    }

    /// Forgets its times, which were those of another work.
    pub fn forget(&mut self) {
        self.times = times(self.row(), true);
    }

    /// The other paths of its pair but these, those that were the quickest when it was opened first.
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

/// What comes next.
pub(super) enum Next {
    /// A frame by the pair in use.
    Plain,
    /// A frame by this pair, which is waited for.
    Timed(usize),
    /// [`Contest::open`](super::contest::Contest::open).
    Open,
}

/// Frames of one pair, the first of which does not count: threads that slept, or a GPU that did other work, need one.
pub(super) struct Turn {
    pub row: usize,
    pub has_begun: bool,
    pub samples_us: Vec<f64>,
}
