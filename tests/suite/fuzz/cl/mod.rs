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

use crate::fuzz::model::{Effect, Work};
use crate::fuzz::{
    Choices, Machine, Things, Turn, TurnResult, WeightedOperation, drivers::Drivers, hold, hostile, kernels::ClKernels,
    operations,
};
use pixelferry::api::opencl::cl::{Buffer, Context, Device, Event, MemFlags, Queue, QueueOptions, Status, UserEvent};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::Ordering;

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
    pub fn new(drivers: &Drivers) -> TurnResult<Option<Self>> {
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
    work: Work<Event, UserEvent>,
    /// The last command of every buffer.
    last: BTreeMap<u32, Event>,
    /// Some command has failed by its wait list: what PoCL 3.1 does not bear then is left out.
    failed: bool,
    to_tell: Vec<Event>,
}

impl<'a> Machine<'a> for World<'a> {
    fn operations() -> Vec<WeightedOperation<Self>> {
        operations! {
            1 => Self::refused_allocation,
            3 => Self::part,
            7 => Self::read,
            7 => Self::write,
            3 => Self::fill,
            6 => Self::copy,
            1 => Self::migrate,
            4 => Self::map,
            2 => Self::native,
            4 => Self::launch,
            1 => Self::misfit,
            7 => Self::image,
            1 => Self::host_buffer,
            2 => Self::user_event,
            1 => Self::listen,
            1 => Self::ask,
            1 => Self::mark,
            1 => Self::device,
            1 => Self::foreign,
            1 => Self::let_go,
            1 => Self::drain,
        }
    }

    fn new(things: &'a Things, _: &mut Turn) -> TurnResult<Option<Self>> {
        Ok(things.base.as_ref().map(|base| Self {
            base,
            queues: Vec::new(),
            slots: Vec::new(),
            images: Vec::new(),
            work: Work::default(),
            last: BTreeMap::new(),
            failed: false,
            to_tell: Vec::new(),
        }))
    }

    fn supply(&mut self, t: &mut Turn) -> TurnResult<bool> {
        match (self.queues.len(), self.slots.len()) {
            (queues, _) if queues < 2 || (queues < 4 && t.one_in(40)) => self.open_queue(t)?,
            (_, slots) if slots < 4 || (slots < 12 && t.one_in(16)) => self.allocate(t)?,
            _ if self.work.pending.len() > 30 => self.drain(t)?,
            _ => return Ok(true),
        }
        Ok(false)
    }

    fn end(mut self, t: &mut Turn) -> TurnResult {
        self.drain(t)?;
        for queue in &self.queues {
            queue.finish()?;
        }
        let began = std::time::Instant::now();
        // Drivers call back on threads of their own, after what waits for the event.
        // Not all drivers call back for commands that failed by their wait lists.
        let failed = |event: &&Event| matches!(event.status(), Ok(Status::Failed(_)));
        let (most, least) = (self.to_tell.len(), self.to_tell.len() - self.to_tell.iter().filter(failed).count());
        while self.work.told.load(Ordering::SeqCst) < least && began.elapsed().as_secs() < 60 {
            std::thread::yield_now();
        }
        let told = self.work.told.load(Ordering::SeqCst);
        hold!((least..=most).contains(&told), "{told} callbacks were called, and {least} to {most} were to be");
        Ok(())
    }
}

