//! Opens the pair or path that is compared next.

use super::super::contender::{Contender, OTHER_PATH};
use super::super::report::PairState;
use super::BackendTrials;
use interop_core::{ComputeBackend, Error, Kernel, Link, LinkOptions, PathId, Result};
use std::sync::Arc;
use std::time::Duration;

impl BackendTrials {
    /// True where the backend of that row is open; otherwise starts opening it.
    pub(super) fn is_opened(&mut self, row: usize) -> bool {
        match &self.opening {
            Some((of, opening)) if *of == row || !opening.is_done() => return *of == row && opening.is_done(),
            _ => self.opening = None,
        }
        if self.is_too_large() {
            let reason = "a second link of this size would take too much memory".into();
            self.report.rows[row].state = PairState::NotTried { reason };
            self.waiting.pop_front();
            return false;
        }
        let begun = self.clock().now();
        match self.candidates().get(row) {
            Some(candidate) => self.opening = Some((row, candidate.begin(&self.wanted, &self.wanted.kernels(), true))),
            None => self.cancel(),
        }
        self.spent += self.clock().since(begun);
        false
    }

    /// Opens the next pair or path for a comparison. `None` where it does not work.
    pub fn open<S>(
        &mut self,
        in_use: &Contender<S>,
        prepare: impl Fn(&Arc<dyn ComputeBackend>, Vec<Arc<dyn Kernel>>) -> Result<S>,
    ) -> Option<Contender<S>> {
        let begun = self.clock().now();
        let (row, path, opened) = match self.waiting.pop_front() {
            Some(row) => (row, None, self.open_pair(row, prepare)),
            None => {
                let path = self.paths.pop_front()?;
                (OTHER_PATH, Some(path), self.open_path(path, in_use, prepare))
            }
        };
        self.is_told = false;
        self.opening_time = self.clock().since(begun);
        self.spent += self.opening_time;
        (self.seen, self.least_us, self.round, self.again) = (0, f64::INFINITY, self.round + 1, None);
        (self.round_time, self.before) = (Duration::ZERO, self.spent);
        self.has_duel = opened.is_ok();
        match (opened, path) {
            (Ok(contender), _) => return Some(contender),
            (Err(error), Some(path)) => self.add_path(path, PairState::Failed { reason: error.to_string() }),
            (Err(error), None) => self.fail(row, error),
        }
        None
    }

    fn open_pair<S>(
        &mut self,
        row: usize,
        prepare: impl Fn(&Arc<dyn ComputeBackend>, Vec<Arc<dyn Kernel>>) -> Result<S>,
    ) -> Result<Contender<S>> {
        let gone = || Error::invalid("AutoLink::frame", "the backend was not opened");
        let backend = self.opening.take().ok_or_else(gone)?.1.join()?;
        let pair = self.candidates()[row].open_with(backend, &self.wanted.kernels())?;
        // Uses the first path that works, so that the program hardly waits. If the pair wins, its other paths are
        // compared.
        let link = self.wanted.link(&pair, None, Duration::ZERO)?;
        let state = prepare(&pair.backend, pair.kernels.clone())?;
        Ok(Contender::new(row, link, pair.kernels, state, false))
    }

    fn open_path<S>(
        &self,
        path: PathId,
        in_use: &Contender<S>,
        prepare: impl Fn(&Arc<dyn ComputeBackend>, Vec<Arc<dyn Kernel>>) -> Result<S>,
    ) -> Result<Contender<S>> {
        let (backend, display) = (in_use.link.backend(), in_use.link.display());
        // A preferred path that fails later is replaced, unlike a forced one.
        let options = LinkOptions::new(self.wanted.policy.clone().with_prefer(path));
        let link = Link::open(Arc::clone(backend), Arc::clone(display), self.wanted.surface, options)?;
        if link.path() != path {
            return Err(Error::invalid("AutoLink::frame", format!("{path} does not work")));
        }
        let state = prepare(backend, in_use.kernels.clone())?;
        Ok(Contender::new(OTHER_PATH, link, in_use.kernels.clone(), state, false))
    }
}
