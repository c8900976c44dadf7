//! [`Event`] and [`UserEvent`].

use super::{Context, flags::InfoValue, flags::choices};
use crate::ffi;
use cl3::event as ev;
use interop_core::{Error, Result};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

pub use crate::ffi::Status;

choices! {
    /// Type of an event's command (`cl_command_type`).
    CommandType {
        /// A kernel.
        NdRangeKernel = ev::CL_COMMAND_NDRANGE_KERNEL;
        /// A kernel of one work item.
        Task = ev::CL_COMMAND_TASK;
        /// A host closure.
        NativeKernel = ev::CL_COMMAND_NATIVE_KERNEL;
        /// A read.
        ReadBuffer = ev::CL_COMMAND_READ_BUFFER;
        /// A write.
        WriteBuffer = ev::CL_COMMAND_WRITE_BUFFER;
        /// A copy.
        CopyBuffer = ev::CL_COMMAND_COPY_BUFFER;
        /// A read of an image.
        ReadImage = ev::CL_COMMAND_READ_IMAGE;
        /// A write of an image.
        WriteImage = ev::CL_COMMAND_WRITE_IMAGE;
        /// A copy between images.
        CopyImage = ev::CL_COMMAND_COPY_IMAGE;
        /// A copy from a buffer.
        CopyBufferToImage = ev::CL_COMMAND_COPY_BUFFER_TO_IMAGE;
        /// A copy to a buffer.
        CopyImageToBuffer = ev::CL_COMMAND_COPY_IMAGE_TO_BUFFER;
        /// A map.
        MapBuffer = ev::CL_COMMAND_MAP_BUFFER;
        /// A map of an image.
        MapImage = ev::CL_COMMAND_MAP_IMAGE;
        /// The end of a map.
        Unmap = ev::CL_COMMAND_UNMAP_MEM_OBJECT;
        /// A marker.
        Marker = ev::CL_COMMAND_MARKER;
        /// A read of a box.
        ReadBufferRect = ev::CL_COMMAND_READ_BUFFER_RECT;
        /// A write of a box.
        WriteBufferRect = ev::CL_COMMAND_WRITE_BUFFER_RECT;
        /// A copy of a box.
        CopyBufferRect = ev::CL_COMMAND_COPY_BUFFER_RECT;
        /// Set by the host.
        User = ev::CL_COMMAND_USER;
        /// A barrier.
        Barrier = ev::CL_COMMAND_BARRIER;
        /// A migration.
        Migrate = ev::CL_COMMAND_MIGRATE_MEM_OBJECTS;
        /// A fill.
        FillBuffer = ev::CL_COMMAND_FILL_BUFFER;
        /// A fill of an image.
        FillImage = ev::CL_COMMAND_FILL_IMAGE;
    }
}

/// Times of a command, in nanoseconds of the device's clock (`clGetEventProfilingInfo`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// It was enqueued: `CL_PROFILING_COMMAND_QUEUED`.
    pub queued: u64,
    /// It was handed to the device: `CL_PROFILING_COMMAND_SUBMIT`.
    pub submitted: u64,
    /// It began: `CL_PROFILING_COMMAND_START`.
    pub started: u64,
    /// It was done: `CL_PROFILING_COMMAND_END`.
    pub ended: u64,
}

/// Event of one command (OpenCL 3.0 API, 5.11). Cheap to clone; any thread may use it.
///
/// It is a future, ready when the command is done; to drop it before changes nothing for the command.
#[derive(Clone)]
pub struct Event {
    pub(crate) raw: ffi::Event,
    pub(crate) context: Context,
    waker: Waiting,
}

/// The task that waits for an event. A clone of an event has none.
#[derive(Default)]
struct Waiting(Option<Arc<Mutex<Option<Waker>>>>);

impl Clone for Waiting {
    fn clone(&self) -> Self {
        Self(None)
    }
}

impl Event {
    pub(crate) fn of(raw: ffi::Event, context: &Context) -> Self {
        Self { raw, context: context.clone(), waker: Waiting(None) }
    }

    /// Tells how far the command is (`clGetEventInfo`). Does not wait.
    pub fn status(&self) -> Result<Status> {
        self.raw.status().map_err(|f| self.context.error(f))
    }

    /// Returns what the command does (`CL_EVENT_COMMAND_TYPE`); `None` for commands that this crate does not enqueue.
    pub fn command_type(&self) -> Result<Option<CommandType>> {
        self.raw.command_type().map(CommandType::from_code).map_err(|f| self.context.error(f))
    }

    /// Blocks until the command is done (`clWaitForEvents`).
    ///
    /// # Errors
    /// With the command's own code where it failed.
    pub fn wait(&self) -> Result<()> {
        self.raw.wait().map_err(|f| self.context.error(f))
    }

    /// Blocks until all are done (`clWaitForEvents` for each); the first failure, if any.
    pub fn wait_all(events: &[Self]) -> Result<()> {
        // Every one is waited for, also after a failure.
        events.iter().map(Self::wait).fold(Ok(()), Result::and)
    }

