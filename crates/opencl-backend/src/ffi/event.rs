//! Events: what becomes of a command, and events that the host completes.

use super::callback::{Callback, from_user_data, into_user_data};
use super::handle::{EventKind, Handle};
use super::may_fail::MayFail;
use super::query::array;
use super::{Context, Failure, Queue, check};
use cl3::error_codes::{CL_DEVICE_NOT_FOUND, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST};
use cl3::event as ev;
use interop_core::describe::panics::contain;
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How far a command is (OpenCL 3.0 API, 5.11, `CL_EVENT_COMMAND_EXECUTION_STATUS`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// In the queue: `CL_QUEUED`.
    Queued,
    /// Handed to the device: `CL_SUBMITTED`.
    Submitted,
    /// The device works on it: `CL_RUNNING`.
    Running,
    /// Done: `CL_COMPLETE`.
    Complete,
    /// Ended by an error with this code, which is negative (a `cl_int`).
    Failed(i32),
}

/// Codes from here down are no driver's: a user event was set to them, or what waited for it has got them from it (rusticl).
/// The first is that of a user event which was dropped; of one that was failed, the user's code follows, below it.
const OF_HOST: i32 = i32::MIN / 2;

/// The lowest code that [`UserEvent::fail`] can tell.
pub const LEAST_CODE: i32 = i32::MIN - OF_HOST + 1;

/// What commands that wait for a user event get when it is dropped before it was set.
const ABANDONED: i32 = -1;

/// Where a code came from a user event: the code that it was failed with, `None` where it was dropped.
pub fn of_user_event(code: i32) -> Option<Option<i32>> {
    (code <= OF_HOST).then(|| Some(code - OF_HOST).filter(|own| *own < 0))
}

impl Status {
    fn from_code(code: i32) -> Self {
        match code {
            ev::CL_COMPLETE => Self::Complete,
            ev::CL_RUNNING => Self::Running,
            ev::CL_SUBMITTED => Self::Submitted,
            code if code < 0 => Self::Failed(of_user_event(code).map_or(code, |own| own.unwrap_or(ABANDONED))),
            _ => Self::Queued,
        }
    }

    /// True where nothing more will happen: `CL_COMPLETE`, or an error.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Complete | Self::Failed(_))
    }

    /// The code for `clSetEventCallback`: errors are told as completion.
    const fn callback_type(self) -> i32 {
        match self {
            Self::Queued | Self::Submitted => ev::CL_SUBMITTED,
            Self::Running => ev::CL_RUNNING,
            Self::Complete | Self::Failed(_) => ev::CL_COMPLETE,
        }
    }
}

/// One command's event; clones are the same event.
#[derive(Clone)]
pub struct Event {
    handle: Arc<Handle<EventKind>>,
    /// How the command ended, by the driver's code, once that is known.
    ended: Arc<OnceLock<i32>>,
    /// Where the command is; none for user events.
    queue: Option<Queue>,
}

impl Event {
    /// # Safety
    /// An event in `result` must be live, and the caller hands over one reference to it.
    pub(super) unsafe fn own(
        operation: &'static str,
        result: Result<*mut c_void, i32>,
        queue: Option<&Queue>,
    ) -> Result<Self, Failure> {
        // SAFETY: the caller's promise.
        let handle = unsafe { Handle::own(operation, result) }?;
        Ok(Self::of(handle, queue.cloned()))
    }

    pub(super) fn of(handle: Handle<EventKind>, queue: Option<Queue>) -> Self {
        Self { handle: Arc::new(handle), ended: Arc::default(), queue }
    }

    pub fn raw(&self) -> *mut c_void {
        self.handle.raw()
    }

    pub fn references(&self) -> Result<u32, Failure> {
        self.handle.references()
    }

    /// The same event, which does not keep the queue.
    pub(super) fn alone(&self) -> Self {
        Self { handle: self.handle.clone(), ended: self.ended.clone(), queue: None }
    }

    /// The queue that the command is in; none for user events.
    pub fn queue(&self) -> Option<&Queue> {
        self.queue.as_ref()
    }

    /// Makes the device start on what is queued up to this command.
    pub fn flush(&self) -> Result<(), Failure> {
        self.queue.as_ref().map_or(Ok(()), Queue::flush)
    }