impl World<'_> {
    fn queue(&self, t: &mut Choices) -> Queue {
        self.queues[t.below(self.queues.len())].clone()
    }

    fn slot(&self, t: &mut Choices) -> usize {
        t.below(self.slots.len())
    }

    /// The last commands of these slots, and some events more.
    fn wait_list(&self, t: &mut Choices, slots: &[usize]) -> Vec<Event> {
        let mut wait: Vec<Event> =
            slots.iter().filter_map(|at| self.last.get(&self.slots[*at].root).cloned()).collect();
        let users: Vec<_> = self.work.users.iter().map(|user| user.event().clone()).collect();
        wait.extend(t.any(&users).filter(|_| t.one_in(6)));
        wait.extend(t.any(&self.work.events).filter(|_| t.one_in(6)));
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
        self.work.taken(Some(event), wait, effect);
    }

    fn open_queue(&mut self, t: &mut Turn) -> TurnResult {
        let options = QueueOptions::default().with_out_of_order(t.one_in(2)).with_profiling(t.one_in(2));
        t.op("cl: queue", format_args!("{options:?}"));
        let queue = t.end(Queue::with_options(&self.base.context, &self.base.device, &options))?;
        self.queues.push(queue);
        Ok(())
    }

    fn allocate(&mut self, t: &mut Turn) -> TurnResult {
        let bytes = hostile::size(t, MOST);
        let flags = t.pick(&[MemFlags::READ_WRITE, MemFlags::READ_WRITE | MemFlags::ALLOC_HOST_PTR]);
        let content = t.bytes(bytes);
        t.op("cl: buffer with data", format_args!("{bytes} bytes, {flags}"));
        let buffer = t.end_with(Buffer::with_data(&self.base.context, flags, &content))?;
        self.slots.push(Slot { buffer, root: self.work.add(content), start: 0, stuck: false });
        Ok(())
    }

    fn refused_allocation(&mut self, t: &mut Turn) -> TurnResult {
        let bytes = hostile::bad_size(t);
        t.op("cl: buffer too large", format_args!("{bytes} bytes"));
        let made = t.end(Buffer::new(&self.base.context, MemFlags::READ_WRITE, bytes));
        hold!(made.is_err(), "{bytes} bytes were allocated");
        Ok(())
    }

    fn part(&mut self, t: &mut Turn) -> TurnResult {
        if self.slots.len() > 16 {
            return Ok(());
        }
        let at = self.slot(t);
        let slot = &self.slots[at];
        let len = slot.buffer.len();
        let range = match t.one_in(3) {
            true => hostile::range(t, len),
            false => {
                let unit = slot.buffer.part_alignment()?;
                let start = t.below(len.div_ceil(unit)) * unit;
                start..start + 1 + t.below(len - start)
            }
        };
        t.op("cl: part of a buffer", format_args!("{range:?} of {len}"));
        let buffer = t.end(slot.buffer.part(MemFlags::NONE, range.clone()))?;
        hold!(range.start < range.end && range.end <= len, "{range:?} of {len} bytes was taken");
        hold!(buffer.len() == range.len() && buffer.is_part(), "{range:?} gave {buffer:?}");
        let part = Slot { buffer, root: slot.root, start: slot.start + range.start, stuck: slot.stuck };
        self.slots.push(part);
        Ok(())
    }

    fn let_go(&mut self, t: &mut Turn) -> TurnResult {
        match t.below(6) {
            0 if self.queues.len() > 2 => {
                t.did("cl: drop a queue", format_args!(""));
                t.take(&mut self.queues);
            }
            1 if !self.images.is_empty() => {
                t.did("cl: drop an image", format_args!(""));
                t.take(&mut self.images);
            }
            _ => {
                let (buffer, forget) = (t.take(&mut self.slots).buffer, t.one_in(20));
                t.gone(["cl: drop a buffer", "cl: forget a buffer"], buffer, forget);
            }
        }
        Ok(())
    }

    /// Completes or fails every event of the program's own: what blocks would wait for them forever.
    fn settle(&mut self, t: &mut Turn) -> TurnResult {
        for user in std::mem::take(&mut self.work.users) {
            t.op("cl: complete, fail or drop an event", format_args!(""));
            let how = 4 - t.below(5);
            self.failed |= how < 2;
            let settled = match how {
                0 => user.fail(-(1 + t.below(70) as i32)),
                1 => {
                    drop(user);
                    Ok(())
                }
                _ => user.complete(),
            };
            t.end_with(settled)?;
        }
        Ok(())
    }

    /// Waits for everything, and compares what was read with what should have been there.
    fn drain(&mut self, t: &mut Turn) -> TurnResult {
        self.settle(t)?;
        t.did("cl: wait for all", format_args!("{} commands", self.work.pending.len()));
        self.work.drain(true, self.slots.iter().map(|slot| slot.root))?;
        // Chains of failed commands end here.
        self.last.clear();
        self.work.events.clear();
        Ok(())
    }
}
