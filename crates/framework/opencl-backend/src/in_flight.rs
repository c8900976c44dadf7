//! Commands in an in-order queue, and their times.

use crate::cl::{Buffer, Event, KeptArg, Kernel, NdRange, Queue, Status};
use interop_core::Result;
use interop_core::compute::{self, DeviceEvent, EventStatus, Piece, now};

/// A point in the device's work after which later work can be ordered.
pub struct DeviceFence {
    pub event: Event,
    /// Identifies the device and context: the address of state that its owners share.
    pub owner: usize,
}

impl DeviceFence {
    /// Returns the event in its own type, if it belongs to the same owner.
    pub fn of(event: &dyn DeviceEvent, owner: usize) -> Option<&Self> {
        event.downcast_ref::<Self>().filter(|fence| fence.owner == owner)
    }
}

impl DeviceEvent for DeviceFence {
    fn status(&self) -> EventStatus {
        match self.event.status() {
            // The waiting thread reports the end.
            Ok(Status::Running | Status::Complete | Status::Failed(_)) => EventStatus::Running,
            _ => EventStatus::Submitted,
        }
    }
}

/// A kernel with its argument values and work items.
pub struct Launch {
    pub kernel: Kernel,
    pub args: Vec<KeptArg>,
    pub range: NdRange,
}

pub type Command = compute::Command<Buffer, Launch>;

/// Queues the command.
///
/// # Safety
/// If this returns an event, the command must not be dropped, nor its host memory be used, before that event is final.
unsafe fn enqueue(command: &mut Command, queue: &Queue, wait: &[Event]) -> Result<Event> {
    match command {
        Command::Launch { launch, .. } => {
            let args: Vec<_> = launch.args.iter().map(KeptArg::arg).collect();
            queue.launch(&launch.kernel, &args, launch.range, wait)
        }
        Command::Read { from: Piece { block, range }, into, .. } => {
            let range = range.start..range.start + range.len().min(into.len());
            // SAFETY: the memory holds the range, and the command keeps it until the event is final.
            unsafe { queue.read_to(block, range, into.as_mut_ptr(), wait) }
        }
        Command::Write { from, to: Piece { block, range } } => {
            let range = range.start..range.start + range.len().min(from.len());
            // SAFETY: as for `Read`.
            unsafe { queue.write_at(block, range, from.as_ptr(), wait) }
        }
        Command::Copy { from, to } => {
            queue.copy((&from.block, from.range.start), (&to.block, to.range.start), from.range.len(), wait)
        }
        Command::Fill { to, pattern } => queue.fill_bytes(&to.block, pattern, to.range.clone(), wait),
        Command::Nothing => queue.marker(wait),
    }
}

/// A command in a queue. Dropping it before it has landed waits for the device.
pub struct InFlight {
    pub event: Event,
    /// `None` once it has landed.
    command: Option<Command>,
}

impl InFlight {
    /// Queues a command after events, and flushes the queue.
    pub fn begin(mut command: Command, queue: &Queue, after: &[Event]) -> Result<Self> {
        // SAFETY: the returned value keeps the command until the event is final.
        let event = unsafe { enqueue(&mut command, queue, after) }?;
        if let Err(error) = queue.flush() {
            tracing::debug!(%error, "cannot flush the queue; the wait reports failures");
        }
        Ok(Self { event, command: Some(command) })
    }

    /// Waits for the device to finish the command.
    pub fn land(mut self) -> (Result<()>, Event, Command) {
        let outcome = self.event.wait_until_final();
        (outcome, self.event.clone(), self.command.take().unwrap_or(Command::Nothing))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        if self.command.is_some()
            && let Err(error) = self.event.wait_until_final()
        {
            tracing::debug!(%error, "a dropped command failed");
        }
    }
}

/// Maps the device's clock to the host's.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    /// Host time minus device time, in nanoseconds.
    offset: i128,
}

/// Number of markers with which the clocks are compared.
const PROBES: usize = 4;

impl Clock {
    /// Compares the clocks with a queue that profiles. `None` where its events carry no times.
    pub fn new(queue: &Queue) -> Result<Option<Self>> {
        let mut best = None;
        for _ in 0..PROBES {
            let given = i128::from(now());
            let event = queue.marker(&[])?;
            queue.flush()?;
            event.wait()?;
            let Ok(times) = event.profile() else { return Ok(None) };
            if times.queued == 0 || times.ended < times.queued {
                return Ok(None);
            }
            // The driver reads its time after ours, so the largest difference is the most accurate.
            best = best.max(Some(given - i128::from(times.queued)));
        }
        Ok(best.map(|offset| Self { offset }))
    }

    pub fn span(self, event: &Event) -> Option<(u64, u64)> {
        let at = |time: u64| u64::try_from(i128::from(time) + self.offset).ok();
        let times = event.profile().ok()?;
        Some((at(times.started)?, at(times.ended)?))
    }
}
