//! The two queues of a session, and the times of their commands.
//!
//! Whether a queue takes times is settled when it is made (OpenCL 3.0 API, 5.1, `CL_QUEUE_PROFILING_ENABLE`), and what takes
//! times may be slower: a second queue is made where they are asked for.

use super::handle::{ContextKind, EventKind, Handle, QueueKind};
use super::query::array;
use super::{DeviceId, Failure, check};
use interop_core::timeline::Work;
use opencl3::command_queue::{self as q, CL_QUEUE_PROFILING_ENABLE};
use opencl3::event as e;
use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// An in-order queue, which another that takes times may stand in for.
pub struct Queues {
    plain: Handle<QueueKind>,
    timed: OnceLock<Handle<QueueKind>>,
    is_timed: AtomicBool,
}

impl Queues {
    pub fn new(context: &Handle<ContextKind>, device: DeviceId) -> Result<Self, Failure> {
        Ok(Self { plain: make(context, device, 0)?, timed: OnceLock::new(), is_timed: AtomicBool::new(false) })
    }

    /// The one in use.
    pub fn raw(&self) -> *mut c_void {
        match self.timed.get() {
            Some(timed) if self.is_timed.load(Ordering::Acquire) => timed.raw(),
            _ => self.plain.raw(),
        }
    }

    /// Commands queued from now on are timed, or not. What was queued before must be done.
    pub fn switch(&self, context: &Handle<ContextKind>, device: DeviceId, timed: bool) -> Result<(), Failure> {
        if timed && self.timed.get().is_none() {
            // Where two threads come here at once, one of the two goes again.
            let _ = self.timed.set(make(context, device, CL_QUEUE_PROFILING_ENABLE)?);
        }
        self.is_timed.store(timed, Ordering::Release);
        Ok(())
    }
}

fn make(context: &Handle<ContextKind>, device: DeviceId, properties: u64) -> Result<Handle<QueueKind>, Failure> {
    // The older function, which every driver has; drivers for 1.2 lack the one with properties, and some loaders
    // jump to it nonetheless.
    // SAFETY: the device belongs to the context.
    #[allow(deprecated)]
    let queue = unsafe { q::create_command_queue(context.raw(), device.0, properties) };
    // SAFETY: a queue that was just created, whose one reference is ours.
    unsafe { Handle::own("clCreateCommandQueue", queue) }
}

/// A command of a queue that takes times.
pub struct TimedCommand {
    pub work: Work,
    event: Handle<EventKind>,
}

impl TimedCommand {
    /// A marker after all that is queued.
    pub fn marker(queues: &Queues) -> Result<Self, Failure> {
        // SAFETY: the queue is live; the event was just created and its one reference is ours.
        let event = unsafe {
            let event = q::enqueue_marker_with_wait_list(queues.raw(), 0, ptr::null());
            Handle::own("clEnqueueMarkerWithWaitList", event)
        }?;
        Ok(Self { work: Work::new("marker"), event })
    }

    /// Waits until it is done.
    pub fn wait(&self) -> Result<(), Failure> {
        check("clWaitForEvents", e::wait_for_events(&[self.event.raw()]))
    }

    /// Whether it is done, well or not.
    pub fn is_done(&self) -> Result<bool, Failure> {
        const OP: &str = "clGetEventInfo";
        let status = check(OP, e::get_event_data(self.event.raw(), e::CL_EVENT_COMMAND_EXECUTION_STATUS))?;
        array(OP, &status).map(|status| i32::from_ne_bytes(status) <= e::CL_COMPLETE)
    }

    /// When the device began and ended it, nanoseconds of its own clock. Only for commands that are done.
    pub fn times(&self) -> Result<(u64, u64), Failure> {
        const OP: &str = "clGetEventProfilingInfo";
        let time = |param| array(OP, &check(OP, e::get_event_profiling_data(self.event.raw(), param))?);
        let time = |param| time(param).map(u64::from_ne_bytes);
        Ok((time(e::CL_PROFILING_COMMAND_START)?, time(e::CL_PROFILING_COMMAND_END)?))
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

/// To be told of every command: keeps its event where somebody collects, else gives it up.
pub(super) fn queued(operation: &'static str, event: Handle<EventKind>) {
    COLLECTED.with_borrow_mut(|collected| {
        if let Some(Collected { kernel, since, commands }) = collected {
            let mut work = match operation {
                "clEnqueueNDRangeKernel" => Work::new(kernel.clone()),
                other => Work::new(other.strip_prefix("clEnqueue").unwrap_or(other)),
            };
            // The device may have begun before the driver gave the event.
            std::mem::swap(&mut work.queued, since);
            commands.push(TimedCommand { work, event });
        }
    });
}
