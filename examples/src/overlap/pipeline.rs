//! The batches on one device.

use super::kernel::{grind, source};
use pixelferry::driver::compute::now;
use pixelferry::{
    Arg, ComputeBackend, ComputeMemory, ComputeQueue, Error, Event, HostBuffer, Kernel, QueueOptions, ReadBack, Result,
    Target,
};
use std::collections::VecDeque;
use std::sync::Arc;

/// Stage of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Host to device.
    Upload,
    /// The kernel.
    Kernel,
    /// Device to host.
    ReadBack,
}

impl Stage {
    /// In the order of a batch.
    pub const ALL: [Self; 3] = [Self::Upload, Self::Kernel, Self::ReadBack];

    /// For people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Upload => "upload",
            Self::Kernel => "kernel",
            Self::ReadBack => "read-back",
        }
    }
}

/// One operation on the timeline, in nanoseconds since the run began.
#[derive(Debug, Clone, Copy)]
pub struct Bar {
    /// Stage of the operation.
    pub stage: Stage,
    /// For which batch.
    pub batch: usize,
    /// The device began.
    pub started: u64,
    /// The device was done.
    pub ended: u64,
}

/// One run over all batches.
#[derive(Debug, Clone)]
pub struct Run {
    /// Nanoseconds from the first call until the last bytes were there.
    pub total: u64,
    /// Empty where the driver gives no times.
    pub bars: Vec<Bar>,
}

impl Run {
    /// Nanoseconds that the operations of a stage took together.
    pub fn busy(&self, stage: Stage) -> u64 {
        self.bars.iter().filter(|b| b.stage == stage).map(|b| b.ended.saturating_sub(b.started)).sum()
    }
}

/// Memory of one batch at a time.
struct Slot {
    input: Box<dyn ComputeMemory>,
    output: Box<dyn ComputeMemory>,
}

/// Batches that may be under way at once.
const SLOTS: usize = 4;

/// Results that wait to be taken. Memory that copies run at full speed from and to is slow to get and scarce: the bytes of a
/// batch that has gone up serve one that comes back only where results are taken on the way.
const UNTAKEN: usize = 2 * SLOTS;

/// Number of a result's words of which one is checked while time is taken; the first run checks all.
const SAMPLED: usize = 1 << 14;

/// Plan of operations, and their device; may go to another thread.
pub struct Plan {
    backend: Arc<dyn ComputeBackend>,
    kernel: Arc<dyn Kernel>,
    options: QueueOptions,
    bytes: usize,
    rounds: u32,
}

impl Plan {
    fn input(&self, queue: &dyn ComputeQueue, batch: usize) -> Result<HostBuffer> {
        let mut bytes = queue.host_buffer(self.bytes)?;
        bytes.fill(batch as u8);
        Ok(bytes)
    }

    fn launch(&self, queue: &dyn ComputeQueue, Slot { input, output }: &mut Slot) -> Result<Event> {
        let args = [Arg::Memory(input.as_ref()), Arg::U32(self.rounds)];
        queue.launch(self.kernel.as_ref(), Target::buffer(output.as_mut()), &args, &[])
    }

    /// Looks at one word of so many.
    fn check(&self, batch: usize, result: &[u8], every: usize) -> Result<()> {
        let expected = grind(u32::from_ne_bytes([batch as u8; 4]), self.rounds);
        if result.as_chunks::<4>().0.iter().step_by(every).all(|found| u32::from_ne_bytes(*found) == expected) {
            return Ok(());
        }
        let (kernel, device) = (self.kernel.name().into(), self.backend.device().to_string());
        Err(Error::KernelFailed { kernel, device, reason: format!("batch {batch} came back wrong") })
    }
}

/// A plan with its memory. See the module.
pub struct Pipeline {
    plan: Plan,
    slots: Vec<Slot>,
}

impl Pipeline {
    /// Batches of `bytes` bytes, a multiple of 4. The kernel is made to take about as long as an upload.
    ///
    /// # Errors
    /// Those of the backend; [`Error::Unsupported`] where it has no queues.
    pub fn new(backend: &Arc<dyn ComputeBackend>, bytes: usize) -> Result<Self> {
        // Drivers without times still overlap.
        let (timed, untimed) = (QueueOptions::in_order().with_profiling(), QueueOptions::in_order());
        let options = match backend.queue(timed) {
            Err(Error::Unsupported { .. }) => backend.queue(untimed).map(|_| untimed)?,
            other => other.map(|_| timed)?,
        };
        let kernel = backend.build(&source())?;
        let mut this = Self::of(&Plan { backend: backend.clone(), kernel, options, bytes, rounds: 1 })?;
        this.warm_up()?;
        Ok(this)
    }

    /// Another with the same plan.
    ///
    /// # Errors
    /// Those of the backend, where there is no memory left.
    pub fn of(plan: &Plan) -> Result<Self> {
        let allocate = || plan.backend.allocate(plan.bytes);
        let slot = |_| Ok(Slot { input: allocate()?, output: allocate()? });
        let slots = (0..SLOTS).map(slot).collect::<Result<_>>()?;
        let Plan { options, bytes, rounds, .. } = *plan;
        let plan = Plan { backend: plan.backend.clone(), kernel: plan.kernel.clone(), options, bytes, rounds };
        Ok(Self { plan, slots })
    }

