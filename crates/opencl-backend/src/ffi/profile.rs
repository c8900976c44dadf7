//! The two queues of a session, and the times of their commands.
//!
//! Whether a queue takes times is settled when it is made (OpenCL 3.0 API, 5.1, `CL_QUEUE_PROFILING_ENABLE`), and what takes
//! times may be slower: a second queue is made where they are asked for.

use super::{Context, Device, Event, Failure, Queue, QueueProperties, Status};
use cl3::event::{CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_START};
use interop_core::devices::timeline::Work;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// An in-order queue, which another that takes times may stand in for.
pub struct Queues {
    plain: Queue,
    timed: OnceLock<Queue>,
    is_timed: AtomicBool,
}

impl Queues {
    pub fn new(context: &Arc<Context>, device: &Device) -> Result<Self, Failure> {
        let plain = Queue::new(context, device, QueueProperties::default())?;
        Ok(Self { plain, timed: OnceLock::new(), is_timed: AtomicBool::new(false) })
    }

    /// The one in use.
    pub fn current(&self) -> &Queue {
        match self.timed.get() {
            Some(timed) if self.is_timed.load(Ordering::Acquire) => timed,
            _ => &self.plain,
        }
    }

    /// Commands queued from now on are timed, or not. What was queued before must be done.
    pub fn switch(&self, context: &Arc<Context>, device: &Device, timed: bool) -> Result<(), Failure> {
        if timed && self.timed.get().is_none() {
            let properties = QueueProperties { profiling: true, ..QueueProperties::default() };
            // Where two threads come here at once, one of the two goes again.
            let _ = self.timed.set(Queue::new(context, device, properties)?);
        }
        self.is_timed.store(timed, Ordering::Release);
        Ok(())
    }
}

/// A command of a queue that takes times.
pub struct TimedCommand {
    pub work: Work,
    event: Event,
}

impl TimedCommand {
    /// A marker after all that is queued.
    pub fn marker(queue: &Queue) -> Result<Self, Failure> {
        Ok(Self { event: queue.marker(&[])?, work: Work::new("marker") })
    }

    /// Waits until it is done.
    pub fn wait(&self) -> Result<(), Failure> {
        self.event.wait()
    }

    /// Whether it is done, well or not.
    pub fn is_done(&self) -> Result<bool, Failure> {
        self.event.status().map(Status::is_final)
    }

    /// When the device began and ended it, nanoseconds of its own clock. Only for commands that are done.
    pub fn times(&self) -> Result<(u64, u64), Failure> {
        Ok((self.event.profile(CL_PROFILING_COMMAND_START)?, self.event.profile(CL_PROFILING_COMMAND_END)?))
    }
}

/// What a thread queues.
struct Collected {
    kernel: String,
    /// When the next command began to be queued.
    since: Instant,
    commands: Vec<TimedCommand>,
}

thread_local! {
    /// Since [`collect`] began; `None` where nobody collects.
    static COLLECTED: RefCell<Option<Collected>> = const { RefCell::new(None) };
}

/// Runs `f` and returns what it queued; `kernel` is the name of the kernel among it.
pub fn collect<R>(kernel: Option<&str>, f: impl FnOnce() -> R) -> (R, Vec<TimedCommand>) {
    let kernel = kernel.unwrap_or("kernel").to_owned();
    let before = COLLECTED.replace(Some(Collected { kernel, since: Instant::now(), commands: Vec::new() }));
    let result = f();
    let collected = COLLECTED.replace(before);
    (result, collected.map(|collected| collected.commands).unwrap_or_default())
}

/// To be told of every command: keeps its event where somebody collects.
pub(super) fn queued(operation: &'static str, event: &Event) {
    COLLECTED.with_borrow_mut(|collected| {
        if let Some(Collected { kernel, since, commands }) = collected {
            let mut work = match operation {
                "clEnqueueNDRangeKernel" => Work::new(kernel.clone()),
                other => Work::new(other.strip_prefix("clEnqueue").unwrap_or(other)),
            };
            // The device may have begun before the driver gave the event.
            std::mem::swap(&mut work.queued, since);
            commands.push(TimedCommand { work, event: event.clone() });
        }
    });
}
