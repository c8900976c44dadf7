//! Registry of the host pages that are registered in a context.

use cudarc::driver::sys as cu;
use interop_core::describe::PlainMutex;
use interop_core::devices::ranges::overlap;
use std::ops::Range;
use std::sync::{Arc, MutexGuard, Weak};

/// Registered runs of pages. They do not overlap, and each counts the blocks that use it.
///
/// The driver pins whole pages and rejects a second registration of a page. But a display may let one block begin in
/// the page where another ends, and a backend and a display of one device may import the same block. A block is
/// therefore covered by existing runs, and by new ones for the gaps between them.
#[derive(Default)]
pub struct Registry(PlainMutex<Vec<Run>>);

/// One registry for each primary context that a queue holds, by the context's handle.
static REGISTRIES: PlainMutex<Vec<(usize, Weak<Registry>)>> = PlainMutex::new(Vec::new());

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub pages: Range<usize>,
    pub users: usize,
}

impl Registry {
    /// Returns the registry of this context. The caller keeps it for as long as it holds the context.
    pub fn of(context: cu::CUcontext) -> Arc<Self> {
        let mut all = REGISTRIES.lock();
        all.retain(|(_, registry)| registry.strong_count() > 0);
        let context = context.addr();
        if let Some(found) = all.iter().find(|(of, _)| *of == context).and_then(|(_, registry)| registry.upgrade()) {
            return found;
        }
        let new = Arc::new(Self::default());
        all.push((context, Arc::downgrade(&new)));
        new
    }

    pub fn lock(&self) -> MutexGuard<'_, Vec<Run>> {
        // Runs are changed in one step each, so a panic elsewhere leaves the list valid.
        self.0.lock()
    }

    /// Returns offsets inside `len` bytes at `address` where a run begins or ends; the driver rejects copies across
    /// such an offset. Device addresses are allowed, too: those of registered pages equal the host's, and no others
    /// belong to a run.
    pub fn cuts(&self, address: u64, len: usize) -> Vec<usize> {
        let start = address as usize;
        let runs = self.lock();
        let ends = runs.iter().flat_map(|r| [r.pages.start, r.pages.end]);
        ends.filter(|end| *end > start && *end - start < len).map(|end| end - start).collect()
    }
}

/// Returns the gaps that `runs` (in any order, not overlapping) leave in `pages`.
pub fn gaps(runs: &[Run], pages: &Range<usize>) -> Vec<Range<usize>> {
    let mut inside: Vec<_> = runs.iter().map(|r| r.pages.clone()).filter(|p| overlap(p, pages)).collect();
    inside.sort_unstable_by_key(|p| p.start);
    let (mut gaps, mut at) = (Vec::new(), pages.start);
    for run in inside {
        if at < run.start {
            gaps.push(at..run.start);
        }
        at = run.end;
    }
    if at < pages.end {
        gaps.push(at..pages.end);
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_what_the_runs_leave() {
        let runs: Vec<_> = [30..40, 10..20].map(|pages| Run { pages, users: 1 }).into();
        assert_eq!(gaps(&runs, &(12..18)), []);
        assert_eq!(gaps(&runs, &(0..50)), [0..10, 20..30, 40..50]);
        assert_eq!(gaps(&runs, &(15..50)), [20..30, 40..50]);
        assert_eq!(gaps(&runs, &(5..30)), [5..10, 20..30]);
        assert_eq!(gaps(&[], &(1..2)).len(), 1);
    }

    #[test]
    fn cuts_are_where_runs_end_inside() {
        let registry = Registry(PlainMutex::new([30..40, 10..20].map(|pages| Run { pages, users: 1 }).into()));
        let mut cuts = registry.cuts(15, 20);
        cuts.sort_unstable();
        assert_eq!(cuts, [5, 15]);
        assert!(registry.cuts(10, 10).is_empty());
        assert!(registry.cuts(21, 9).is_empty());
        assert!(registry.cuts(u64::MAX, 9).is_empty());
    }
}