    /// How far the command is. Does not wait.
    pub fn status(&self) -> Result<Status, Failure> {
        self.code().map(Status::from_code)
    }

    /// The failure of the command, where it ended by one. Does not wait.
    pub fn ended_by(&self, operation: &'static str) -> Result<(), Failure> {
        let code = self.code()?;
        if code < 0 { Err(ended(operation, code)) } else { Ok(()) }
    }

    fn code(&self) -> Result<i32, Failure> {
        if let Some((_, code)) = TOLD.get().filter(|(event, _)| *event == self.raw().addr()) {
            return Ok(code);
        }
        if let Some(code) = self.ended.get() {
            return Ok(*code);
        }
        let mut code = self.info(ev::CL_EVENT_COMMAND_EXECUTION_STATUS).map(i32::from_ne_bytes)?;
        // Intel's CPU runtime (2026.22) calls a command complete that failed because of its wait list; its wait, which does
        // not block any more, tells.
        if code == ev::CL_COMPLETE
            && let Err(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) = ev::wait_for_events(&[self.raw()])
        {
            code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        }
        if Status::from_code(code).is_final() {
            let _ = self.ended.set(code);
        }
        Ok(code)
    }

    /// `CL_COMMAND_*`.
    pub fn command_type(&self) -> Result<u32, Failure> {
        self.info(ev::CL_EVENT_COMMAND_TYPE).map(u32::from_ne_bytes)
    }

    fn info<const N: usize>(&self, param: u32) -> Result<[u8; N], Failure> {
        array("clGetEventInfo", &self.handle.info(param)?)
    }

    /// Waits until the command is done. A command that failed gives its own code.
    pub fn wait(&self) -> Result<(), Failure> {
        const OP: &str = "clWaitForEvents";
        let waited = check(OP, ev::wait_for_events(&[self.raw()]));
        match (waited, self.code()) {
            // Some drivers report only by the status that a command has failed.
            (Ok(()) | Err(Failure { code: CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, .. }), Ok(code))
                if code < 0 =>
            {
                Err(ended(OP, code))
            }
            (waited, _) => waited,
        }
    }

