//! Memory, by the backend's own calls, and writes and copies by queues, too.

use super::by::By;
use super::{Effect, MOST, World};
use crate::fuzz::{Turn, TurnResult, hold, hostile};
use pixelferry::driver::MemoryDriver;
use pixelferry::{ComputeMemory, Error, Result, SyncKind};
use std::ops::Range;

impl World<'_> {
    pub(super) fn refused_allocation(&mut self, t: &mut Turn) -> TurnResult {
        let owner = t.below(self.engines.len());
        let bytes = hostile::bad_size(t);
        t.op("compute: allocate too much", format_args!("{bytes} bytes on {owner}"));
        let made = t.end(self.engines[owner].backend.allocate(bytes));
        hold!(made.is_err(), "{bytes} bytes were allocated");
        Ok(())
    }

    /// Drops or forgets a memory or a queue; what is under way goes on.
    pub(super) fn let_go(&mut self, t: &mut Turn) -> TurnResult {
        if t.one_in(3) && self.queues.len() > 2 {
            let queue = t.take(&mut self.queues);
            t.did("compute: drop a queue", format_args!(""));
            drop(queue);
        } else {
            let (memory, forget) = (t.take(&mut self.slots).memory, t.one_in(6));
            t.gone(["compute: drop a memory", "compute: forget a memory"], memory, forget);
        }
        Ok(())
    }

    pub(super) fn read(&mut self, t: &mut Turn) -> TurnResult {
        let at = self.slot(t);
        let (id, len) = (self.slots[at].id, self.slots[at].memory.len());
        let range = hostile::range(t, len);
        let mut bytes = vec![0; range.len().min(4 * MOST)];
        t.op("compute: read", format_args!("{} bytes at {} of {id}", bytes.len(), range.start));
        t.end(self.slots[at].memory.read(range.start, &mut bytes))?;
        let range = range.start..range.start.saturating_add(bytes.len());
        inside(&range, len)?;
        self.work.done(Effect::saw(id, range, bytes));
        Ok(())
    }

    pub(super) fn write(&mut self, t: &mut Turn, queued: bool) -> TurnResult {
        let at = self.slot(t);
        let by = self.by(t, at, queued);
        let (to, len) = (self.slots[at].id, self.slots[at].memory.len());
        let range = hostile::range(t, len);
        let count = if t.one_in(20) { 0 } else { range.len().min(4 * MOST) };
        let bytes = t.bytes(count);
        let host = match &by {
            By::Queue { queue, .. } if t.one_in(2) => {
                t.op("queue: host buffer", format_args!("{count} bytes"));
                let mut host = t.end(queue.host_buffer(count))?;
                host.copy_from_slice(&bytes);
                if t.one_in(10) {
                    drop(host);
                    return Ok(());
                }
                host
            }
            _ => bytes.clone().into(),
        };
        t.op(by.name("compute: write", "queue: write"), format_args!("{count} bytes at {} of {to}", range.start));
        let event = t.end(by.write(self.slots[at].memory.as_mut(), range.start, host))?;
        inside(&(range.start..range.start.saturating_add(count)), len)?;
        hold!(count > 0 || !queued, "no bytes were taken");
        self.taken(by, event, Effect::set(to, range.start, bytes))?;
        Ok(())
    }

    pub(super) fn show_or_fill(&mut self, t: &mut Turn) -> TurnResult {
        let at = self.slot(t);
        let (id, len) = (self.slots[at].id, self.slots[at].memory.len());
        let range = hostile::range(t, len);
        let refuse = t.one_in(8);
        let failed = || if refuse { Err(Error::invalid("closure", "on purpose")) } else { Ok(()) };
        let memory = &mut self.slots[at].memory;
        if t.one_in(2) {
            let mut bytes = Vec::new();
            t.op("compute: view", format_args!("{range:?} of {id}"));
            let shown = memory.map_read(range.clone(), &mut |all| {
                bytes = all.to_vec();
                failed()
            });
            hold!(shown.is_err() || !refuse, "the closure's error was lost");
            if t.end(shown).is_ok() {
                inside(&range, len)?;
                self.work.done(Effect::saw(id, range, bytes));
            }
        } else if !refuse {
            let mut bytes = t.bytes(range.len().min(MOST));
            t.op("compute: fill", format_args!("{range:?} of {id}"));
            let mut given = 0;
            let filled = memory.map_write(range.clone(), &mut |all| {
                given = all.len();
                let n = all.len().min(bytes.len());
                all[..n].copy_from_slice(&bytes[..n]);
                Ok(())
            });
            if t.end(filled).is_ok() {
                inside(&range, len)?;
                hold!(given == range.len(), "{given} bytes were given for {range:?}");
                bytes.truncate(range.len());
                self.work.done(Effect::set(id, range.start, bytes));
            }
        }
        Ok(())
    }

    /// A backend copies to the same place, a queue to any.
    pub(super) fn copy(&mut self, t: &mut Turn, queued: bool) -> TurnResult {
        let (a, b) = self.two_slots(t);
        let by = self.by(t, a, queued);
        let [from, to] = self.slots.get_disjoint_mut([a, b]).unwrap();
        let range = hostile::range(t, from.memory.len());
        let offset = match t.below(6) {
            _ if !queued => range.start,
            0 => hostile::near(t, to.memory.len()),
            _ => t.below(to.memory.len().saturating_sub(range.len()) + 1),
        };
        t.op(
            by.name("compute: copy", "queue: copy"),
            format_args!("{range:?} of {} to {offset} of {}", from.id, to.id),
        );
        let event = t.end(by.copy(from.memory.as_ref(), range.clone(), to.memory.as_mut(), offset))?;
        hold!(from.owner == to.owner || range.is_empty(), "a copy between two backends was taken");
        inside(&range, from.memory.len())?;
        inside(&(offset..offset.saturating_add(range.len())), to.memory.len())?;
        let effect = Effect::copy(from.id, range, to.id, offset);
        self.taken(by, event, effect)?;
        Ok(())
    }

    /// Returns what only memory with two owners heeds.
    pub(super) fn turn(&mut self, t: &mut Turn) -> TurnResult {
        let at = self.slot(t);
        let memory = &mut self.slots[at].memory;
        t.op("compute: acquire, submit, release", format_args!(""));
        let done = match t.below(6) {
            0 => memory.acquire(),
            1 => memory.submit(),
            2 => memory.release(),
            3 => memory.release_in_queue(),
            4 => memory.set_sync(t.pick(&[SyncKind::Implicit, SyncKind::TimelineSemaphore, SyncKind::SharedEvent])),
            _ => self.engine(at).backend.finish(),
        };
        let _ = t.end(done);
        Ok(())
    }
}

fn inside(range: &Range<usize>, len: usize) -> TurnResult {
    hold!(range.start <= range.end && range.end <= len, "{range:?} of {len} bytes was taken");
    Ok(())
}

/// Memory that says it has another number of bytes.
pub(super) struct Liar {
    pub inner: Box<dyn ComputeMemory>,
    pub len: usize,
}

impl MemoryDriver for Liar {
    pixelferry_tests::forward! {
        &mut read(offset: usize, into: &mut [u8]) -> Result<()>;
        &mut write(offset: usize, from: &[u8]) -> Result<()>;
        &mut map_read(range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;
        &mut map_write(range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()>;
        &mut release() -> Result<()>;
    }

    fn len(&self) -> usize {
        self.len
    }
}
