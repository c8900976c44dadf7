//! Tracks which bytes of a memory unfinished operations use, to order operations between queues.

use super::event::Event;
use crate::describe::PlainMutex;
use crate::devices::ranges::{Access, covers, hull, overlap};
use std::ops::Range;

/// The operations of queues on one memory, and the accesses of the backend's own in-order queue. Backends keep one with
/// each memory that queues accept.
#[derive(Debug, Default)]
pub struct Hazards(PlainMutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    uses: Vec<Entry>,
    /// Hulls of the ranges that the default queue has read and written since a queue's write covered them.
    read_by_default: Option<Range<usize>>,
    written_by_default: Option<Range<usize>>,
}

#[derive(Debug)]
struct Entry {
    range: Range<usize>,
    access: Access,
    event: Event,
}

impl Inner {
    fn conflicts<'a>(&'a self, range: &'a Range<usize>, access: Access) -> impl Iterator<Item = &'a Event> {
        let clashing = self.uses.iter().filter(move |u| u.access.clashes(access) && overlap(&u.range, range));
        clashing.map(|u| &u.event)
    }
}

impl Hazards {
    /// Adds an operation of a queue; appends to `after` the events that it must follow. Returns true where it must also
    /// follow the work of the default queue.
    pub(super) fn enter(&self, range: &Range<usize>, access: Access, event: &Event, after: &mut Vec<Event>) -> bool {
        let mut inner = self.0.lock();
        inner.uses.retain(|u| !u.event.is_settled());
        // An operation that uses one memory twice does not wait for itself.
        after.extend(inner.conflicts(range, access).filter(|e| !e.is(event)).cloned());
        let meets = |hull: &Option<Range<usize>>| hull.as_ref().is_some_and(|hull| overlap(hull, range));
        let default = meets(&inner.written_by_default) || (access == Access::Write && meets(&inner.read_by_default));
        if access == Access::Write {
            // Later operations follow this one, and through it the earlier ones.
            inner.uses.retain(|u| u.event.is(event) || !covers(range, &u.range));
            let covered = |hull: &mut Option<Range<usize>>| {
                hull.take_if(|hull| covers(range, hull));
            };
            covered(&mut inner.read_by_default);
            covered(&mut inner.written_by_default);
        }
        inner.uses.push(Entry { range: range.clone(), access, event: event.clone() });
        default
    }

    /// Unfinished operations of queues that work of the default queue must follow.
    pub fn conflicts(&self, range: &Range<usize>, access: Access) -> Vec<Event> {
        let mut inner = self.0.lock();
        if inner.uses.is_empty() {
            return Vec::new();
        }
        inner.uses.retain(|u| !u.event.is_settled());
        inner.conflicts(range, access).cloned().collect()
    }

    /// Records an access that the default queue makes after the call that queued it returns.
    pub fn used_by_default(&self, range: &Range<usize>, access: Access) {
        let mut inner = self.0.lock();
        let used = match access {
            Access::Read => &mut inner.read_by_default,
            Access::Write => &mut inner.written_by_default,
        };
        *used = Some(used.as_ref().map_or_else(|| range.clone(), |old| hull(old, range)));
    }

    /// Waits on this thread until `range` can be accessed. Earlier operations report their success through their own
    /// events.
    pub fn wait(&self, range: &Range<usize>, access: Access) {
        for event in self.conflicts(range, access) {
            let _ = event.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Completer;
    use super::*;

    fn enter(h: &Hazards, range: Range<usize>, access: Access) -> (Completer, Event, usize, bool) {
        let (completer, event) = Completer::new();
        let mut after = Vec::new();
        let default = h.enter(&range, access, &event, &mut after);
        (completer, event, after.len(), default)
    }

    #[test]
    fn readers_share_and_writers_do_not() {
        let h = Hazards::default();
        let a = enter(&h, 0..8, Access::Read);
        let b = enter(&h, 0..8, Access::Read);
        assert_eq!((a.2, b.2), (0, 0));
        let w = enter(&h, 0..8, Access::Write);
        assert_eq!(w.2, 2);
        assert_eq!(enter(&h, 0..4, Access::Read).2, 1, "the writer stands for the readers before it");
        assert_eq!(enter(&h, 8..9, Access::Write).2, 0, "other bytes");
        w.0.complete(Ok(()));
        assert_eq!(enter(&h, 4..8, Access::Read).2, 0, "a writer that is done is nobody's hazard");
    }

    #[test]
    fn an_operation_does_not_wait_for_itself() {
        let h = Hazards::default();
        let (_c, event) = Completer::new();
        let mut after = Vec::new();
        h.enter(&(0..8), Access::Read, &event, &mut after);
        h.enter(&(0..8), Access::Write, &event, &mut after);
        assert!(after.is_empty());
    }

    #[test]
    fn the_default_queue_counts_until_a_write_covers_what_it_did() {
        let h = Hazards::default();
        h.used_by_default(&(2..6), Access::Read);
        assert!(!enter(&h, 0..8, Access::Read).3);
        h.used_by_default(&(2..6), Access::Write);
        assert!(enter(&h, 0..8, Access::Read).3);
        assert!(enter(&h, 0..4, Access::Write).3, "it did not cover all");
        assert!(enter(&h, 2..6, Access::Write).3);
        assert!(!enter(&h, 0..8, Access::Write).3, "the write before stands for it");
    }
}
