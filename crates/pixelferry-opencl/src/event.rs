//! [`Event`]: how far a command is, and when it ran.

use super::{Context, flags::InfoValue, flags::choices};
use crate::Queue;
use crate::ffi::Failure;
use crate::ffi::handle::{EventKind, Handle};
use crate::ffi::lone_event::LoneEvent;
use cl3::event as ev;
use interop_core::{Error, Result};
use std::ffi::c_void;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

use crate::ffi::Status;

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
    /// All that the queue has no part in.
    pub(crate) lone: LoneEvent,
    /// Queue that the command is in; none for user events.
    queue: Option<Queue>,
    context: Context,
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
    /// # Safety
    /// An event in `result` must be live, and the caller hands over one reference to it.
    pub(crate) unsafe fn own(
        context: &Context,
        operation: &'static str,
        result: Result<*mut c_void, i32>,
        queue: Option<&Queue>,
    ) -> Result<Self> {
        // SAFETY: the caller's promise.
        let handle = unsafe { Handle::own(operation, result) }.map_err(|f| context.error(f))?;
        Ok(Self::of(context, handle, queue.cloned()))
    }

    pub(crate) fn of(context: &Context, handle: Handle<EventKind>, queue: Option<Queue>) -> Self {
        Self { lone: LoneEvent::new(handle), queue, context: context.clone(), waker: Waiting(None) }
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// The queue that the command is in (`CL_EVENT_COMMAND_QUEUE`); none for user events.
    pub fn queue(&self) -> Option<&Queue> {
        self.queue.as_ref()
    }

    /// Makes the device start on what is queued up to this command.
    pub(crate) fn flush(&self) -> Result<()> {
        self.queue.as_ref().map_or(Ok(()), Queue::flush)
    }

    /// Blocks until the driver uses the command's memory no more (`clWaitForEvents`), whatever it says of the wait itself.
    ///
    /// # Errors
    /// Those of [`Event::wait`], after the command's end.
    pub fn wait_until_final(&self) -> Result<()> {
        self.lone.wait_until_final().map_err(|f| self.error(f))
    }

    /// A time of the command; `param` is `CL_PROFILING_COMMAND_*`.
    pub(crate) fn time(&self, param: u32) -> Result<u64> {
        self.lone.profile(param).map_err(|f| self.error(f))
    }

    fn error(&self, failure: Failure) -> Error {
        self.context.error(failure)
    }

    /// Tells how far the command is (`clGetEventInfo`). Does not wait.
    pub fn status(&self) -> Result<Status> {
        self.lone.status().map_err(|f| self.error(f))
    }

    /// Returns what the command does (`CL_EVENT_COMMAND_TYPE`); `None` for commands that this crate does not enqueue.
    pub fn command_type(&self) -> Result<Option<CommandType>> {
        self.lone.command_type().map(CommandType::from_code).map_err(|f| self.error(f))
    }

    /// Blocks until the command is done (`clWaitForEvents`).
    ///
    /// # Errors
    /// With the command's own code where it failed.
    pub fn wait(&self) -> Result<()> {
        self.lone.wait().map_err(|f| self.error(f))
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
        if !self.queue.as_ref().is_some_and(Queue::is_profiling) {
            // Asked nonetheless, some drivers answer with any number.
            let problem = "the event is of no queue that profiles; make one with QueueOptions::profiling";
            return Err(Error::invalid("clGetEventProfilingInfo", problem));
        }
        Ok(Profile {
            queued: self.time(ev::CL_PROFILING_COMMAND_QUEUED)?,
            submitted: self.time(ev::CL_PROFILING_COMMAND_SUBMIT)?,
            started: self.time(ev::CL_PROFILING_COMMAND_START)?,
            ended: self.time(ev::CL_PROFILING_COMMAND_END)?,
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
        self.lone.set_callback(when, call).map_err(|f| self.error(f))?;
        // The callback keeps the event, and that its queue, which would else be flushed when it goes.
        self.flush()
    }

    /// Calls `f` once with this event when the command is done (`clSetEventCallback`, `CL_COMPLETE`); see [`Event::on`].
    pub fn on_complete(&self, f: impl FnOnce(&Self, Status) + Send + 'static) -> Result<()> {
        self.on(Status::Complete, f)
    }

    /// Tells how the command ended.
    fn result(&self) -> Result<()> {
        self.lone.ended_by("a command that an event stands for").map_err(|f| self.error(f))
    }
}

/// Calls `f` with the number of events and the address of their list; none is null.
pub(crate) fn with_list<R>(wait: &[Event], f: impl FnOnce(u32, *const *mut c_void) -> R) -> R {
    let list: Vec<_> = wait.iter().map(Event::raw).collect();
    f(list.len() as u32, if list.is_empty() { ptr::null() } else { list.as_ptr() })
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
            self.lone.set_callback(Status::Complete, wake).map_err(|f| self.error(f))?;
            self.waker.0 = Some(slot);
            // Commands that nobody flushes are never done.
            self.flush()?;
        }
        // It may have ended before the new waker was in its place.
        let status = self.status()?;
        if status.is_final() { Poll::Ready(self.result()) } else { Poll::Pending }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event({:?})", self.lone.status().map_err(|f| f.code))
    }
}
