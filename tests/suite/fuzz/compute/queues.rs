//! Operations that only queues have.

use super::by::By;
use super::{Effect, World};
use crate::fuzz::{Turn, TurnResult, hold, hostile};

impl World<'_> {
    pub(super) fn queue_read(&mut self, t: &mut Turn) -> TurnResult {
        let at = self.slot(t);
        let by = self.by(t, at, true);
        let By::Queue { queue, wait, .. } = &by else { return Ok(()) };
        let (from, len) = (self.slots[at].id, self.slots[at].memory.len());
        let range = hostile::range(t, len);
        t.op("queue: read", format_args!("{range:?} of {from}"));
        let read = queue.read(self.slots[at].memory.as_ref(), range.clone(), wait);
        let bytes = t.end(read)?;
        hold!(range.end <= len && range.start < range.end, "{range:?} of {len} bytes was taken");
        let event = Some(bytes.event().clone());
        let what = t.below(8);
        if what < 2 {
            t.gone(["queue: drop a read", "queue: forget a read"], bytes, what == 1);
            return self.taken(by, event, Effect::nothing());
        }
        self.taken(by, event, Effect::read(from, range.map(Some), || Ok(bytes.wait()?.to_vec())))
    }

    pub(super) fn queue_fill(&mut self, t: &mut Turn) -> TurnResult {
        let at = self.slot(t);
        let by = self.by(t, at, true);
        let By::Queue { queue, wait, .. } = &by else { return Ok(()) };
        let (to, len) = (self.slots[at].id, self.slots[at].memory.len());
        let size = if t.one_in(6) { t.below(40) } else { 1 << t.below(5) };
        let (range, pattern) = (hostile::range_of(t, len, size.max(1)), t.bytes(size));
        t.op("queue: fill", format_args!("{range:?} of {to} with {size} bytes"));
        let filled = queue.fill(self.slots[at].memory.as_mut(), range.clone(), &pattern, wait);
        let event = t.end(filled)?;
        let fits = range.start < range.end && range.end <= len && !pattern.is_empty();
        hold!(fits, "{range:?} of {len} bytes was taken");
        let bytes = pattern.into_iter().cycle().take(range.len()).collect();
        self.taken(by, Some(event), Effect::set(to, range.start, bytes))?;
        Ok(())
    }

    pub(super) fn mark(&mut self, t: &mut Turn) -> TurnResult {
        let at = self.slot(t);
        let By::Queue { queue, wait, .. } = self.by(t, at, true) else { return Ok(()) };
        let what = t.below(3);
        t.op("queue: marker, barrier, flush", format_args!("{what}"));
        let marked = match what {
            0 => queue.marker(&wait).map(Some),
            1 => queue.barrier(&wait).map(Some),
            _ => queue.flush().map(|()| None),
        };
        if let event @ Some(_) = t.end(marked)? {
            self.taken(By::Queue { queue, own: true, wait }, event, Effect::nothing())?;
        }
        Ok(())
    }
}
