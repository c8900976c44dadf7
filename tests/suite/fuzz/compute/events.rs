//! Events: asked, awaited, called back, cloned, dropped, forgotten, on any thread.

use super::World;
use crate::fuzz::{Turn, TurnResult, hold, payload};
use pixelferry::{Event, EventStatus, UserEvent};
use proptest::test_runner::TestCaseError;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Wake, Waker};

/// Wakes nobody, or panics.
struct Alarm(Option<usize>);

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        if let Some(kind) = self.0 {
            payload::go_off(kind);
        }
    }
}

impl World<'_> {
    pub(super) fn user_event(&mut self, t: &mut Turn) -> TurnResult {
        match t.below(6) {
            0 => self.settle_users(t),
            1 if !self.work.users.is_empty() => {
                let user = t.take(&mut self.work.users);
                t.did("event: completed by another thread", format_args!(""));
                std::thread::spawn(move || user.complete());
            }
            2 => {
                // Another owner of what panics: dropped while its thread unwinds.
                let user = UserEvent::new();
                let (event, kind) = (user.event(), payload::kind(t));
                self.listen_to(&event, t);
                t.did("event: dropped by a panic", format_args!("{kind}"));
                let ended = std::thread::spawn(move || {
                    let _user = user;
                    payload::go_off(kind);
                });
                let Err(payload) = ended.join();
                // Its drop may panic.
                std::mem::forget(payload);
                hold!(event.wait().is_err(), "an event that was dropped is complete");
            }
            _ if self.work.users.len() < 4 => {
                t.did("event: of the program's", format_args!(""));
                self.work.users.push(UserEvent::new());
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn ask(&mut self, t: &mut Turn) -> TurnResult {
        let Some(event) = t.any(&self.work.events) else { return Ok(()) };
        t.did("event: status, outcome, profile, poll", format_args!(""));
        let (status, settled) = (event.status(), event.is_settled());
        if matches!(status, EventStatus::Complete | EventStatus::Failed) {
            let outcome = event.outcome().ok_or_else(|| TestCaseError::fail(format!("{status:?}, and no outcome")))?;
            hold!(settled, "{status:?}, and not settled");
            hold!(outcome.is_ok() == (status == EventStatus::Complete), "{status:?} with {outcome:?}");
        }
        if let Some(p) = event.profile() {
            let ordered = p.queued <= p.submitted && p.submitted <= p.started && p.started <= p.ended;
            hold!(ordered, "the times {p:?} are not in order");
        }
        let panics = t.one_in(3).then(|| payload::kind(t));
        let waker = Waker::from(Arc::new(Alarm(panics)));
        let mut context = Context::from_waker(&waker);
        let mut other = pin!(event.clone());
        for _ in 0..t.below(3) {
            if let Poll::Ready(outcome) = Future::poll(other.as_mut(), &mut context) {
                hold!(event.is_settled(), "ready with {outcome:?}, and not settled");
            }
        }
        if t.one_in(12) {
            std::mem::forget(event);
        }
        Ok(())
    }

    pub(super) fn listen(&mut self, t: &mut Turn) -> TurnResult {
        if let Some(event) = t.any(&self.work.events) {
            self.listen_to(&event, t);
        }
        Ok(())
    }

    fn listen_to(&mut self, event: &Event, t: &mut Turn) {
        let (told, panics) = (Arc::clone(&self.work.told), t.one_in(4).then(|| payload::kind(t)));
        // The callback may own the last of its kind.
        let mut owned = Some((self.work.users.pop().filter(|_| t.one_in(2)), event.clone()));
        if let Some((user, _)) = &mut owned
            && let Some(user) = user.take_if(|_| t.one_in(2))
        {
            self.work.users.push(user);
        }
        self.to_tell += 1;
        t.did("event: call back", format_args!("panics: {panics:?}"));
        event.on_complete(move |_| {
            told.fetch_add(1, Ordering::SeqCst);
            drop(owned);
            if let Some(kind) = panics {
                payload::go_off(kind);
            }
        });
    }
}
