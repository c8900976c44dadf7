//! The order of a queue's operations, shared by all backends.
//!
//! An operation is submitted at once where all of its dependencies are on the same device, which orders them. Otherwise
//! it is held on the host until the rest is done: user events, other backends, and operations that are held themselves.

use super::completion::Completer;
use super::device_event::DeviceEvent;
use super::event::Event;
use super::hazard::Hazards;
use crate::describe::PlainMutex;
use crate::describe::error::{Error, Result};
use crate::devices::ranges::Access;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Bytes that an operation accesses.
pub struct MemoryUse<'a> {
    /// Tracker of the memory's users.
    pub hazards: &'a Hazards,
    /// Range of bytes in the memory.
    pub range: Range<usize>,
    /// Kind of access: read or write.
    pub access: Access,
}

/// Kind of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationKind {
    /// Follows its wait list and, in an in-order queue, all operations queued before.
    Command,
    /// Does nothing. Without a wait list it follows all operations queued before.
    Marker,
    /// Does nothing. It follows its wait list and all operations queued before; all later operations follow it.
    Barrier,
}

/// An operation that is ready for the backend to submit to its device.
pub struct Start {
    /// The backend's end of the operation's event.
    pub completer: Completer,
    /// Events of this device that the device must wait for first.
    pub after: Vec<Arc<dyn DeviceEvent>>,
    /// The same events as in `after`, as [`Event`]s. The thread that completes this operation waits for them first,
    /// because threads that watch several streams see them end in any order. An event must never appear complete before
    /// one that it follows.
    pub before: Vec<Event>,
    /// True where the operation must follow the work that the backend's default queue has so far.
    pub after_default: bool,
}

/// The order of one queue.
pub struct Schedule {
    in_order: bool,
    order: PlainMutex<Sequence>,
}

#[derive(Default)]
struct Sequence {
    /// In order: the last operation. Out of order: all unfinished operations since the last barrier.
    open: Vec<Event>,
    barrier: Option<Event>,
}

impl Sequence {
    /// Appends to `before` the events that the operation follows, and adds `event`.
    fn enter(&mut self, in_order: bool, follows_all: bool, event: &Event, before: &mut Vec<Event>) {
        self.open.retain(|e| !e.is_settled());
        self.barrier.take_if(|barrier| barrier.is_settled());
        before.extend(self.barrier.clone());
        if in_order || follows_all {
            before.extend(self.open.iter().cloned());
        }
        if in_order {
            self.open.clear();
        }
        self.open.push(event.clone());
    }
}

/// The events that an operation waits for, sorted by who waits: the device or the host.
#[derive(Default)]
struct Plan {
    device: Vec<Arc<dyn DeviceEvent>>,
    /// The same events as in `device`, as [`Event`]s. True where a failure is passed on: they may fail until the
    /// operation starts.
    watched: Vec<(Event, bool)>,
    /// Events that the host waits for. True where a failure is passed on.
    host: Vec<(Event, bool)>,
    failed: Option<Error>,
}

impl Plan {
    fn add(&mut self, event: &Event, passes_on: bool, is_own: &impl Fn(&dyn DeviceEvent) -> bool) {
        match (event.outcome(), event.device_event()) {
            (Some(outcome), _) => self.failed = self.failed.take().or(outcome.err().filter(|_| passes_on)),
            (None, Some(device)) if is_own(device.as_ref()) => {
                self.device.push(device);
                self.watched.push((event.clone(), passes_on));
            }
            (None, _) => self.host.push((event.clone(), passes_on)),
        }
    }

    /// Returns the first failure that keeps the operation from starting.
    fn failure(&self) -> Option<Error> {
        self.failed
            .clone()
            .or_else(|| self.watched.iter().filter(|(_, passes_on)| *passes_on).find_map(|(e, _)| e.outcome()?.err()))
    }
}

impl Schedule {
    /// Creates the schedule of an empty queue.
    pub fn new(in_order: bool) -> Self {
        Self { in_order, order: PlainMutex::default() }
    }

    /// Adds an operation and calls `start`, which submits it: at once, or where it must be held, on the thread that
    /// completes its last dependency. `is_own` says whether the device can order after an event. `start` completes the
    /// event in every case (see [`Completer::refuse`]).
    ///
    /// The order by memory and by queue is only an order. A wait list means more: where one of its events fails, the
    /// operation fails and is not started.
    ///
    /// # Errors
    /// Those of `start`, where it was called at once.
    pub fn enqueue(
        &self,
        kind: OperationKind,
        uses: &[MemoryUse<'_>],
        wait: &[Event],
        is_own: impl Fn(&dyn DeviceEvent) -> bool,
        start: impl FnOnce(Start) -> Result<()> + Send + 'static,
    ) -> Result<Event> {
        let (completer, event) = Completer::new();
        let mut before = Vec::new();
        {
            let mut order = self.order.lock();
            let follows_all = kind == OperationKind::Barrier || (kind == OperationKind::Marker && wait.is_empty());
            order.enter(self.in_order, follows_all, &event, &mut before);
            if kind == OperationKind::Barrier {
                order.barrier = Some(event.clone());
            }
        }
        let mut after_default = false;
        for one in uses {
            after_default |= one.hazards.enter(&one.range, one.access, &event, &mut before);
        }
        let mut plan = Plan::default();
        before.iter().for_each(|e| plan.add(e, false, &is_own));
        wait.iter().for_each(|e| plan.add(e, true, &is_own));
        let host = std::mem::take(&mut plan.host);
        let go = move |failed: Option<Error>| match failed.or_else(|| plan.failure()) {
            Some(error) => {
                completer.complete(Err(not_started(&error)));
                Ok(())
            }
            None => {
                let before = plan.watched.into_iter().map(|(event, _)| event).collect();
                start(Start { completer, after: plan.device, before, after_default })
            }
        };
        if host.is_empty() {
            go(None)?;
        } else {
            // The event reports an error of `start`.
            after_all(&host, move |failed| drop(go(failed)));
        }
        Ok(event)
    }
}

fn not_started(error: &Error) -> Error {
    let reason = match error {
        Error::EventFailed { reason } => reason.clone(),
        other => format!("an operation that it waits for failed: {other}"),
    };
    Error::EventFailed { reason }
}

/// Calls `f` when all events are settled, with the first failure among those that pass it on.
fn after_all(events: &[(Event, bool)], f: impl FnOnce(Option<Error>) + Send + 'static) {
    struct Rest<F> {
        left: AtomicUsize,
        failed: OnceLock<Error>,
        f: PlainMutex<Option<F>>,
    }
    let rest =
        Arc::new(Rest { left: AtomicUsize::new(events.len()), failed: OnceLock::new(), f: PlainMutex::new(Some(f)) });
    for (event, passes_on) in events {
        let (rest, passes_on) = (rest.clone(), *passes_on);
        event.on_complete(move |outcome| {
            if let (Err(error), true) = (outcome, passes_on) {
                rest.failed.get_or_init(|| error.clone());
            }
            if rest.left.fetch_sub(1, Ordering::AcqRel) == 1 {
                let f = rest.f.lock().take();
                if let Some(f) = f {
                    f(rest.failed.get().cloned());
                }
            }
        });
    }
}
