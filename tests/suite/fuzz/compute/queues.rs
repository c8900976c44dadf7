//! Queues beside the backend's own.

use super::launches::Fit;
use super::{Effect, MOST, World};
use crate::fuzz::{Checked, Log, Rng, hold, hostile};
use pixelferry::{Arg, ComputeQueue, Event, Target};

impl World<'_> {
    /// Mostly a queue of the backend that the slot belongs to.
    fn queue_for(&self, rng: &mut Rng, at: usize) -> (usize, bool) {
        let owner = self.slots[at].owner;
        let fitting: Vec<_> = (0..self.queues.len()).filter(|i| self.queues[*i].owner == owner).collect();
        match (fitting.is_empty(), rng.one_in(12)) {
            (false, false) => (rng.pick(&fitting), true),
            _ => {
                let queue = rng.below(self.queues.len());
                (queue, self.queues[queue].owner == owner)
            }
        }
    }

    /// Events of any queue, any backend and the program itself.
    fn wait_list(&self, rng: &mut Rng) -> Vec<Event> {
        let count = if rng.one_in(2) { 0 } else { rng.below(4) };
        let some = |rng: &mut Rng| match rng.one_in(3) {
            true if !self.users.is_empty() => Some(self.users[rng.below(self.users.len())].event()),
            _ if !self.events.is_empty() => Some(self.events[rng.below(self.events.len())].clone()),
            _ => None,
        };
        (0..count).filter_map(|_| some(rng)).collect()
    }

    fn queued(&mut self, event: &Event, wait: Vec<Event>, effect: Effect) {
        if self.events.len() > 30 {
            self.events.remove(0);
        }
        self.events.push(event.clone());
        self.note(Some(event.clone()), wait, effect);
    }

    pub(super) fn queue_launch(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let at = self.slot(rng);
        let (queue, own) = self.queue_for(rng, at);
        let fit = self.fit(rng, at);
        let wait = self.wait_list(rng);
        let mut memory = self.take(at);
        log.op("queue: launch", format_args!("{:?} of {}", fit.view(), self.slots[at].id));
        let launched = Target::new(memory.as_mut(), fit.view()).and_then(|target| {
            let (kernel, queue) = (self.kernel(at, &fit), &self.queues[queue].queue);
            match &fit {
                Fit::Stamp(_, seed) | Fit::Image(_, seed) => queue.launch(kernel, target, &[Arg::U32(*seed)], &wait),
                Fit::Mix(_, other) => {
                    let from = self.slots[*other].memory.as_ref();
                    queue.launch(kernel, target, &[Arg::Memory(from), Arg::U32(from.len() as u32)], &wait)
                }
            }
        });
        let launched = log.end(launched);
        self.slots[at].memory = memory;
        if let Some(event) = launched {
            hold!(own, "a queue took the kernel and memory of another backend");
            let from = if let Fit::Mix(_, other) = fit { self.slots[other].id } else { 0 };
            self.queued(&event, wait, fit.effect(self.slots[at].id, from));
            self.redefine(rng, at, queue, &fit)?;
        }
        Ok(())
    }

    fn redefine(&mut self, rng: &mut Rng, at: usize, queue: usize, fit: &Fit) -> Checked {
        if let pixelferry::View::Image(view) = fit.view()
            && view.extent.height > 1
            && view.pitch() < view.row_len()
        {
            let slot = &mut self.slots[at];
            let bytes = rng.bytes(slot.memory.len());
            let event = self.queues[queue].queue.write(slot.memory.as_mut(), 0, bytes.clone().into(), &[])?;
            let to = slot.id;
            self.queued(&event, Vec::new(), Effect::set(to, 0, bytes));
        }
        Ok(())
    }

    pub(super) fn queue_read(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let at = self.slot(rng);
        let (queue, own) = self.queue_for(rng, at);
        let (from, len) = (self.slots[at].id, self.slots[at].memory.len());
        let (range, wait) = (hostile::range(rng, len), self.wait_list(rng));
        log.op("queue: read", format_args!("{range:?} of {from}"));
        let read = self.queues[queue].queue.read(self.slots[at].memory.as_ref(), range.clone(), &wait);
        let Some(bytes) = log.end(read) else { return Ok(()) };
        hold!(own && range.end <= len && range.start < range.end, "{range:?} of {len} bytes was taken");
        let event = bytes.event().clone();
        match rng.below(8) {
            0 => {
                log.did("queue: drop a read", format_args!(""));
                drop(bytes);
                self.queued(&event, wait, Effect::nothing());
            }
            1 => {
                log.did("queue: forget a read", format_args!(""));
                std::mem::forget(bytes);
                self.queued(&event, wait, Effect::nothing());
            }
            _ => self.queued(&event, wait, Effect::read(from, range.map(Some), || Ok(bytes.wait()?.into_vec()))),
        }
        Ok(())
    }

    pub(super) fn queue_write(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let at = self.slot(rng);
        let (queue, own) = self.queue_for(rng, at);
        let (to, len) = (self.slots[at].id, self.slots[at].memory.len());
        let (range, wait) = (hostile::range(rng, len), self.wait_list(rng));
        let count = if rng.one_in(20) { 0 } else { range.len().min(2 * MOST) };
        let bytes = rng.bytes(count);
        let host = if rng.one_in(2) {
            log.op("queue: host buffer", format_args!("{count} bytes"));
            let Some(mut host) = log.end(self.queues[queue].queue.host_buffer(count)) else { return Ok(()) };
            host.copy_from_slice(&bytes);
            if rng.one_in(10) {
                drop(host.into_vec());
                return Ok(());
            }
            host
        } else {
            bytes.clone().into()
        };
        log.op("queue: write", format_args!("{count} bytes at {} of {to}", range.start));
        let written = self.queues[queue].queue.write(self.slots[at].memory.as_mut(), range.start, host, &wait);
        if let Some(event) = log.end(written) {
            hold!(own, "a queue took memory of another backend");
            let fits = range.start.checked_add(count).is_some_and(|end| end <= len) && count > 0;
            hold!(fits, "{count} bytes at {} of {len} were taken", range.start);
            self.queued(&event, wait, Effect::set(to, range.start, bytes));
        }
        Ok(())
    }

    pub(super) fn queue_copy(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let (a, b) = self.two_slots(rng);
        let (queue, own) = self.queue_for(rng, a);
        let wait = self.wait_list(rng);
        let [from, to] = self.slots.get_disjoint_mut([a, b]).map_err(|e| crate::fuzz::Failure(e.to_string()))?;
        let range = hostile::range(rng, from.memory.len());
        let offset = match rng.one_in(6) {
            true => hostile::near(rng, to.memory.len()),
            false => rng.below(to.memory.len().saturating_sub(range.len()) + 1),
        };
        log.op("queue: copy", format_args!("{range:?} of {} to {offset} of {}", from.id, to.id));
        let queue = &self.queues[queue].queue;
        let copied = queue.copy(from.memory.as_ref(), range.clone(), to.memory.as_mut(), offset, &wait);
        if let Some(event) = log.end(copied) {
            hold!(own && from.owner == to.owner, "a queue took memory of another backend");
            let fits = offset.checked_add(range.len()).is_some_and(|end| end <= to.memory.len());
            hold!(fits && range.end <= from.memory.len(), "{range:?} to {offset} was taken");
            let effect = Effect::copy(from.id, range, to.id, offset);
            self.queued(&event, wait, effect);
        }
        Ok(())
    }

    pub(super) fn queue_fill(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let at = self.slot(rng);
        let (queue, own) = self.queue_for(rng, at);
        let (to, len) = (self.slots[at].id, self.slots[at].memory.len());
        let size = if rng.one_in(6) { rng.below(40) } else { 1 << rng.below(5) };
        let (range, pattern) = (hostile::range_of(rng, len, size.max(1)), rng.bytes(size));
        let wait = self.wait_list(rng);
        log.op("queue: fill", format_args!("{range:?} of {to} with {size} bytes"));
        let filled = self.queues[queue].queue.fill(self.slots[at].memory.as_mut(), range.clone(), &pattern, &wait);
        if let Some(event) = log.end(filled) {
            let fits = range.start < range.end && range.end <= len && !pattern.is_empty();
            hold!(own && fits, "{range:?} of {len} bytes was taken");
            let bytes = pattern.into_iter().cycle().take(range.len()).collect();
            self.queued(&event, wait, Effect::set(to, range.start, bytes));
        }
        Ok(())
    }

    /// Wrong arguments, and kernels that fail.
    pub(super) fn queue_misfit(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let at = self.slot(rng);
        let (queue, _) = self.queue_for(rng, at);
        let engine = self.engine(at);
        let wait = self.wait_list(rng);
        let slot = &mut self.slots[at];
        let (target, queue) = (Target::buffer(slot.memory.as_mut()), self.queues[queue].queue.as_ref());
        match engine.kernels.failing.first() {
            Some(kernel) if rng.one_in(2) => {
                log.op("queue: launch a kernel that fails", format_args!(""));
                let launched = queue.launch(kernel.as_ref(), target, &[Arg::U32(rng.below(8) as u32)], &wait);
                if let Some(event) = log.end(launched) {
                    self.queued(&event, wait, Effect::Fails);
                }
            }
            _ => {
                log.op("queue: launch with wrong arguments", format_args!(""));
                let args = [Arg::F64(0.0), Arg::I32(1), Arg::U64(9)];
                let launched = queue.launch(engine.kernels.stamp.as_ref(), target, &args[..rng.below(4)], &wait);
                if let Some(event) = log.end(launched) {
                    // Closures find out when they run.
                    self.queued(&event, wait, Effect::Fails);
                }
            }
        }
        Ok(())
    }

    pub(super) fn mark(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let wait = self.wait_list(rng);
        let queue: &dyn ComputeQueue = self.queues[rng.below(self.queues.len())].queue.as_ref();
        let what = rng.below(3);
        log.op("queue: marker, barrier, flush", format_args!("{what}"));
        let marked = match what {
            0 => queue.marker(&wait).map(Some),
            1 => queue.barrier(&wait).map(Some),
            _ => queue.flush().map(|()| None),
        };
        if let Some(Some(event)) = log.end(marked) {
            self.queued(&event, wait, Effect::nothing());
        }
        Ok(())
    }
}