    /// The same for a command that uses memory which the caller takes back: does not return while the driver may still
    /// use it, whatever the driver says of the wait itself.
    pub(super) fn wait_until_final(&self) -> Result<(), Failure> {
        let waited = self.wait();
        if waited.is_err() {
            while self.status().is_ok_and(|status| !status.is_final()) {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        waited
    }

    /// Nanoseconds of the device's clock; `param` is `CL_PROFILING_COMMAND_*`. An error on queues without profiling and
    /// before the command is complete.
    pub fn profile(&self, param: u32) -> Result<u64, Failure> {
        const OP: &str = "clGetEventProfilingInfo";
        array(OP, &check(OP, ev::get_event_profiling_data(self.raw(), param))?).map(u64::from_ne_bytes)
    }

    /// Lets the driver call `f` once when the command has got as far as `when` (not `Queued`), at once if it already
    /// has. `f` runs on a thread of the driver's, or on this one, and must not wait for anything. Commands that were
    /// not flushed never get there.
    pub fn set_callback(&self, when: Status, f: Callback<Status>) -> Result<(), Failure> {
        // Called here: for an event that has failed, PoCL 3.1 would tell that it is complete. (To ask in the callback is no
        // way: rusticl waits for itself.)
        if let Ok(code) = self.code()
            && Status::from_code(code).is_final()
        {
            tell(self.raw().addr(), code, f);
            return Ok(());
        }
        // Not the event itself: what was not flushed is flushed when its queue goes, which an event keeps.
        let event = self.raw().addr();
        let user_data = into_user_data::<i32>(Box::new(move |code| tell(event, code, f)));
        let set = ev::set_event_callback(self.raw(), when.callback_type(), call, user_data);
        check("clSetEventCallback", set).inspect_err(|_| {
            // SAFETY: the driver refused it, so that the closure is still ours.
            drop(unsafe { from_user_data::<i32>(user_data) });
        })
    }

    /// Keeps `storage` alive until the command is done, however long that takes. Does not wait.
    pub(super) fn keep<T: Send + Sync + 'static>(&self, storage: T) {
        if self.status().is_ok_and(Status::is_final) {
            return;
        }
        // Where the driver refuses the callback, it is `wait_until_final` that makes the storage free.
        let storage = Arc::new(storage);
        let kept = storage.clone();
        if self.set_callback(Status::Complete, Box::new(move |_| drop(kept))).is_err()
            && self.wait_until_final().is_err()
            && !self.status().is_ok_and(Status::is_final)
        {
            tracing::warn!("memory of a command whose end the driver does not tell is never freed");
            std::mem::forget(storage);
        }
    }
}

/// A command's failure. PoCL 3.1 ends what waited for a failed event with -1, which is no command's code.
fn ended(operation: &'static str, code: i32) -> Failure {
    let code = if code == CL_DEVICE_NOT_FOUND { CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST } else { code };
    Failure { operation, code }
}

thread_local! {
    /// The event whose callback this thread runs, and its code. Asked in the callback, rusticl 22.3 would wait for itself.
    static TOLD: Cell<Option<(usize, i32)>> = const { Cell::new(None) };
}

/// Calls `f` with what the driver has told of an event.
fn tell(event: usize, code: i32, f: Callback<Status>) {
    let before = TOLD.replace(Some((event, code)));
    contain("callback of an event", move || f(Status::from_code(code)));
    TOLD.set(before);
}

extern "C" fn call(_: *mut c_void, status: i32, user_data: *mut c_void) {
    // SAFETY: `set_callback` gave this address to the driver, which calls once for it.
    let f = unsafe { from_user_data::<i32>(user_data) };
    f(status);
}

/// An event that the host completes (`clCreateUserEvent`). Dropped before, it fails, so that nothing waits for ever.
pub struct UserEvent {
    event: Event,
    set: bool,
    may_fail: Arc<MayFail>,
}

impl UserEvent {
    pub fn new(context: &Context) -> Result<Self, Failure> {
        let raw = ev::create_user_event(context.raw());
        // SAFETY: an event that was just created, whose one reference is ours.
        let event = unsafe { Event::own("clCreateUserEvent", raw, None) }?;
        let may_fail = context.may_fail().clone();
        may_fail.begin();
        Ok(Self { event, set: false, may_fail })
    }

    pub fn event(&self) -> &Event {
        &self.event
    }

    pub fn complete(mut self) -> Result<(), Failure> {
        self.set = true;
        self.set_status(ev::CL_COMPLETE)
    }

    /// `code` is negative, and at least [`LEAST_CODE`].
    pub fn fail(mut self, code: i32) -> Result<(), Failure> {
        self.set = true;
        self.may_fail.settle();
        self.set_status(OF_HOST.saturating_add(code))
    }

    fn set_status(&self, code: i32) -> Result<(), Failure> {
        check("clSetUserEventStatus", ev::set_user_event_status(self.event.raw(), code))
    }
}

impl Drop for UserEvent {
    fn drop(&mut self) {
        if !self.set {
            self.may_fail.settle();
            if let Err(failure) = self.set_status(OF_HOST) {
                tracing::warn!(code = failure.code, "{} failed while a user event was dropped", failure.operation);
            }
        }
        self.may_fail.end();
    }
}

/// Calls `f` with the number of events and the address of their list; none is null.
pub(super) fn with_list<R>(wait: &[Event], f: impl FnOnce(u32, *const *mut c_void) -> R) -> R {
    let list: Vec<_> = wait.iter().map(Event::raw).collect();
    f(list.len() as u32, if list.is_empty() { ptr::null() } else { list.as_ptr() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_user_events_are_told_from_a_drivers() {
        for own in [-1, -5, -5000, LEAST_CODE] {
            let code = OF_HOST + own;
            assert_eq!((of_user_event(code), Status::from_code(code)), (Some(Some(own)), Status::Failed(own)));
        }
        assert_eq!(ended("x", -1).code, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        assert_eq!((of_user_event(OF_HOST), Status::from_code(OF_HOST)), (Some(None), Status::Failed(ABANDONED)));
        for code in [0, -1, -14, -9999] {
            assert_eq!(of_user_event(code), None);
        }
    }
}
