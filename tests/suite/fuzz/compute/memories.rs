//! Memory, by the backend's own calls.

use super::{Effect, MOST, World};
use crate::fuzz::{Checked, Log, Rng, fail, hold, hostile};
use pixelferry::{ComputeMemory, Error, Result, SyncKind};
use std::ops::Range;

impl World<'_> {
    pub(super) fn refused_allocation(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let owner = rng.below(self.engines.len());
        let bytes = hostile::bad_size(rng);
        log.op("compute: allocate too much", format_args!("{bytes} bytes on {owner}"));
        if log.end(self.engines[owner].backend.allocate(bytes)).is_some() {
            fail!("{bytes} bytes were allocated");
        }
        Ok(())
    }

    /// Drops or forgets a memory or a queue; what is under way goes on.
    pub(super) fn let_go(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        if rng.one_in(3) && self.queues.len() > 2 {
            let queue = self.queues.swap_remove(rng.below(self.queues.len()));
            log.did("compute: drop a queue", format_args!(""));
            drop(queue);
        } else if rng.one_in(6) {
            let slot = self.slots.swap_remove(rng.below(self.slots.len()));
            log.did("compute: forget a memory", format_args!("{}", slot.id));
            std::mem::forget(slot.memory);
        } else {
            let slot = self.slots.swap_remove(rng.below(self.slots.len()));
            log.did("compute: drop a memory", format_args!("{}", slot.id));
            drop(slot.memory);
        }
        Ok(())
    }

    pub(super) fn read(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        self.settle_users(rng, log);
        let at = self.slot(rng);
        let (id, len) = (self.slots[at].id, self.slots[at].memory.len());
        let range = hostile::range(rng, len);
        let Some((range, mut bytes)) = buffer(&range) else { return Ok(()) };
        log.op("compute: read", format_args!("{range:?} of {id}"));
        if log.end(self.slots[at].memory.read(range.start, &mut bytes)).is_some() {
            inside(&range, len)?;
            self.note(None, Vec::new(), Effect::saw(id, range, bytes));
        }
        Ok(())
    }

    pub(super) fn write(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        self.settle_users(rng, log);
        let at = self.slot(rng);
        let (id, len) = (self.slots[at].id, self.slots[at].memory.len());
        let range = hostile::range(rng, len);
        let Some((range, bytes)) = buffer(&range).map(|(range, bytes)| (range, rng.bytes(bytes.len()))) else {
            return Ok(());
        };
        log.op("compute: write", format_args!("{range:?} of {id}"));
        if log.end(self.slots[at].memory.write(range.start, &bytes)).is_some() {
            inside(&range, len)?;
            self.note(None, Vec::new(), Effect::set(id, range.start, bytes));
        }
        Ok(())
    }

    pub(super) fn show_or_fill(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        self.settle_users(rng, log);
        let at = self.slot(rng);
        let (id, len) = (self.slots[at].id, self.slots[at].memory.len());
        let range = hostile::range(rng, len);
        let refuse = rng.one_in(8);
        let failed = || if refuse { Err(Error::invalid("closure", "on purpose")) } else { Ok(()) };
        let memory = &mut self.slots[at].memory;
        if rng.one_in(2) {
            let mut bytes = Vec::new();
            log.op("compute: view", format_args!("{range:?} of {id}"));
            let shown = memory.map_read(range.clone(), &mut |all| {
                bytes = all.to_vec();
                failed()
            });
            hold!(shown.is_err() || !refuse, "the closure's error was lost");
            if log.end(shown).is_some() {
                inside(&range, len)?;
                self.note(None, Vec::new(), Effect::saw(id, range, bytes));
            }
        } else if !refuse {
            let mut bytes = rng.bytes(range.len().min(MOST));
            log.op("compute: fill", format_args!("{range:?} of {id}"));
            let mut given = 0;
            let filled = memory.map_write(range.clone(), &mut |all| {
                given = all.len();
                let n = all.len().min(bytes.len());
                all[..n].copy_from_slice(&bytes[..n]);
                Ok(())
            });
            if log.end(filled).is_some() {
                inside(&range, len)?;
                hold!(given == range.len(), "{given} bytes were given for {range:?}");
                bytes.truncate(range.len());
                self.note(None, Vec::new(), Effect::set(id, range.start, bytes));
            }
        }
        Ok(())
    }

    pub(super) fn copy(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        self.settle_users(rng, log);
        let (a, b) = self.two_slots(rng);
        let range = hostile::range(rng, self.slots[a].memory.len().min(self.slots[b].memory.len()));
        let backend = &self.engine(a).backend;
        let [from, to] = self.slots.get_disjoint_mut([a, b]).map_err(|e| crate::fuzz::Failure(e.to_string()))?;
        log.op("compute: copy", format_args!("{range:?} of {} to {}", from.id, to.id));
        if log.end(backend.copy(from.memory.as_ref(), to.memory.as_mut(), range.clone())).is_some() {
            hold!(from.owner == to.owner, "a copy between two backends was taken");
            inside(&range, from.memory.len().min(to.memory.len()))?;
            let effect = Effect::copy(from.id, range.clone(), to.id, range.start);
            self.note(None, Vec::new(), effect);
        }
        Ok(())
    }

    /// What only memory with two owners heeds.
    pub(super) fn turn(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        self.settle_users(rng, log);
        let at = self.slot(rng);
        let memory = &mut self.slots[at].memory;
        log.op("compute: acquire, submit, release", format_args!(""));
        let done = match rng.below(6) {
            0 => memory.acquire(),
            1 => memory.submit(),
            2 => memory.release(),
            3 => memory.release_in_queue(),
            4 => memory.set_sync(rng.pick(&[SyncKind::Implicit, SyncKind::TimelineSemaphore, SyncKind::SharedEvent])),
            _ => self.engine(at).backend.finish(),
        };
        let _ = log.end(done);
        Ok(())
    }
}

/// A range that a slice of the caller's can stand for, and the slice.
fn buffer(range: &Range<usize>) -> Option<(Range<usize>, Vec<u8>)> {
    let len = range.len().min(4 * MOST);
    Some((range.start..range.start.checked_add(len)?, vec![0; len]))
}

fn inside(range: &Range<usize>, len: usize) -> Checked {
    hold!(range.start <= range.end && range.end <= len, "{range:?} of {len} bytes was taken");
    Ok(())
}

/// Memory that says it has another number of bytes.
pub(super) struct Liar {
    pub inner: Box<dyn ComputeMemory>,
    pub len: usize,
}

impl ComputeMemory for Liar {
    fn len(&self) -> usize {
        self.len
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        self.inner.read(offset, into)
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        self.inner.write(offset, from)
    }

    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.inner.map_read(range, f)
    }

    fn map_write(&mut self, range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.inner.map_write(range, f)
    }

    fn release(&mut self) -> Result<()> {
        self.inner.release()
    }
}