    /// Tells when it ran, as the driver says (`clGetEventProfilingInfo`): rusticl (Mesa 22.3) says 2 and 3 ns for every
    /// command.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the queue does not profile, [`Error::Driver`] where the command is not done.
    pub fn profile(&self) -> Result<Profile> {
        if !self.raw.queue().is_some_and(|queue| queue.properties().profiling) {
            // Asked nonetheless, some drivers answer with any number.
            let problem = "the event is of no queue that profiles; make one with QueueOptions::profiling";
            return Err(Error::invalid("clGetEventProfilingInfo", problem));
        }
        let time = |param| self.raw.profile(param).map_err(|f| self.context.error(f));
        Ok(Profile {
            queued: time(ev::CL_PROFILING_COMMAND_QUEUED)?,
            submitted: time(ev::CL_PROFILING_COMMAND_SUBMIT)?,
            started: time(ev::CL_PROFILING_COMMAND_START)?,
            ended: time(ev::CL_PROFILING_COMMAND_END)?,
        })
    }

    /// Calls `f` once with this event when the command has got as far as `when`, or failed (`clSetEventCallback`). The event
    /// lives until `f` has returned, also where the program has dropped it.
    ///
    /// `f` runs on a thread of the driver's, or on this one, and must be quick. It must not wait for events, finish a
    /// queue or map. [`Event::status`] of the event that it is given answers without the driver. A panic in it is
    /// logged.
    ///
    /// The event's queue is flushed (`clFlush`), so that `f` is called without more calls.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for [`Status::Queued`], which is always reached.
    pub fn on(&self, when: Status, f: impl FnOnce(&Self, Status) + Send + 'static) -> Result<()> {
        if when == Status::Queued {
            return Err(Error::invalid("clSetEventCallback", "take Submitted, Running or Complete"));
        }
        let event = self.clone();
        let call = Box::new(move |status| f(&event, status));
        self.raw.set_callback(when, call).map_err(|f| self.context.error(f))?;
        // The callback keeps the event, and that its queue, which would else be flushed when it goes.
        self.raw.flush().map_err(|f| self.context.error(f))
    }

    /// Calls `f` once with this event when the command is done (`clSetEventCallback`, `CL_COMPLETE`); see [`Event::on`].
    pub fn on_complete(&self, f: impl FnOnce(&Self, Status) + Send + 'static) -> Result<()> {
        self.on(Status::Complete, f)
    }

    /// Tells how the command ended.
    fn result(&self) -> Result<()> {
        self.raw.ended_by("a command that an event stands for").map_err(|f| self.context.error(f))
    }
}

impl Context {
    /// The events as the driver knows them.
    pub(crate) fn wait_list(&self, operation: &'static str, wait: &[Event]) -> Result<Vec<ffi::Event>> {
        wait.iter()
            .map(|event| self.check_same(&event.context, operation, "event").map(|()| event.raw.clone()))
            .collect()
    }
}

impl Future for Event {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let status = self.status()?;
        if status.is_final() {
            return Poll::Ready(self.result());
        }
        if let Some(slot) = &self.waker.0 {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(cx.waker().clone());
        } else {
            let slot = Arc::new(Mutex::new(Some(cx.waker().clone())));
            let told = slot.clone();
            let wake = Box::new(move |_| {
                let waker = told.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(waker) = waker {
                    waker.wake();
                }
            });
            self.raw.set_callback(Status::Complete, wake).map_err(|f| self.context.error(f))?;
            self.waker.0 = Some(slot);
            // Commands that nobody flushes are never done.
            self.raw.flush().map_err(|f| self.context.error(f))?;
        }
        // It may have ended before the new waker was in its place.
        let status = self.status()?;
        if status.is_final() { Poll::Ready(self.result()) } else { Poll::Pending }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event({:?})", self.raw.status().map_err(|f| f.code))
    }
}

/// An event that the host completes (OpenCL 3.0 API, 5.11; `clCreateUserEvent`).
///
/// Dropped before it was set, it fails, and so does what waits for it: nothing waits for ever. The error is
/// [`Error::EventFailed`] and says so; [`Event::status`] has the code -1.
pub struct UserEvent {
    raw: ffi::UserEvent,
    event: Event,
}

impl UserEvent {
    /// An event that is not complete (`clCreateUserEvent`).
    pub fn new(context: &Context) -> Result<Self> {
        let raw = ffi::UserEvent::new(&context.raw).map_err(|f| context.error(f))?;
        let event = Event::of(raw.event().clone(), context);
        Ok(Self { raw, event })
    }

    /// For wait lists: its `cl_event`.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// Lets the commands that wait for it go on (`clSetUserEventStatus`).
    pub fn complete(self) -> Result<()> {
        let Self { raw, event } = self;
        raw.complete().map_err(|f| event.context.error(f))
    }

    /// Fails the commands that wait for it (`clSetUserEventStatus` with a negative code). The `cl_event` itself has a
    /// lower code, which no driver uses, and which errors know a user event's failure by.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a code that is not negative, or too low; then it fails by its drop.
    pub fn fail(self, code: i32) -> Result<()> {
        if !(ffi::LEAST_CODE..0).contains(&code) {
            let problem = format!("{code} is not a code from {} to -1", ffi::LEAST_CODE);
            return Err(Error::invalid("clSetUserEventStatus", problem));
        }
        let Self { raw, event } = self;
        raw.fail(code).map_err(|f| event.context.error(f))
    }
}
