//! [`UserEvent`]: events that the host completes.

use super::may_fail::MayFail;
use super::status::OF_HOST;
use super::{Context, Event, Failure, check};
use cl3::event as ev;
use std::sync::Arc;

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

    /// `code` is negative, and at least [`super::LEAST_CODE`].
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
