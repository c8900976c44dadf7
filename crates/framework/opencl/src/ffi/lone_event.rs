//! [`LoneEvent`]: what becomes of a command, wherever its queue is.

use super::callback::{Callback, from_user_data, into_user_data};
use super::handle::{EventKind, Handle};
use super::query::array;
use super::{Failure, Status, check};
use cl3::error_codes::{CL_DEVICE_NOT_FOUND, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST};
use cl3::event as ev;
use interop_core::describe::panics::contain;
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// One command's event, which does not keep the queue; clones are the same event.
#[derive(Clone)]
pub struct LoneEvent {
    handle: Arc<Handle<EventKind>>,
    /// Driver's code with which the command ended, once that is known.
    ended: Arc<OnceLock<i32>>,
}

impl LoneEvent {
    pub fn new(handle: Handle<EventKind>) -> Self {
        Self { handle: Arc::new(handle), ended: Arc::default() }
    }

    pub fn raw(&self) -> *mut c_void {
        self.handle.raw()
    }

    pub fn references(&self) -> Result<u32, Failure> {
        self.handle.references()
    }

    /// Tells how far the command is. Does not wait.
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
        const CALL: &str = "clWaitForEvents";
        let waited = check(CALL, ev::wait_for_events(&[self.raw()]));
        match (waited, self.code()) {
            // Some drivers report only by the status that a command has failed.
            (Ok(()) | Err(Failure { code: CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, .. }), Ok(code))
                if code < 0 =>
            {
                Err(ended(CALL, code))
            }
            (waited, _) => waited,
        }
    }

    /// Waits until a command is done whose memory the caller takes back. It does not return while the driver may still
    /// use the memory, whatever the driver says of the wait itself.
    pub(crate) fn wait_until_final(&self) -> Result<(), Failure> {
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
        const CALL: &str = "clGetEventProfilingInfo";
        array(CALL, &check(CALL, ev::get_event_profiling_data(self.raw(), param))?).map(u64::from_ne_bytes)
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
    pub(crate) fn keep<T: Send + Sync + 'static>(&self, storage: T) {
        if self.status().is_ok_and(Status::is_final) {
            return;
        }
        // If the driver refuses the callback, `wait_until_final` makes the storage free.
        let storage = Arc::new(storage);
        let kept = storage.clone();
        if self.set_callback(Status::Complete, Box::new(move |_| drop(kept))).is_err()
            && self.wait_until_final().is_err()
            && !self.status().is_ok_and(Status::is_final)
        {
            tracing::warn!("the driver does not report the end of a command; its memory is never freed");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waited_for_a_failed_event_has_no_code_of_a_command() {
        assert_eq!(ended("x", -1).code, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        assert_eq!(ended("x", -5).code, -5);
    }
}
