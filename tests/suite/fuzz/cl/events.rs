//! Events: the program's own, callbacks, futures, markers.

use super::{Effect, World};
use crate::fuzz::{Checked, Log, Rng, hold, payload};
use pixelferry::api::opencl::cl::{Event, Status, UserEvent};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Waker};

impl World<'_> {
    pub(super) fn user_event(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        if self.users.len() > 3 || rng.one_in(3) {
            return self.settle(rng, log);
        }
        log.op("cl: event of the program's", format_args!(""));
        let user = log.end_with(UserEvent::new(&self.base.context))?;
        if rng.one_in(10) {
            log.op("cl: fail an event with no code", format_args!(""));
            let event = user.event().clone();
            hold!(log.end(user.fail(rng.below(2) as i32)).is_none(), "0 or 1 was taken for the code of a failure");
            hold!(event.wait().is_err(), "an event that failed is complete");
            return Ok(());
        }
        self.users.push(user);
        Ok(())
    }

    pub(super) fn listen(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let Some(event) = rng.any(&self.events) else { return Ok(()) };
        let (told, panics) = (Arc::clone(&self.told), rng.one_in(4).then(|| payload::kind(rng)));
        let when = rng.pick(&[Status::Queued, Status::Submitted, Status::Running, Status::Complete]);
        log.op("cl: call back", format_args!("{when:?}, panics: {panics:?}"));
        let registered = event.on(when, move |_, _| {
            told.fetch_add(1, Ordering::SeqCst);
            if let Some(kind) = panics {
                payload::go_off(kind);
            }
        });
        if log.end(registered).is_some() {
            self.to_tell.push(event);
        }
        Ok(())
    }

    pub(super) fn ask(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let Some(event) = rng.any(&self.events) else { return Ok(()) };
        log.op("cl: status, type, profile, poll", format_args!(""));
        let asked = event.status().and(event.command_type().map(|_| ()));
        let profile = event.profile();
        if let Ok(p) = &profile {
            hold!(p.started <= p.ended, "{p:?} ended before it began");
        }
        let mut context = Context::from_waker(Waker::noop());
        let mut future = pin!(event.clone());
        for _ in 0..rng.below(3) {
            let _ = Future::poll(future.as_mut(), &mut context);
        }
        log.end_with(asked)?;
        if rng.one_in(8) {
            std::mem::forget(event);
        }
        if rng.one_in(4) {
            self.settle(rng, log)?;
            log.op("cl: wait for several", format_args!("{}", self.events.len()));
            let _ = log.end(Event::wait_all(&self.events));
        }
        Ok(())
    }

    pub(super) fn mark(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let queue = self.queue(rng);
        let wait = self.wait_list(rng, &[]);
        let what = rng.below(3);
        log.op("cl: marker, barrier, flush", format_args!("{what}"));
        let marked = match what {
            0 if !wait.is_empty() => queue.marker(&wait).map(Some),
            1 if !wait.is_empty() => queue.barrier(&wait).map(Some),
            _ => queue.flush().map(|()| None),
        };
        if let Some(Some(event)) = log.end(marked) {
            self.taken(event, wait, &[], Effect::nothing());
        }
        Ok(())
    }
}
