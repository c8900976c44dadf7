//! Events: the program's own, callbacks, futures, markers.

use super::{Effect, World};
use crate::fuzz::{Turn, TurnResult, hold, payload};
use pixelferry::api::opencl::cl::{Event, Status, UserEvent};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Waker};

impl World<'_> {
    pub(super) fn user_event(&mut self, t: &mut Turn) -> TurnResult {
        if self.work.users.len() > 3 || t.one_in(3) {
            return self.settle(t);
        }
        t.op("cl: event of the program's", format_args!(""));
        let user = t.end_with(UserEvent::new(&self.base.context))?;
        if t.one_in(10) {
            t.op("cl: fail an event with no code", format_args!(""));
            let event = user.event().clone();
            let failed = user.fail(t.below(2) as i32);
            hold!(t.end(failed).is_err(), "0 or 1 was taken for the code of a failure");
            hold!(event.wait().is_err(), "an event that failed is complete");
            return Ok(());
        }
        self.work.users.push(user);
        Ok(())
    }

    pub(super) fn listen(&mut self, t: &mut Turn) -> TurnResult {
        let Some(event) = t.any(&self.work.events) else { return Ok(()) };
        let (told, panics) = (Arc::clone(&self.work.told), t.one_in(4).then(|| payload::kind(t)));
        let when = t.pick(&[Status::Queued, Status::Submitted, Status::Running, Status::Complete]);
        t.op("cl: call back", format_args!("{when:?}, panics: {panics:?}"));
        let registered = event.on(when, move |_, _| {
            told.fetch_add(1, Ordering::SeqCst);
            if let Some(kind) = panics {
                payload::go_off(kind);
            }
        });
        t.end(registered)?;
        self.to_tell.push(event);
        Ok(())
    }

    pub(super) fn ask(&mut self, t: &mut Turn) -> TurnResult {
        let Some(event) = t.any(&self.work.events) else { return Ok(()) };
        t.op("cl: status, type, profile, poll", format_args!(""));
        let asked = event.status().and(event.command_type().map(|_| ()));
        let profile = event.profile();
        if let Ok(p) = &profile {
            hold!(p.started <= p.ended, "{p:?} ended before it began");
        }
        let mut context = Context::from_waker(Waker::noop());
        let mut future = pin!(event.clone());
        for _ in 0..t.below(3) {
            let _ = Future::poll(future.as_mut(), &mut context);
        }
        t.end_with(asked)?;
        if t.one_in(8) {
            std::mem::forget(event);
        }
        if t.one_in(4) {
            self.settle(t)?;
            t.op("cl: wait for several", format_args!("{}", self.work.events.len()));
            let _ = t.end(Event::wait_all(&self.work.events));
        }
        Ok(())
    }

    pub(super) fn mark(&mut self, t: &mut Turn) -> TurnResult {
        let queue = self.queue(t);
        let wait = self.wait_list(t, &[]);
        let what = t.below(3);
        t.op("cl: marker, barrier, flush", format_args!("{what}"));
        let marked = match what {
            0 if !wait.is_empty() => queue.marker(&wait).map(Some),
            1 if !wait.is_empty() => queue.barrier(&wait).map(Some),
            _ => queue.flush().map(|()| None),
        };
        if let Some(event) = t.end(marked)? {
            self.taken(event, wait, &[], Effect::nothing());
        }
        Ok(())
    }
}