    /// Gives the memory up.
    pub fn into_plan(self) -> Plan {
        self.plan
    }

    /// First uses are slow (pages, compilers), and say how many rounds the kernel is to make.
    fn warm_up(&mut self) -> Result<()> {
        const MOST: u32 = 1 << 24;
        let queue = || Ok::<Arc<dyn ComputeQueue>, Error>(self.plan.backend.queue(QueueOptions::in_order())?.into());
        let queues = [queue()?, queue()?, queue()?];
        self.run(UNTAKEN + SLOTS, &queues, 1)?;
        let [queue, ..] = queues;
        let time = |f: &mut dyn FnMut() -> Result<Event>| {
            // The better of two.
            let mut best = u64::MAX;
            for _ in 0..2 {
                let start = now();
                f()?.wait()?;
                best = best.min(now() - start);
            }
            Ok::<_, Error>(best)
        };
        let upload = time(&mut || {
            let bytes = queue.host_buffer(self.plan.bytes)?;
            queue.write(self.slots[0].input.as_mut(), 0, bytes, &[])
        })?;
        while self.plan.rounds < MOST && time(&mut || self.plan.launch(queue.as_ref(), &mut self.slots[0]))? < upload {
            self.plan.rounds *= 2;
        }
        Ok(())
    }

    /// The device.
    pub fn device(&self) -> String {
        self.plan.backend.device().to_string()
    }

    /// All batches in one in-order queue: nothing overlaps.
    ///
    /// # Errors
    /// Those of the backend; [`Error::KernelFailed`] where the bytes that come back are wrong.
    pub fn serial(&mut self, batches: usize) -> Result<Run> {
        let queue: Arc<dyn ComputeQueue> = self.plan.backend.queue(self.plan.options)?.into();
        self.run(batches, &[queue.clone(), queue.clone(), queue], SAMPLED)
    }

    /// Uploads, kernels and read-backs each in a queue of their own. There is not one wait list: what must wait for what
    /// follows from the memory they use.
    ///
    /// # Errors
    /// The errors of [`Pipeline::serial`].
    pub fn overlapped(&mut self, batches: usize) -> Result<Run> {
        let queue = || Ok::<Arc<dyn ComputeQueue>, Error>(self.plan.backend.queue(self.plan.options)?.into());
        let queues = [queue()?, queue()?, queue()?];
        self.run(batches, &queues, SAMPLED)
    }

    /// Nanoseconds that a call which queues a small kernel takes: in a queue, and in the backend's own.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn call_costs(&self) -> Result<(u64, u64)> {
        const CALLS: u64 = 500;
        const ITEMS: usize = 64;
        let queue = self.plan.backend.queue(QueueOptions::in_order())?;
        let (input, mut output) = (self.plan.backend.allocate(4 * ITEMS)?, self.plan.backend.allocate(4 * ITEMS)?);
        let args = [Arg::Memory(input.as_ref()), Arg::U32(1)];
        let kernel = self.plan.kernel.as_ref();
        let start = now();
        for _ in 0..CALLS {
            drop(queue.launch(kernel, Target::buffer(output.as_mut()), &args, &[])?);
        }
        let in_queue = (now() - start) / CALLS;
        queue.finish()?;
        let start = now();
        for _ in 0..CALLS {
            self.plan.backend.launch(kernel, Target::buffer(output.as_mut()), &args)?;
        }
        let in_own = (now() - start) / CALLS;
        self.plan.backend.finish()?;
        Ok((in_queue, in_own))
    }

    fn run(
        &mut self,
        batches: usize,
        [up, compute, down]: &[Arc<dyn ComputeQueue>; 3],
        check_every: usize,
    ) -> Result<Run> {
        let plan = &self.plan;
        let mut inputs = (0..batches).map(|batch| plan.input(up.as_ref(), batch)).collect::<Result<Vec<_>>>()?;
        let begin = now();
        let mut events = Vec::with_capacity(3 * batches);
        let mut reads: VecDeque<(usize, ReadBack)> = VecDeque::with_capacity(UNTAKEN);
        let take = |(batch, read): (usize, ReadBack)| plan.check(batch, &read.wait()?, check_every);
        for (batch, bytes) in inputs.drain(..).enumerate() {
            let slot = &mut self.slots[batch % SLOTS];
            events.push((Stage::Upload, batch, up.write(slot.input.as_mut(), 0, bytes, &[])?));
            events.push((Stage::Kernel, batch, plan.launch(compute.as_ref(), slot)?));
            let read = down.read(slot.output.as_ref(), 0..plan.bytes, &[])?;
            events.push((Stage::ReadBack, batch, read.event().clone()));
            if reads.len() == UNTAKEN {
                reads.pop_front().map_or(Ok(()), take)?;
            }
            reads.push_back((batch, read));
        }
        reads.into_iter().try_for_each(take)?;
        let total = now() - begin;
        let bar = |(stage, batch, event): &(Stage, usize, Event)| {
            let times = event.profile()?;
            let since = |t: u64| t.saturating_sub(begin);
            Some(Bar { stage: *stage, batch: *batch, started: since(times.started), ended: since(times.ended) })
        };
        Ok(Run { total, bars: events.iter().filter_map(bar).collect() })
    }
}
