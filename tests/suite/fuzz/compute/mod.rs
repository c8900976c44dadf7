//! Backends: memory, kernels, queues, events. Every byte of every memory is known, whatever the order of operations.

mod events;
mod launches;
mod memories;
mod nothing;
mod queues;
mod threads;

use crate::fuzz::model::{self, Effect, Entry, Models};
use crate::fuzz::{Checked, Log, Rng, drivers::Drivers, hold, hostile, kernels};
use pixelferry::{ComputeBackend, ComputeMemory, ComputeQueue, Event, Kernel, PixelFormat, QueueOptions, UserEvent};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Largest memory, bytes.
const MOST: usize = 16 << 10;

/// Kernels of one backend.
struct Kernels {
    stamp: Arc<dyn Kernel>,
    mix: Arc<dyn Kernel>,
    images: Vec<Arc<dyn Kernel>>,
    /// Of threads only.
    failing: Vec<Arc<dyn Kernel>>,
}

impl Kernels {
    fn new(backend: &dyn ComputeBackend) -> Checked<Self> {
        let images = PixelFormat::ALL.iter().map(|format| backend.build(&kernels::image(*format)));
        let failing = [kernels::failing(), kernels::failing_late()];
        Ok(Self {
            stamp: backend.build(&kernels::stamp())?,
            mix: backend.build(&kernels::mix())?,
            images: images.collect::<pixelferry::Result<_>>()?,
            failing: failing.iter().filter_map(|source| backend.build(source).ok()).collect(),
        })
    }
}

struct Engine {
    backend: Arc<dyn ComputeBackend>,
    kernels: Kernels,
}

/// What outlives rounds: kernels are built once.
pub struct Engines(Vec<Engine>);

impl Engines {
    /// Builds the kernels of every backend.
    pub fn new(drivers: &Drivers) -> Checked<Self> {
        let engine =
            |backend: Arc<dyn ComputeBackend>| Ok(Engine { kernels: Kernels::new(backend.as_ref())?, backend });
        Ok(Self(drivers.backends().into_iter().map(engine).collect::<Checked<_>>()?))
    }
}

/// A memory, the backend that it belongs to, and where its bytes are in the model.
struct Slot {
    memory: Box<dyn ComputeMemory>,
    owner: usize,
    id: u32,
}

struct Queue {
    queue: Box<dyn ComputeQueue>,
    owner: usize,
}

/// Some backends in use.
pub struct World<'a> {
    engines: &'a [Engine],
    slots: Vec<Slot>,
    queues: Vec<Queue>,
    users: Vec<UserEvent>,
    events: Vec<Event>,
    /// What memories hold once all of `pending` is over.
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
        match rng.below(40) {
            0 => self.refused_allocation(rng, log),
            1 => self.let_go(rng, log),
            2..6 => self.read(rng, log),
            6..9 => self.write(rng, log),
            9 | 10 => self.show_or_fill(rng, log),
            11 | 12 => self.copy(rng, log),
            13..17 => self.launch(rng, log),
            17 => self.misfit(rng, log),
            18 => self.fail(rng, log),
            19 => self.pattern(rng, log),
            20 => self.lie(rng, log),
            21 => self.turn(rng, log),
            22..25 => self.queue_launch(rng, log),
            25..27 => self.queue_read(rng, log),
            27..30 => self.queue_write(rng, log),
            30 | 31 => self.queue_copy(rng, log),
            32 => self.queue_fill(rng, log),
            33 => self.queue_misfit(rng, log),
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
    pub fn new(engines: &'a Engines) -> Self {
        Self {
            engines: &engines.0,
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
        let b = (a + 1 + rng.below(self.slots.len() - 1)) % self.slots.len();
        (a, b)
    }

    /// Another slot of the same backend, if there is one.
    fn partner(&self, rng: &mut Rng, of: usize) -> Option<usize> {
        let others: Vec<_> =
            (0..self.slots.len()).filter(|i| *i != of && self.slots[*i].owner == self.slots[of].owner).collect();
        (!others.is_empty()).then(|| rng.pick(&others))
    }

    fn engine(&self, of: usize) -> &'a Engine {
        &self.engines[self.slots[of].owner]
    }

    /// Notes what an operation that was taken does.
    fn note(&mut self, event: Option<Event>, wait: Vec<Event>, effect: Effect) {
        self.pending.push(Entry { event, wait, effect });
    }

    fn allocate(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let owner = rng.below(self.engines.len());
        let bytes = hostile::size(rng, MOST);
        log.op("compute: allocate", format_args!("{bytes} bytes on {owner}"));
        let Some(mut memory) = log.end(self.engines[owner].backend.allocate(bytes)) else {
            crate::fuzz::fail!("{bytes} bytes were refused");
        };
        hold!(memory.len() == bytes, "{bytes} bytes were asked for, {} came", memory.len());
        let content = rng.bytes(bytes);
        memory.write(0, &content)?;
        let id = self.next;
        self.next += 1;
        self.models.insert(id, content);
        self.slots.push(Slot { memory, owner, id });
        Ok(())
    }

    fn open_queue(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        use pixelferry::Priority;
        let owner = rng.below(self.engines.len());
        let mut options = if rng.one_in(2) { QueueOptions::in_order() } else { QueueOptions::out_of_order() };
        if rng.one_in(2) {
            options = options.with_profiling();
        }
        options = options.with_priority(rng.pick(&[Priority::Low, Priority::Normal, Priority::High]));
        log.op("compute: queue", format_args!("{options:?} on {owner}"));
        if let Some(queue) = log.end(self.engines[owner].backend.queue(options)) {
            self.queues.push(Queue { queue, owner });
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

    /// Completes or fails every event of the program's own: operations that block would wait for them for ever.
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
