//! OpenCL as safe Rust: buffers and their parts, views, images, maps, kernels, events, host memory.
//!
//! Commands on one buffer wait for each other by their wait lists, so that what it holds is known.

mod commands;
mod devices;
mod events;
mod hosts;
mod images;
mod kernels;
mod maps;

use crate::fuzz::model::{self, Effect, Entry, Models};
use crate::fuzz::{Checked, Log, Rng, drivers::Drivers, hold, hostile, kernels::ClKernels};
use pixelferry::api::opencl::cl::{Buffer, Context, Device, Event, MemFlags, Queue, QueueOptions, Status, UserEvent};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Largest buffer, bytes.
const MOST: usize = 8 << 10;

/// Objects that outlive rounds: programs are built once.
pub struct Base {
    device: Device,
    context: Context,
    /// Another context of the device, whose objects are foreign.
    other: Context,
    kernels: ClKernels,
}

impl Base {
    /// `None` where there is no OpenCL.
    pub fn new(drivers: &Drivers) -> Checked<Option<Self>> {
        let Some(backend) = &drivers.opencl else { return Ok(None) };
        let device = Device::try_from(backend.opened_device())?;
        let one = std::slice::from_ref(&device);
        let (context, other) = (Context::new(one)?, Context::new(one)?);
        Ok(Some(Self { kernels: ClKernels::build(&context)?, device, context, other }))
    }
}

/// A buffer or a part of one.
struct Slot {
    buffer: Buffer,
    /// Owner of its bytes: a number of the model, and the first byte there.
    root: u32,
    start: usize,
    /// Some bytes are mapped forever: commands may be refused.
    stuck: bool,
}

impl Slot {
    fn range(&self, range: &Range<usize>) -> Range<usize> {
        self.start + range.start..self.start + range.end
    }
}

/// Content of one context's buffers, and the work under way.
pub struct World<'a> {
    base: &'a Base,
    queues: Vec<Queue>,
    slots: Vec<Slot>,
    images: Vec<images::Slot>,
    users: Vec<UserEvent>,
    events: Vec<Event>,
    models: Models,
    /// The last command of every buffer.
    last: BTreeMap<u32, Event>,
    pending: Vec<Entry<Event>>,
    next: u32,
    /// Some command has failed by its wait list: what PoCL 3.1 does not bear then is left out.
    failed: bool,
    told: Arc<AtomicUsize>,
    to_tell: Vec<Event>,
}

impl super::World for World<'_> {
    fn step(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        if self.queues.len() < 2 || (self.queues.len() < 4 && rng.one_in(40)) {
            return self.open_queue(rng, log);
        }
        if self.slots.len() < 4 || (self.slots.len() < 12 && rng.one_in(16)) {
            return self.allocate(rng, log);
        }
        if self.pending.len() > 30 {
            return self.drain(log);
        }
        match rng.below(56) {
            0 => self.refused_allocation(rng, log),
            1..4 => self.part(rng, log),
            4..11 => self.read(rng, log),
            11..18 => self.write(rng, log),
            18..21 => self.fill(rng, log),
            21..27 => self.copy(rng, log),
            27 => self.migrate(rng, log),
            28..32 => self.map(rng, log),
            32..34 => self.native(rng, log),
            34..38 => self.launch(rng, log),
            38 => self.misfit(rng, log),
            39..46 => self.image(rng, log),
            46 => self.host_buffer(rng, log),
            47 | 48 => self.user_event(rng, log),
            49 => self.listen(rng, log),
            50 => self.ask(rng, log),
            51 => self.mark(rng, log),
            52 => self.device(rng, log),
            53 => self.foreign(rng, log),
            54 => self.let_go(rng, log),
            _ => self.drain(log),
        }
    }

    fn end(mut self: Box<Self>, log: &mut Log) -> Checked {
        self.drain(log)?;
        for queue in &self.queues {
            queue.finish()?;
        }
        let began = std::time::Instant::now();
        // Drivers call back on threads of their own, after what waits for the event.
        // Not all drivers call back for commands that failed by their wait lists.
        let failed = |event: &&Event| matches!(event.status(), Ok(Status::Failed(_)));
        let (most, least) = (self.to_tell.len(), self.to_tell.len() - self.to_tell.iter().filter(failed).count());
        while self.told.load(Ordering::SeqCst) < least && began.elapsed().as_secs() < 60 {
            std::thread::yield_now();
        }
        let told = self.told.load(Ordering::SeqCst);
        hold!((least..=most).contains(&told), "{told} callbacks were called, and {least} to {most} were to be");
        Ok(())
    }
}

impl<'a> World<'a> {
    /// With no buffer yet.
    pub fn new(base: &'a Base) -> Self {
        Self {
            base,
            queues: Vec::new(),
            slots: Vec::new(),
            images: Vec::new(),
            users: Vec::new(),
            events: Vec::new(),
            models: Models::default(),
            last: BTreeMap::new(),
            pending: Vec::new(),
            next: 0,
            failed: false,
            told: Arc::default(),
            to_tell: Vec::new(),
        }
    }

    fn queue(&self, rng: &mut Rng) -> Queue {
        self.queues[rng.below(self.queues.len())].clone()
    }

    fn slot(&self, rng: &mut Rng) -> usize {
        rng.below(self.slots.len())
    }

