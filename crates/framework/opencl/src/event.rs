//! [`Event`]: status and times of a command.

use super::{Context, flags::InfoValue, flags::choices};
use crate::Queue;
use crate::ffi::Failure;
use crate::ffi::handle::{EventKind, Handle};
use crate::ffi::lone_event::LoneEvent;
use cl3::event as ev;
use interop_core::describe::PlainMutex;
use interop_core::{Error, Result, compute::Profile};
use std::ffi::c_void;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::ptr;
use std::sync::Arc;
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

/// Event of one command (OpenCL 3.0 API, 5.11). Cheap to clone; any thread may use it.
///
/// It is a future that is ready when the command has completed; dropping it has no effect on the command.
#[derive(Clone)]
pub struct Event {
    /// The part that does not involve the queue.
    pub(crate) lone: LoneEvent,
    /// The queue of the command; `None` for user events.
    queue: Option<Queue>,
    context: Context,
    waker: WaitTask,
}

/// The task that waits for an event. A clone of an event starts without one.
#[derive(Default)]
struct WaitTask(Option<Arc<PlainMutex<Option<Waker>>>>);

impl Clone for WaitTask {
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
        Self { lone: LoneEvent::new(handle), queue, context: context.clone(), waker: WaitTask(None) }
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Returns the command's queue (`CL_EVENT_COMMAND_QUEUE`); `None` for user events.
    pub fn queue(&self) -> Option<&Queue> {
        self.queue.as_ref()
    }

    /// Makes the device start the commands queued up to this one.
    pub(crate) fn flush(&self) -> Result<()> {
        self.queue.as_ref().map_or(Ok(()), Queue::flush)
    }

    /// Blocks until the driver no longer uses the command's memory (`clWaitForEvents`), even if the wait itself fails.
    ///
    /// # Errors
    /// Those of [`Event::wait`], after the command's end.
    pub fn wait_until_final(&self) -> Result<()> {
        self.lone.wait_until_final().map_err(|f| self.error(f))
    }

    /// Returns a time of the command; `param` is `CL_PROFILING_COMMAND_*`.
    pub(crate) fn time(&self, param: u32) -> Result<u64> {
        self.lone.profile(param).map_err(|f| self.error(f))
    }

    fn error(&self, failure: Failure) -> Error {
        self.context.error(failure)
    }

    /// Returns the status of the command (`clGetEventInfo`). Does not wait.
    pub fn status(&self) -> Result<Status> {
        self.lone.status().map_err(|f| self.error(f))
    }

    /// Returns the type of the command (`CL_EVENT_COMMAND_TYPE`); `None` for commands that this crate does not enqueue.
    pub fn command_type(&self) -> Result<Option<CommandType>> {
        self.lone.command_type().map(CommandType::from_code).map_err(|f| self.error(f))
    }

    /// Blocks until the command has completed (`clWaitForEvents`).
    ///
    /// # Errors
    /// The command's own error, if it failed.
    pub fn wait(&self) -> Result<()> {
        self.lone.wait().map_err(|f| self.error(f))
    }

    /// Blocks until all have completed (`clWaitForEvents` for each). Returns the first error.
    pub fn wait_all(events: &[Self]) -> Result<()> {
        // Waits for every event, even after an error.
        events.iter().map(Self::wait).fold(Ok(()), Result::and)
    }

    /// Returns the command's times in nanoseconds of the device's own clock, as the driver reports them
    /// (`clGetEventProfilingInfo`): rusticl (Mesa 22.3) reports 2 and 3 ns for every command.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the queue does not profile; [`Error::Driver`] where the command has not completed.
    pub fn profile(&self) -> Result<Profile> {
        if !self.queue.as_ref().is_some_and(Queue::is_profiling) {
            // Some drivers would return arbitrary numbers.
            let problem = "the event's queue does not profile; create it with QueueOptions::profiling";
            return Err(Error::invalid("clGetEventProfilingInfo", problem));
        }
        Ok(Profile {
            queued: self.time(ev::CL_PROFILING_COMMAND_QUEUED)?,
            submitted: self.time(ev::CL_PROFILING_COMMAND_SUBMIT)?,
            started: self.time(ev::CL_PROFILING_COMMAND_START)?,
            ended: self.time(ev::CL_PROFILING_COMMAND_END)?,
        })
    }

    /// Calls `f` once with this event when the command has reached `when`, or failed (`clSetEventCallback`). The event
    /// lives until `f` has returned, even if the program has dropped it.
    ///
    /// `f` runs on a thread of the driver, or on this one, and must return quickly. It must not wait for events, finish
    /// a queue or map. [`Event::status`] of its argument works without the driver. A panic in it is logged.
    ///
    /// The event's queue is flushed (`clFlush`), so that `f` is called without further calls.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for [`Status::Queued`], which is always reached.
    pub fn on(&self, when: Status, f: impl FnOnce(&Self, Status) + Send + 'static) -> Result<()> {
        if when == Status::Queued {
            return Err(Error::invalid("clSetEventCallback", "use Submitted, Running or Complete"));
        }
        let event = self.clone();
        let call = Box::new(move |status| f(&event, status));
        self.lone.set_callback(when, call).map_err(|f| self.error(f))?;
        // The callback keeps the event, and that its queue, which would otherwise be flushed on its drop.
        self.flush()
    }

    /// Calls `f` once with this event when the command has completed (`clSetEventCallback`, `CL_COMPLETE`); see
    /// [`Event::on`].
    pub fn on_complete(&self, f: impl FnOnce(&Self, Status) + Send + 'static) -> Result<()> {
        self.on(Status::Complete, f)
    }

    /// Returns the result of the command.
    fn result(&self) -> Result<()> {
        self.lone.ended_by("a command that an event stands for").map_err(|f| self.error(f))
    }
}

/// Calls `f` with the number of events and the address of their list, which is null if it is empty.
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
            *slot.lock() = Some(cx.waker().clone());
        } else {
            let slot = Arc::new(PlainMutex::new(Some(cx.waker().clone())));
            let told = slot.clone();
            let wake = Box::new(move |_| {
                let waker = told.lock().take();
                if let Some(waker) = waker {
                    waker.wake();
                }
            });
            self.lone.set_callback(Status::Complete, wake).map_err(|f| self.error(f))?;
            self.waker.0 = Some(slot);
            // Commands that are not flushed never complete.
            self.flush()?;
        }
        // It may have ended before the new waker was stored.
        let status = self.status()?;
        if status.is_final() { Poll::Ready(self.result()) } else { Poll::Pending }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Event({:?})", self.lone.status().map_err(|f| f.code))
    }
}
