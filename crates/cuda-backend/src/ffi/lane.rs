//! A stream with a thread that waits for its commands one after another, and tells their events.
//!
//! `cuLaunchHostFunc` would do without the thread, but holds the stream up while it runs, and is never called once the
//! context is lost: futures would sleep for ever. A thread that waits sees the error, may call CUDA, and nothing of the
//! user's runs below a C function.

use super::command::Command;
use super::event::Event;
use super::{Failure, Stream};
use interop_core::Error;
use interop_core::compute::{Completer, DeviceEvent, ReadSlot, Start, now};
use interop_core::describe::panics::contain;
use std::any::Any;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// What later work on the device can be ordered after.
pub struct Passed {
    pub event: Event,
    /// The lane's stream.
    stream: Arc<Stream>,
}

impl Passed {
    /// The event's own type again, of the same context.
    pub fn of<'a>(event: &'a dyn DeviceEvent, queue: &Arc<super::Queue>) -> Option<&'a Self> {
        event.as_any().downcast_ref::<Self>().filter(|passed| Arc::ptr_eq(passed.stream.queue(), queue))
    }
}

impl DeviceEvent for Passed {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// One command on its way.
struct Flight {
    completer: Completer,
    done: Arc<Passed>,
    began: Option<Event>,
    command: Command,
    slot: Option<ReadSlot>,
    /// To be complete before.
    before: Vec<interop_core::Event>,
}

/// See the module. The thread ends when this is gone and all commands are done.
pub struct Lane {
    stream: Arc<Stream>,
    profiling: bool,
    flights: Sender<Flight>,
}

impl Lane {
    /// `name` is how errors call the device. `None` where the system gives no thread.
    pub fn new(stream: Stream, profiling: bool, name: String) -> Result<Option<Self>, Failure> {
        let stream = Arc::new(stream);
        let clock = if profiling { Some(Clock::new(&stream)?) } else { None };
        let (flights, receiver) = channel();
        #[cfg(test)]
        let double = super::double::shared();
        let wait = move || {
            #[cfg(test)]
            super::double::adopt(double);
            wait(&receiver, clock, &name);
        };
        let thread = thread::Builder::new().name("pixelferry-cuda-queue".into()).spawn(wait);
        Ok(thread.ok().map(|_| Self { stream, profiling, flights }))
    }

    /// Queues a command after what it must follow. `refused` makes the error
    /// that the event and the caller get.
    pub fn start(
        &self,
        start: Start,
        mut command: Command,
        slot: Option<ReadSlot>,
        refused: impl Fn(Failure) -> Error,
    ) -> Result<(), Error> {
        let Start { mut completer, after, before, after_default } = start;
        let queue = self.stream.queue();
        let after: Vec<_> = after.iter().filter_map(|e| Passed::of(e.as_ref(), queue)).collect();
        let marks = self.marks(&after, after_default);
        let (began, event) = match marks {
            Ok(marks) => marks,
            Err(failure) => return Err(completer.refuse(refused(failure))),
        };
        // SAFETY: the command is kept below: it goes to the thread, which drops it when the stream has passed; where
        // something fails, the stream is waited for first.
        let queued = unsafe { command.enqueue(&self.stream) }.and_then(|()| self.stream.mark(&event));
        if let Err(failure) = queued {
            Failure::log(self.stream.synchronize());
            drop(command);
            return Err(completer.refuse(refused(failure)));
        }
        let done = Arc::new(Passed { event, stream: self.stream.clone() });
        completer.submitted(Some(done.clone()));
        if let Err(unsent) = self.flights.send(Flight { completer, done, began, command, slot, before }) {
            // The thread is gone; what it would have done is done here.
            unsent.0.land(None, "");
        }
        Ok(())
    }

    /// Orders the stream and makes the marks around a command.
    fn marks(&self, after: &[&Passed], after_default: bool) -> Result<(Option<Event>, Event), Failure> {
        let queue = self.stream.queue();
        for passed in after.iter().filter(|passed| !Arc::ptr_eq(&passed.stream, &self.stream)) {
            self.stream.wait(&passed.event)?;
        }
        if after_default {
            // Entering lets go of what the default stream holds back.
            let (_current, mark) = (queue.enter()?, Event::new(queue)?);
            mark.record()?;
            self.stream.wait(&mark)?;
        }
        let done = Event::waited_for(queue, self.profiling)?;
        let began = self.profiling.then(|| Event::waited_for(queue, true)).transpose()?;
        if let Some(began) = &began {
            self.stream.mark(began)?;
        }
        Ok((began, done))
    }
}

impl Flight {
    /// Waits for the device, and tells.
    fn land(self, clock: Option<&mut Clock>, name: &str) {
        let Self { completer, done, began, command, slot, before } = self;
        let outcome = done.event.synchronize().map_err(|failure| failure.on(name));
        let span = clock
            .zip(began)
            .filter(|_| outcome.is_ok())
            .and_then(|(clock, began)| clock.span(began, &done).inspect_err(|f| Failure::log(Err(*f))).ok());
        for event in before {
            let _ = event.wait();
        }
        let kept = command.landed(slot.as_ref());
        completer.complete_profiled(outcome, span);
        // Freeing memory waits for the device, so those who wait are told first.
        drop(kept);
    }
}

fn wait(flights: &Receiver<Flight>, mut clock: Option<Clock>, name: &str) {
    while let Ok(flight) = flights.recv() {
        // It drops host memory of the caller's.
        contain("command of a queue", || flight.land(clock.as_mut(), name));
    }
}

/// The device's clock set against the host's.
struct Clock {
    mark: Event,
    /// The host's time at the mark.
    at: u64,
}

/// Spans between marks are binary32 milliseconds; beyond this many nanoseconds they grow coarse.
const LONG: u64 = 1_000_000_000;

impl Clock {
    fn new(stream: &Stream) -> Result<Self, Failure> {
        let mark = Event::waited_for(stream.queue(), true)?;
        stream.mark(&mark)?;
        mark.synchronize()?;
        Ok(Self { mark, at: now() })
    }

    /// When the device passed both marks.
    fn span(&mut self, began: Event, done: &Passed) -> Result<(u64, u64), Failure> {
        let started = self.at + began.ns_since(&self.mark)?;
        let ended = started + done.event.ns_since(&began)?;
        if started - self.at > LONG {
            *self = Self { mark: began, at: started };
        }
        Ok((started, ended))
    }
}
