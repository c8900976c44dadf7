//! A stream that [`interop_core::compute::SubmitQueues`] submits commands to.

use super::command::{Command, Launch, enqueue};
use super::event::Event;
use super::{DeviceBlock, Failure, Queue, Stream};
use interop_core::compute::{DeviceEvent, DeviceStream, FinishedCommand, now};
use interop_core::describe::PlainMutex;
use interop_core::{Error, Result as Outcome};
use std::sync::Arc;

/// A point in the device's work after which later work can be ordered.
pub struct DeviceFence {
    pub event: Event,
    /// The queue's stream; `None` for the default stream.
    stream: Option<Arc<Stream>>,
    queue: Arc<Queue>,
}

impl DeviceFence {
    /// Returns a fence after everything in the default stream so far. Releases held-back work.
    pub fn by_default(queue: &Arc<Queue>) -> Result<Self, Failure> {
        let (_current, event) = (queue.enter()?, Event::new(queue)?);
        event.record()?;
        Ok(Self { event, stream: None, queue: queue.clone() })
    }

    /// Returns the event in its own type, if it belongs to the same context.
    pub fn of<'a>(event: &'a dyn DeviceEvent, queue: &Arc<Queue>) -> Option<&'a Self> {
        event.downcast_ref::<Self>().filter(|fence| Arc::ptr_eq(&fence.queue, queue))
    }
}

impl DeviceEvent for DeviceFence {}

/// A command in the stream.
pub struct InFlight {
    done: Arc<DeviceFence>,
    began: Option<Event>,
    /// `None` once it has landed.
    command: Option<Command>,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        if self.command.is_some() {
            Failure::log(self.done.event.synchronize());
        }
    }
}

pub struct SubmitQueue {
    stream: Arc<Stream>,
    /// Clock of the timestamps, if the stream profiles.
    clock: Option<PlainMutex<Clock>>,
    /// Name of the device in errors.
    name: String,
    #[cfg(test)]
    double: super::double::ThreadDouble,
}

impl SubmitQueue {
    pub fn new(stream: Stream, profiling: bool, name: String) -> Result<Self, Failure> {
        let clock = if profiling { Some(PlainMutex::new(Clock::new(&stream)?)) } else { None };
        Ok(Self {
            stream: Arc::new(stream),
            clock,
            name,
            #[cfg(test)]
            double: super::double::shared(),
        })
    }

    fn failed(&self) -> impl Fn(Failure) -> Error + '_ {
        |failure| failure.on(&self.name)
    }

    /// Orders the stream and records the events around a command.
    fn marks(&self, after: &[&DeviceFence]) -> Result<(Option<Event>, Event), Failure> {
        let queue = self.stream.queue();
        let is_own =
            |fence: &DeviceFence| fence.stream.as_ref().is_some_and(|stream| Arc::ptr_eq(stream, &self.stream));
        for fence in after.iter().filter(|fence| !is_own(fence)) {
            self.stream.wait(&fence.event)?;
        }
        let done = Event::waited_for(queue, self.clock.is_some())?;
        let began = self.clock.is_some().then(|| Event::waited_for(queue, true)).transpose()?;
        if let Some(began) = &began {
            self.stream.mark(began)?;
        }
        Ok((began, done))
    }
}

impl DeviceStream for SubmitQueue {
    type Block = Arc<DeviceBlock>;
    type Launch = Launch;
    type InFlight = InFlight;

    const THREAD: &'static str = "pixelferry-cuda-queue";

    fn submit(
        &self,
        mut command: Command,
        after: &[Arc<dyn DeviceEvent>],
    ) -> Outcome<(InFlight, Arc<dyn DeviceEvent>)> {
        let queue = self.stream.queue();
        let after: Vec<_> = after.iter().filter_map(|e| DeviceFence::of(e.as_ref(), queue)).collect();
        let (began, event) = self.marks(&after).map_err(self.failed())?;
        // SAFETY: the returned value keeps the command and waits until the stream has passed; after a failure, the
        // stream is waited for first.
        let queued = unsafe { enqueue(&mut command, &self.stream) }.and_then(|()| self.stream.mark(&event));
        if let Err(failure) = queued {
            Failure::log(self.stream.synchronize());
            drop(command);
            return Err(self.failed()(failure));
        }
        let done = Arc::new(DeviceFence { event, stream: Some(self.stream.clone()), queue: queue.clone() });
        Ok((InFlight { done: done.clone(), began, command: Some(command) }, done))
    }

    fn land(&self, mut in_flight: InFlight) -> FinishedCommand<Arc<DeviceBlock>, Launch> {
        let outcome = in_flight.done.event.synchronize().map_err(self.failed());
        let times = self.clock.as_ref().zip(in_flight.began.take()).filter(|_| outcome.is_ok());
        let span = times.and_then(|(clock, began)| {
            let mut clock = clock.lock();
            clock.span(began, &in_flight.done).inspect_err(|f| Failure::log(Err(*f))).ok()
        });
        FinishedCommand { outcome, span, command: in_flight.command.take().unwrap_or(Command::Nothing) }
    }

    #[cfg(test)]
    fn enter_thread(&self) {
        super::double::adopt(self.double.clone());
    }
}

/// Maps the device's clock to the host's.
struct Clock {
    mark: Event,
    /// The host's time at the event.
    at: u64,
}

/// Times between events are binary32 milliseconds; beyond this many nanoseconds they become imprecise.
const LONG: u64 = 1_000_000_000;

impl Clock {
    fn new(stream: &Stream) -> Result<Self, Failure> {
        let mark = Event::waited_for(stream.queue(), true)?;
        stream.mark(&mark)?;
        mark.synchronize()?;
        Ok(Self { mark, at: now() })
    }

    /// Returns when the device passed both events.
    fn span(&mut self, began: Event, done: &DeviceFence) -> Result<(u64, u64), Failure> {
        let started = self.at + began.ns_since(&self.mark)?;
        let ended = started + done.event.ns_since(&began)?;
        if started - self.at > LONG {
            *self = Self { mark: began, at: started };
        }
        Ok((started, ended))
    }
}
