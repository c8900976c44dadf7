//! Streams of a device, each with a thread that waits for its commands one after another and completes their events.
//!
//! Callbacks of drivers (`clSetEventCallback`, `cuLaunchHostFunc`) would make the thread unnecessary. But then wakers,
//! callbacks and the next operations would run on a thread of the driver, where most calls are forbidden. A driver that
//! loses a callback, or its context, would leave a future asleep forever.

use super::command::Command;
use super::completion::Completer;
use super::device_event::DeviceEvent;
use super::event::Event;
use super::queue::QueueOptions;
use super::schedule::Start;
use crate::describe::error::{Error, Result};
use crate::describe::panics::contain;
use crate::describe::process::ForkGuard;
use crate::describe::threads;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

/// Number of streams of an out-of-order queue, and so of operations that run concurrently. The streams are in-order
/// queues because drivers need not offer others, and some out-of-order queues run in order anyway.
const STREAMS: usize = 4;

/// A stream or in-order queue of a device.
pub trait DeviceStream: Send + Sync + 'static {
    /// Keeps memory of the backend alive.
    type Block: Send + 'static;
    /// A kernel with its argument values.
    type Launch: Send + 'static;
    /// A command that the device has. Dropping it before it has landed waits for the device.
    type InFlight: Send + 'static;

    /// Name of the threads that wait for commands.
    const THREAD: &'static str;

    /// Starts a command on the device, after the events `after` of the same device. Returns an event that later
    /// commands can follow.
    ///
    /// # Errors
    /// Errors of the driver; then no part of the command is on the device.
    fn submit(
        &self,
        command: Command<Self::Block, Self::Launch>,
        after: &[Arc<dyn DeviceEvent>],
    ) -> Result<(Self::InFlight, Arc<dyn DeviceEvent>)>;

    /// Waits until the device has finished the command.
    fn land(&self, in_flight: Self::InFlight) -> FinishedCommand<Self::Block, Self::Launch>;

    /// Called on the waiting thread before anything else.
    fn enter_thread(&self) {}
}

/// A finished command and its outcome.
pub struct FinishedCommand<B, L> {
    /// Outcome of the command.
    pub outcome: Result<()>,
    /// Time at which the command began and ended, on the clock of [`super::now`], if the stream profiles.
    pub span: Option<(u64, u64)>,
    /// The command, with everything that it owned.
    pub command: Command<B, L>,
}

/// A submitted command that a thread waits for.
struct PendingCommand<S: DeviceStream> {
    completer: Completer,
    in_flight: S::InFlight,
    /// Events that must complete first.
    before: Vec<Event>,
}

impl<S: DeviceStream> PendingCommand<S> {
    /// Waits for the device and completes the event.
    fn land(self, stream: &S) {
        let FinishedCommand { outcome, span, command } = stream.land(self.in_flight);
        for event in self.before {
            let _ = event.wait();
        }
        let kept = command.landed();
        self.completer.complete_profiled(outcome, span);
        // Freeing memory may wait for the device, so the waiters are woken first.
        drop(kept);
    }
}

/// A stream and its thread, which ends when this value is dropped and all commands are done.
struct SubmitQueue<S: DeviceStream> {
    stream: Arc<S>,
    awaited: ForkGuard<Sender<PendingCommand<S>>>,
}

impl<S: DeviceStream> SubmitQueue<S> {
    fn new(stream: S) -> Result<Self> {
        let stream = Arc::new(stream);
        let (awaited, receiver) = channel::<PendingCommand<S>>();
        let own = Arc::clone(&stream);
        let wait = move || {
            own.enter_thread();
            for awaited in receiver {
                // Runs foreign code: it drops host memory of the caller.
                contain("command of a queue", || awaited.land(&own));
            }
        };
        let thread = threads::spawn(S::THREAD, wait);
        thread.map(|_| Self { stream, awaited: ForkGuard::new(awaited) }).map_err(no_thread)
    }

    fn start(&self, start: Start, command: Command<S::Block, S::Launch>) -> Result<()> {
        let Start { mut completer, after, before, .. } = start;
        match self.stream.submit(command, &after) {
            Err(error) => Err(completer.refuse(error)),
            Ok((in_flight, fence)) => {
                completer.submitted(Some(fence));
                if let Err(unsent) = self.awaited.send(PendingCommand { completer, in_flight, before }) {
                    // The thread is gone, so its work is done here.
                    unsent.0.land(&self.stream);
                }
                Ok(())
            }
        }
    }
}

/// Error for a queue whose thread the system could not start.
pub fn no_thread(error: std::io::Error) -> Error {
    Error::unavailable("a thread for a queue", error, "Use fewer queues or raise the limit on processes (ulimit -u).")
}

/// The streams of a queue, which receive commands in turn.
pub struct SubmitQueues<S: DeviceStream> {
    queues: Box<[SubmitQueue<S>]>,
    next: AtomicUsize,
}

impl<S: DeviceStream> SubmitQueues<S> {
    /// Creates one stream for an in-order queue, otherwise several.
    ///
    /// # Errors
    /// Those of `stream`; [`Error::Unavailable`] where the system cannot start a thread.
    pub fn new(options: &QueueOptions, mut stream: impl FnMut() -> Result<S>) -> Result<Self> {
        let count = if options.is_in_order() { 1 } else { STREAMS };
        let queues = (0..count).map(|_| SubmitQueue::new(stream()?)).collect::<Result<_>>()?;
        Ok(Self { queues, next: AtomicUsize::new(0) })
    }

    /// Implements [`super::QueueDriver::start`]. `default` returns a marker of the work that the backend's own calls
    /// have queued; it is called only where the command follows that work.
    ///
    /// # Errors
    /// Those of `default` and of [`DeviceStream::submit`]; the event has failed by then.
    pub fn start(
        &self,
        mut start: Start,
        command: Command<S::Block, S::Launch>,
        default: impl FnOnce() -> Result<Arc<dyn DeviceEvent>>,
    ) -> Result<()> {
        if start.after_default {
            match default() {
                Ok(mark) => start.after.push(mark),
                Err(error) => return Err(start.completer.refuse(error)),
            }
        }
        self.queues[self.next.fetch_add(1, Ordering::Relaxed) % self.queues.len()].start(start, command)
    }
}
