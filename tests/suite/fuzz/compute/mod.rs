//! Backends: memory, kernels, queues, events. Every byte of every memory is known, whatever the order of operations.

mod by;
mod events;
mod launches;
mod memories;
mod queues;
mod threads;

use crate::fuzz::kernels::Engine;
use crate::fuzz::model::{self, Effect, Entry, Models};
use crate::fuzz::{Checked, Log, Rng, hold, hostile};
use pixelferry::{ComputeMemory, ComputeQueue, Event, Priority, QueueOptions, UserEvent};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Largest memory, bytes.
const MOST: usize = 16 << 10;

/// A memory, the backend that it belongs to, and where its bytes are in the model.
struct Slot {
    memory: Box<dyn ComputeMemory>,
    owner: usize,
    id: u32,
}

struct Queue {
    queue: Rc<dyn ComputeQueue>,
    owner: usize,
}

/// Some backends in use.
pub struct World<'a> {
    engines: &'a [Engine],
    slots: Vec<Slot>,
    queues: Vec<Queue>,
    users: Vec<UserEvent>,
    events: Vec<Event>,
    /// Content of the memories once all of `pending` is over.
    models: Models,
    pending: Vec<Entry<Event>>,
    next: u32,
    told: Arc<AtomicUsize>,
    to_tell: usize,
}

impl super::World for World<'_> {
    fn step(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        if self.slots.len() < 3 || (self.slots.len() < 12 && rng.one_in(20)) {
            return self.allocate(rng, log);
        }
        if self.queues.len() < 2 || (self.queues.len() < 5 && rng.one_in(60)) {
            return self.open_queue(rng, log);
        }
        if self.pending.len() > 40 {
            return self.drain(log);
        }
        let number = rng.below(40);
        // The calls of a backend block: they would wait forever for what the program has not completed.
        if number < 22 || number == 38 {
            self.settle_users(rng, log);
        }
        match number {
            0 => self.refused_allocation(rng, log),
            1 => self.let_go(rng, log),
            2..6 => self.read(rng, log),
            6..9 => self.write(rng, log, false),
            9 | 10 => self.show_or_fill(rng, log),
            11 | 12 => self.copy(rng, log, false),
            13..17 => self.launch(rng, log, false),
            17 => self.misfit(rng, log, false),
            18 => self.fail(rng, log),
            19 => self.pattern(rng, log),
            20 => self.lie(rng, log),
            21 => self.turn(rng, log),
            22..25 => self.launch(rng, log, true),
            25..27 => self.queue_read(rng, log),
            27..30 => self.write(rng, log, true),
            30 | 31 => self.copy(rng, log, true),
            32 => self.queue_fill(rng, log),
            33 => self.misfit(rng, log, true),
            34 => self.mark(rng, log),
            35 => self.user_event(rng, log),
            36 => self.ask(rng, log),
            37 => self.listen(rng, log),
            38 => self.beside(rng, log),
            _ => self.drain(log),
        }
    }

    fn end(mut self: Box<Self>, log: &mut Log) -> Checked {
        self.settle_users(&mut Rng::of(0), log);
        self.drain(log)?;
        for queue in &self.queues {
            queue.queue.finish()?;
        }
        let (told, wanted) = (self.told.load(Ordering::SeqCst), self.to_tell);
        hold!(told == wanted, "{wanted} callbacks of events were registered, {told} were called");
        Ok(())
    }
}

impl<'a> World<'a> {
    /// With no memory and no queue yet.
    pub fn new(engines: &'a [Engine]) -> Self {
        Self {
            engines,
            slots: Vec::new(),
            queues: Vec::new(),
            users: Vec::new(),
            events: Vec::new(),
            models: Models::default(),
            pending: Vec::new(),
            next: 0,
            told: Arc::default(),
            to_tell: 0,
        }
    }

    fn slot(&self, rng: &mut Rng) -> usize {
        rng.below(self.slots.len())
    }

    /// Two different slots.
    fn two_slots(&self, rng: &mut Rng) -> (usize, usize) {
        let a = self.slot(rng);
        (a, (a + 1 + rng.below(self.slots.len() - 1)) % self.slots.len())
    }

    /// Another slot of the same backend, if there is one.
    fn partner(&self, rng: &mut Rng, of: usize) -> Option<usize> {
        let fits = |i: &usize| *i != of && self.slots[*i].owner == self.slots[of].owner;
        rng.any(&(0..self.slots.len()).filter(fits).collect::<Vec<_>>())
    }

    fn engine(&self, of: usize) -> &'a Engine {
        &self.engines[self.slots[of].owner]
    }

    fn allocate(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let owner = rng.below(self.engines.len());
        let bytes = hostile::size(rng, MOST);
        log.op("compute: allocate", format_args!("{bytes} bytes on {owner}"));
        let mut memory = log.end_with(self.engines[owner].backend.allocate(bytes))?;
        hold!(memory.len() == bytes, "{bytes} bytes were asked for, {} came", memory.len());
        let content = rng.bytes(bytes);
        memory.write(0, &content)?;
        self.next += 1;
        self.models.insert(self.next, content);
        self.slots.push(Slot { memory, owner, id: self.next });
        Ok(())
    }

    fn open_queue(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let owner = rng.below(self.engines.len());
        let mut options = if rng.one_in(2) { QueueOptions::in_order() } else { QueueOptions::out_of_order() };
        if rng.one_in(2) {
            options = options.with_profiling();
        }
        options = options.with_priority(rng.pick(&[Priority::Low, Priority::Normal, Priority::High]));
        log.op("compute: queue", format_args!("{options:?} on {owner}"));
        if let Some(queue) = log.end(self.engines[owner].backend.queue(options)) {
            self.queues.push(Queue { queue: Rc::from(queue), owner });
        }
        Ok(())
    }

    fn drain(&mut self, log: &mut Log) -> Checked {
        self.settle_users(&mut Rng::of(self.next.into()), log);
        log.did("compute: wait for all", format_args!("{} operations", self.pending.len()));
        model::drain(&mut self.pending, &mut self.models, false)?;
        self.models.keep(self.slots.iter().map(|slot| slot.id));
        Ok(())
    }

    /// Completes or fails every event of the program's own.
    fn settle_users(&mut self, rng: &mut Rng, log: &mut Log) {
        for user in std::mem::take(&mut self.users) {
            match rng.below(4) {
                0 => {
                    log.did("compute: fail an event", format_args!(""));
                    user.fail("on purpose");
                }
                1 => {
                    log.did("compute: drop an event of the program's", format_args!(""));
                    drop(user);
                }
                _ => {
                    log.did("compute: complete an event", format_args!(""));
                    user.complete();
                }
            }
        }
    }
}
