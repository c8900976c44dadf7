//! Operations that only queues have.

use super::by::By;
use super::{Effect, World};
use crate::fuzz::{Checked, Log, Rng, hold, hostile};

impl World<'_> {
    pub(super) fn queue_read(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let at = self.slot(rng);
        let by = self.by(rng, at, true);
        let By::Queue { queue, wait, .. } = &by else { return Ok(()) };
        let (from, len) = (self.slots[at].id, self.slots[at].memory.len());
        let range = hostile::range(rng, len);
        log.op("queue: read", format_args!("{range:?} of {from}"));
        let read = queue.read(self.slots[at].memory.as_ref(), range.clone(), wait);
        let Some(bytes) = log.end(read) else { return Ok(()) };
        hold!(range.end <= len && range.start < range.end, "{range:?} of {len} bytes was taken");
        let event = Some(bytes.event().clone());
        let what = rng.below(8);
        if what < 2 {
            log.gone(["queue: drop a read", "queue: forget a read"], bytes, what == 1);
            return self.taken(by, event, Effect::nothing());
        }
        self.taken(by, event, Effect::read(from, range.map(Some), || Ok(bytes.wait()?.into_vec())))
    }

    pub(super) fn queue_fill(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let at = self.slot(rng);
        let by = self.by(rng, at, true);
        let By::Queue { queue, wait, .. } = &by else { return Ok(()) };
        let (to, len) = (self.slots[at].id, self.slots[at].memory.len());
        let size = if rng.one_in(6) { rng.below(40) } else { 1 << rng.below(5) };
        let (range, pattern) = (hostile::range_of(rng, len, size.max(1)), rng.bytes(size));
        log.op("queue: fill", format_args!("{range:?} of {to} with {size} bytes"));
        let filled = queue.fill(self.slots[at].memory.as_mut(), range.clone(), &pattern, wait);
        if let Some(event) = log.end(filled) {
            let fits = range.start < range.end && range.end <= len && !pattern.is_empty();
            hold!(fits, "{range:?} of {len} bytes was taken");
            let bytes = pattern.into_iter().cycle().take(range.len()).collect();
            self.taken(by, Some(event), Effect::set(to, range.start, bytes))?;
        }
        Ok(())
    }

    pub(super) fn mark(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let at = self.slot(rng);
        let By::Queue { queue, wait, .. } = self.by(rng, at, true) else { return Ok(()) };
        let what = rng.below(3);
        log.op("queue: marker, barrier, flush", format_args!("{what}"));
        let marked = match what {
            0 => queue.marker(&wait).map(Some),
            1 => queue.barrier(&wait).map(Some),
            _ => queue.flush().map(|()| None),
        };
        if let Some(event @ Some(_)) = log.end(marked) {
            self.taken(By::Queue { queue, own: true, wait }, event, Effect::nothing())?;
        }
        Ok(())
    }
}
