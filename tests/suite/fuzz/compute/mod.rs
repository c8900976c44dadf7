//! Backends: memory, kernels, queues, events. Every byte of every memory is known, whatever the order of operations.

mod by;
mod events;
mod launches;
mod memories;
mod queues;
mod threads;

use crate::fuzz::kernels::Engine;
use crate::fuzz::model::{Effect, Work};
use crate::fuzz::{Choices, Machine, Things, Turn, TurnResult, WeightedOperation, hold, hostile, operations};
use pixelferry::{ComputeMemory, ComputeQueue, Event, Priority, QueueOptions, UserEvent};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Largest memory, bytes.
const MOST: usize = 16 << 10;

/// A memory, the backend that it belongs to, and where its bytes are in the model.
struct Slot {
    memory: Box<dyn ComputeMemory>,
    owner: usize,
    id: u32,
}

struct Queue {
    queue: Arc<dyn ComputeQueue>,
    owner: usize,
}

/// Some backends in use.
pub struct World<'a> {
    engines: &'a [Engine],
    slots: Vec<Slot>,
    queues: Vec<Queue>,
    work: Work<Event, UserEvent>,
    to_tell: usize,
}

impl<'a> Machine<'a> for World<'a> {
    fn operations() -> Vec<WeightedOperation<Self>> {
        operations! {
            1 => Self::refused_allocation,
            1 => |w, t| w.unblocked(t).let_go(t),
            4 => |w, t| w.unblocked(t).read(t),
            3 => |w, t| w.unblocked(t).write(t, false),
            2 => |w, t| w.unblocked(t).show_or_fill(t),
            2 => |w, t| w.unblocked(t).copy(t, false),
            4 => |w, t| w.unblocked(t).launch(t, false),
            1 => |w, t| w.unblocked(t).misfit(t, false),
            1 => |w, t| w.unblocked(t).fail(t),
            1 => |w, t| w.unblocked(t).pattern(t),
            1 => |w, t| w.unblocked(t).lie(t),
            1 => |w, t| w.unblocked(t).turn(t),
            3 => |w, t| w.launch(t, true),
            2 => Self::queue_read,
            3 => |w, t| w.write(t, true),
            2 => |w, t| w.copy(t, true),
            1 => Self::queue_fill,
            1 => |w, t| w.misfit(t, true),
            1 => Self::mark,
            1 => Self::user_event,
            1 => Self::ask,
            1 => Self::listen,
            1 => |w, t| w.unblocked(t).beside(t),
            1 => Self::drain,
        }
    }

    fn new(things: &'a Things, _: &mut Turn) -> TurnResult<Option<Self>> {
        Ok(Some(Self {
            engines: &things.engines,
            slots: Vec::new(),
            queues: Vec::new(),
            work: Work::default(),
            to_tell: 0,
        }))
    }

    fn supply(&mut self, t: &mut Turn) -> TurnResult<bool> {
        match (self.slots.len(), self.queues.len()) {
            (slots, _) if slots < 3 || (slots < 12 && t.one_in(20)) => self.allocate(t)?,
            (_, queues) if queues < 2 || (queues < 5 && t.one_in(60)) => self.open_queue(t)?,
            _ if self.work.pending.len() > 40 => self.drain(t)?,
            _ => return Ok(true),
        }
        Ok(false)
    }

    fn end(mut self, t: &mut Turn) -> TurnResult {
        self.drain(t)?;
        for queue in &self.queues {
            queue.queue.finish()?;
        }
        let (told, wanted) = (self.work.told.load(Ordering::SeqCst), self.to_tell);
        hold!(told == wanted, "{wanted} callbacks of events were registered, {told} were called");
        Ok(())
    }
}

impl<'a> World<'a> {
    fn slot(&self, t: &mut Choices) -> usize {
        t.below(self.slots.len())
    }

    /// Two different slots.
    fn two_slots(&self, t: &mut Choices) -> (usize, usize) {
        let a = self.slot(t);
        (a, (a + 1 + t.below(self.slots.len() - 1)) % self.slots.len())
    }

    /// Another slot of the same backend, if there is one.
    fn partner(&self, t: &mut Choices, of: usize) -> Option<usize> {
        let fits = |i: &usize| *i != of && self.slots[*i].owner == self.slots[of].owner;
        t.any(&(0..self.slots.len()).filter(fits).collect::<Vec<_>>())
    }

    fn engine(&self, of: usize) -> &'a Engine {
        &self.engines[self.slots[of].owner]
    }

    fn allocate(&mut self, t: &mut Turn) -> TurnResult {
        let owner = t.below(self.engines.len());
        let bytes = hostile::size(t, MOST);
        t.op("compute: allocate", format_args!("{bytes} bytes on {owner}"));
        let mut memory = t.end_with(self.engines[owner].backend.allocate(bytes))?;
        hold!(memory.len() == bytes, "{bytes} bytes were asked for, {} came", memory.len());
        let content = t.bytes(bytes);
        memory.write(0, &content)?;
        self.slots.push(Slot { memory, owner, id: self.work.add(content) });
        Ok(())
    }

    fn open_queue(&mut self, t: &mut Turn) -> TurnResult {
        let owner = t.below(self.engines.len());
        let mut options = if t.one_in(2) { QueueOptions::in_order() } else { QueueOptions::out_of_order() };
        if t.one_in(2) {
            options = options.with_profiling();
        }
        options = options.with_priority(t.pick(&[Priority::Low, Priority::Normal, Priority::High]));
        t.op("compute: queue", format_args!("{options:?} on {owner}"));
        let queue = t.end(self.engines[owner].backend.queue(options))?;
        self.queues.push(Queue { queue: Arc::from(queue), owner });
        Ok(())
    }

    fn drain(&mut self, t: &mut Turn) -> TurnResult {
        self.settle_users(t);
        t.did("compute: wait for all", format_args!("{} operations", self.work.pending.len()));
        self.work.drain(false, self.slots.iter().map(|slot| slot.id))
    }

    /// Ready for the calls of a backend, which block: they would wait forever for what the program has not completed.
    fn unblocked(&mut self, t: &mut Turn) -> &mut Self {
        self.settle_users(t);
        self
    }

    /// Completes or fails every event of the program's own.
    fn settle_users(&mut self, t: &mut Turn) {
        for user in std::mem::take(&mut self.work.users) {
            match 3 - t.below(4) {
                0 => {
                    t.did("compute: fail an event", format_args!(""));
                    user.fail("on purpose");
                }
                1 => {
                    t.did("compute: drop an event of the program's", format_args!(""));
                    drop(user);
                }
                _ => {
                    t.did("compute: complete an event", format_args!(""));
                    user.complete();
                }
            }
        }
    }
}
