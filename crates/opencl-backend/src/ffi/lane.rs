//! An in-order queue with a thread that waits for its commands one after another, and tells their events.
//!
//! Callbacks of events (`clSetEventCallback`) would do without the thread, but then wakers, callbacks and whatever is
//! started next would run on a thread of the driver's, where most calls are forbidden; drivers that forget one would
//! leave a future asleep for ever.

use super::command::Command;
use super::{Event, Failure, LaunchFailure, Queue, Status};
use cl3::event as ev;
use interop_core::Error;
use interop_core::compute::{Completer, DeviceEvent, EventStatus, ReadSlot, Start, now};
use interop_core::describe::panics::contain;
use std::any::Any;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// What later work on the device can be ordered after.
pub struct Passed {
    pub event: Event,
    /// Of which device and context: the address of what its owners share.
    owner: usize,
}

impl Passed {
    /// The event's own type again, of the same owner.
    pub fn of(event: &dyn DeviceEvent, owner: usize) -> Option<&Self> {
        event.as_any().downcast_ref::<Self>().filter(|passed| passed.owner == owner)
    }
}

impl DeviceEvent for Passed {
    fn status(&self) -> EventStatus {
        match self.event.status() {
            // What is final is told by the thread.
            Ok(Status::Running | Status::Complete | Status::Failed(_)) => EventStatus::Running,
            _ => EventStatus::Submitted,
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// One command on its way.
struct Flight {
    completer: Completer,
    event: Event,
    command: Command,
    slot: Option<ReadSlot>,
    /// To be complete before.
    before: Vec<interop_core::Event>,
}

/// See the module. The thread ends when this is gone and all commands are done.
pub struct Lane {
    queue: Queue,
    /// See [`Passed`].
    owner: usize,
    flights: Sender<Flight>,
}

impl Lane {
    /// `clock` is set where the queue profiles; `name` is how errors call the device. `None` where the system gives no
    /// thread.
    pub fn new(queue: Queue, owner: usize, clock: Option<Clock>, name: String) -> Option<Self> {
        let (flights, receiver) = channel::<Flight>();
        let wait = move || {
            for flight in receiver {
                // It drops host memory of the caller's.
                contain("command of a queue", || flight.land(clock, &name));
            }
        };
        let thread = thread::Builder::new().name("pixelferry-opencl-queue".into()).spawn(wait);
        thread.ok().map(|_| Self { queue, owner, flights })
    }

    /// Queues a command after what it must follow, and after `default`. `refused` makes the error that the event and the
    /// caller get.
    pub fn start(
        &self,
        start: Start,
        default: Option<Event>,
        mut command: Command,
        slot: Option<ReadSlot>,
        refused: impl Fn(LaunchFailure) -> Error,
    ) -> Result<(), Error> {
        let Start { mut completer, after, before, .. } = start;
        let after = after.iter().filter_map(|e| Passed::of(e.as_ref(), self.owner)).map(|passed| &passed.event);
        let other = |event: &&Event| !event.queue().is_some_and(|queue| queue.is(&self.queue));
        let after: Vec<_> = after.filter(other).cloned().chain(default).collect();
        // SAFETY: the command is kept below: it goes to the thread, which drops it when the event is final.
        let event = match unsafe { command.enqueue(&self.queue, &after) } {
            Ok(event) => event,
            Err(failure) => return Err(completer.refuse(refused(failure))),
        };
        if let Err(failure) = self.queue.flush() {
            tracing::debug!(code = failure.code, "{} failed; the wait will tell", failure.operation);
        }
        completer.submitted(Some(Arc::new(Passed { event: event.clone(), owner: self.owner })));
        if let Err(unsent) = self.flights.send(Flight { completer, event, command, slot, before }) {
            // The thread is gone; what it would have done is done here.
            unsent.0.land(None, "");
        }
        Ok(())
    }
}

impl Flight {
    /// Waits for the device, and tells.
    fn land(self, clock: Option<Clock>, name: &str) {
        let Self { completer, event, command, slot, before } = self;
        let outcome = event.wait_until_final().map_err(|failure| failure.on(name));
        let span = clock.filter(|_| outcome.is_ok()).and_then(|clock| clock.span(&event));
        for event in before {
            let _ = event.wait();
        }
        let kept = command.landed(slot.as_ref());
        completer.complete_profiled(outcome, span);
        drop(kept);
    }
}

/// The device's clock set against the host's.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// Host minus device, nanoseconds.
    offset: i128,
}

/// Markers that the clock is set by.
const PROBES: usize = 4;

impl Clock {
    /// Asks a queue that profiles. `None` where its events carry no times.
    pub fn new(queue: &Queue) -> Result<Option<Self>, Failure> {
        let mut best = None;
        for _ in 0..PROBES {
            let given = i128::from(now());
            let event = queue.marker(&[])?;
            queue.flush()?;
            event.wait()?;
            let times = [ev::CL_PROFILING_COMMAND_QUEUED, ev::CL_PROFILING_COMMAND_END].map(|p| event.profile(p));
            let [Ok(queued), Ok(ended)] = times else { return Ok(None) };
            if queued == 0 || ended < queued {
                return Ok(None);
            }
            // The driver takes its time after ours, so the largest difference is the closest.
            best = best.max(Some(given - i128::from(queued)));
        }
        Ok(best.map(|offset| Self { offset }))
    }

    fn span(self, event: &Event) -> Option<(u64, u64)> {
        let at = |param| u64::try_from(i128::from(event.profile(param).ok()?) + self.offset).ok();
        Some((at(ev::CL_PROFILING_COMMAND_START)?, at(ev::CL_PROFILING_COMMAND_END)?))
    }
}
