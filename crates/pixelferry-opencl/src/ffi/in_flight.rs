//! Commands on their way through an in-order queue, and the times of them.

use super::command::{Command, Launch, enqueue};
use super::{LaunchFailure, Status};
use crate::{Event, Queue};
use cl3::event as ev;
use interop_core::Result;
use interop_core::compute::{DeviceEvent, EventStatus, now};

/// Point in the device's work that later work can be ordered after.
pub struct DeviceFence {
    pub event: Event,
    /// Identifies the device and context: the address of state that its owners share.
    pub owner: usize,
}

impl DeviceFence {
    /// The event's own type again, of the same owner.
    pub fn of(event: &dyn DeviceEvent, owner: usize) -> Option<&Self> {
        event.downcast_ref::<Self>().filter(|fence| fence.owner == owner)
    }
}

impl DeviceEvent for DeviceFence {
    fn status(&self) -> EventStatus {
        match self.event.status() {
            // The end is reported by the thread.
            Ok(Status::Running | Status::Complete | Status::Failed(_)) => EventStatus::Running,
            _ => EventStatus::Submitted,
        }
    }
}

/// A command in a queue. Waits for the device where it is dropped before it landed.
pub struct InFlight<L> {
    pub event: Event,
    /// `None` once it has landed.
    command: Option<Command<L>>,
}

impl<L: AsRef<Launch>> InFlight<L> {
    /// Queues a command after events, and flushes.
    pub fn begin(
        mut command: Command<L>,
        queue: &Queue,
        after: &[Event],
    ) -> Result<Self, Box<(Command<L>, LaunchFailure)>> {
        // SAFETY: this keeps the command until the event is final.
        let event = match unsafe { enqueue(&mut command, queue, after) } {
            Ok(event) => event,
            Err(failure) => return Err(Box::new((command, failure))),
        };
        if let Err(error) = queue.flush() {
            tracing::debug!(%error, "the wait will tell");
        }
        Ok(Self { event, command: Some(command) })
    }
}

impl<L> InFlight<L> {
    /// Waits for the device.
    pub fn land(mut self) -> (Result<()>, Event, Command<L>) {
        let outcome = self.event.wait_until_final();
        (outcome, self.event.clone(), self.command.take().unwrap_or(Command::Nothing))
    }
}

impl<L> Drop for InFlight<L> {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        if self.command.is_some()
            && let Err(error) = self.event.wait_until_final()
        {
            tracing::debug!(%error, "a command that nobody waits for failed");
        }
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
    pub fn new(queue: &Queue) -> Result<Option<Self>> {
        let mut best = None;
        for _ in 0..PROBES {
            let given = i128::from(now());
            let event = queue.marker(&[])?;
            queue.flush()?;
            event.wait()?;
            let times = [ev::CL_PROFILING_COMMAND_QUEUED, ev::CL_PROFILING_COMMAND_END].map(|p| event.time(p));
            let [Ok(queued), Ok(ended)] = times else { return Ok(None) };
            if queued == 0 || ended < queued {
                return Ok(None);
            }
            // The driver takes its time after ours, so the largest difference is the closest.
            best = best.max(Some(given - i128::from(queued)));
        }
        Ok(best.map(|offset| Self { offset }))
    }

    pub fn span(self, event: &Event) -> Option<(u64, u64)> {
        let at = |param| u64::try_from(i128::from(event.time(param).ok()?) + self.offset).ok();
        Some((at(ev::CL_PROFILING_COMMAND_START)?, at(ev::CL_PROFILING_COMMAND_END)?))
    }
}
