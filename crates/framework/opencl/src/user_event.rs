//! [`UserEvent`]: events that the host completes.

use crate::ffi::check;
use crate::ffi::may_fail::MayFail;
use crate::ffi::status::{LEAST_CODE, OF_HOST};
use crate::{Context, Event};
use cl3::event as ev;
use interop_core::{Error, Result};

/// An event that the host completes (OpenCL 3.0 API, 5.11; `clCreateUserEvent`).
///
/// If it is dropped before it was set, it fails, and so do the commands that wait for it: nothing waits forever. The
/// error is [`Error::EventFailed`] and states the reason; [`Event::status`] has the code -1.
pub struct UserEvent {
    event: Event,
    set: bool,
}

impl UserEvent {
    /// Creates an event that is not complete (`clCreateUserEvent`).
    pub fn new(context: &Context) -> Result<Self> {
        let raw = ev::create_user_event(context.raw());
        // SAFETY: an event that was just created, whose one reference is ours.
        let event = unsafe { Event::own(context, "clCreateUserEvent", raw, None) }?;
        context.may_fail().begin();
        Ok(Self { event, set: false })
    }

    /// Returns its `cl_event`, for wait lists.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// Completes the event, so that the commands that wait for it continue (`clSetUserEventStatus`).
    pub fn complete(mut self) -> Result<()> {
        self.set = true;
        self.set_status(ev::CL_COMPLETE)
    }

    /// Makes the commands that wait for it fail (`clSetUserEventStatus` with a negative code). The `cl_event` itself
    /// has a lower code, which no driver uses, and by which errors recognise a user event's failure.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a code that is not negative, or too low; the event then fails when it is dropped.
    pub fn fail(mut self, code: i32) -> Result<()> {
        if !(LEAST_CODE..0).contains(&code) {
            let problem = format!("{code} is not a code from {} to -1", LEAST_CODE);
            return Err(Error::invalid("clSetUserEventStatus", problem));
        }
        self.set = true;
        self.may_fail().settle();
        self.set_status(OF_HOST.saturating_add(code))
    }

    fn may_fail(&self) -> &MayFail {
        self.event.context().may_fail()
    }

    fn set_status(&self, code: i32) -> Result<()> {
        let set = ev::set_user_event_status(self.event.raw(), code);
        check("clSetUserEventStatus", set).map_err(|f| self.event.context().error(f))
    }
}

impl Drop for UserEvent {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        if !self.set {
            self.may_fail().settle();
            if let Err(error) = self.set_status(OF_HOST) {
                tracing::warn!(%error, "a dropped user event could not be set to an error");
            }
        }
        self.may_fail().end();
    }
}