    /// The last commands of these slots, and some events more.
    fn wait_list(&self, rng: &mut Rng, slots: &[usize]) -> Vec<Event> {
        let mut wait: Vec<Event> =
            slots.iter().filter_map(|at| self.last.get(&self.slots[*at].root).cloned()).collect();
        let users: Vec<_> = self.users.iter().map(|user| user.event().clone()).collect();
        wait.extend(rng.any(&users).filter(|_| rng.one_in(6)));
        wait.extend(rng.any(&self.events).filter(|_| rng.one_in(6)));
        wait
    }

    /// One of these events has failed: what waits for it is refused.
    fn doomed(wait: &[Event]) -> bool {
        wait.iter().any(|event| matches!(event.status(), Ok(Status::Failed(_))))
    }

    /// A command was taken.
    fn taken(&mut self, event: Event, wait: Vec<Event>, slots: &[usize], effect: Effect) {
        for at in slots {
            self.last.insert(self.slots[*at].root, event.clone());
        }
        self.events.push(event.clone());
        if self.events.len() > 20 {
            self.events.remove(0);
        }
        self.pending.push(Entry { event: Some(event), wait, effect });
    }

    /// A command that blocks is over.
    fn done(&mut self, effect: Effect) {
        self.pending.push(Entry { event: None, wait: Vec::new(), effect });
    }

    fn open_queue(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let options = QueueOptions::default().with_out_of_order(rng.one_in(2)).with_profiling(rng.one_in(2));
        log.op("cl: queue", format_args!("{options:?}"));
        if let Some(queue) = log.end(Queue::with_options(&self.base.context, &self.base.device, &options)) {
            self.queues.push(queue);
        }
        Ok(())
    }

    fn allocate(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let bytes = hostile::size(rng, MOST);
        let flags = rng.pick(&[MemFlags::READ_WRITE, MemFlags::READ_WRITE | MemFlags::ALLOC_HOST_PTR]);
        let content = rng.bytes(bytes);
        log.op("cl: buffer with data", format_args!("{bytes} bytes, {flags}"));
        let buffer = log.end_with(Buffer::with_data(&self.base.context, flags, &content))?;
        self.next += 1;
        self.models.insert(self.next, content);
        self.slots.push(Slot { buffer, root: self.next, start: 0, stuck: false });
        Ok(())
    }

    fn refused_allocation(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let bytes = hostile::bad_size(rng);
        log.op("cl: buffer too large", format_args!("{bytes} bytes"));
        let made = log.end(Buffer::new(&self.base.context, MemFlags::READ_WRITE, bytes));
        hold!(made.is_none(), "{bytes} bytes were allocated");
        Ok(())
    }

    fn part(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        if self.slots.len() > 16 {
            return Ok(());
        }
        let at = self.slot(rng);
        let slot = &self.slots[at];
        let len = slot.buffer.len();
        let range = match rng.one_in(3) {
            true => hostile::range(rng, len),
            false => {
                let unit = slot.buffer.part_alignment()?;
                let start = rng.below(len.div_ceil(unit)) * unit;
                start..start + 1 + rng.below(len - start)
            }
        };
        log.op("cl: part of a buffer", format_args!("{range:?} of {len}"));
        if let Some(buffer) = log.end(slot.buffer.part(MemFlags::NONE, range.clone())) {
            hold!(range.start < range.end && range.end <= len, "{range:?} of {len} bytes was taken");
            hold!(buffer.len() == range.len() && buffer.is_part(), "{range:?} gave {buffer:?}");
            let part = Slot { buffer, root: slot.root, start: slot.start + range.start, stuck: slot.stuck };
            self.slots.push(part);
        }
        Ok(())
    }

    fn let_go(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        match rng.below(6) {
            0 if self.queues.len() > 2 => {
                log.did("cl: drop a queue", format_args!(""));
                rng.take(&mut self.queues);
            }
            1 if !self.images.is_empty() => {
                log.did("cl: drop an image", format_args!(""));
                rng.take(&mut self.images);
            }
            _ => {
                let (buffer, forget) = (rng.take(&mut self.slots).buffer, rng.one_in(20));
                log.gone(["cl: drop a buffer", "cl: forget a buffer"], buffer, forget);
            }
        }
        Ok(())
    }

    /// Completes or fails every event of the program's own: what blocks would wait for them forever.
    fn settle(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        for user in std::mem::take(&mut self.users) {
            log.op("cl: complete, fail or drop an event", format_args!(""));
            let how = rng.below(5);
            self.failed |= how < 2;
            let settled = match how {
                0 => user.fail(-(1 + rng.below(70) as i32)),
                1 => {
                    drop(user);
                    Ok(())
                }
                _ => user.complete(),
            };
            log.end_with(settled)?;
        }
        Ok(())
    }

    /// Waits for everything, and compares what was read with what should have been there.
    fn drain(&mut self, log: &mut Log) -> Checked {
        self.settle(&mut Rng::of(self.next.into()), log)?;
        log.did("cl: wait for all", format_args!("{} commands", self.pending.len()));
        model::drain(&mut self.pending, &mut self.models, true)?;
        // Chains of failed commands end here.
        self.last.clear();
        self.events.clear();
        self.models.keep(self.slots.iter().map(|slot| slot.root));
        Ok(())
    }
}
