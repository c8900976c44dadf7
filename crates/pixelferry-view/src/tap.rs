//! A stream of another process: a thread of its own takes the newest frame, and makes what its taker needs of it.

use crate::error::ReadError;
use crate::wake::Wake;
use pixelferry::driver::describe::threads;
use pixelferry::stream::{Next, StreamFrame, Subscriber};
use pixelferry::{BackendChoice, open_backend};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Longest sleep of the thread before it looks whether anybody is left.
const TURN: Duration = Duration::from_millis(100);

/// A stream of which the newest frame is taken as a `T`, again and again; ends when it is dropped. While nobody publishes it, it waits
/// for a publisher, also for another one after the first has ended.
///
/// Frames are copied: the publisher is not waited for, and nothing of it is read later. No frame is made while the one before was not
/// taken.
///
/// Threads: any. [`Tap::first`] waits, and [`Tap::open`] does for a publisher that hangs, at most 2 s; nothing else.
pub struct Tap<T> {
    name: String,
    shared: Arc<Shared<T>>,
}

/// News of a stream since it was last asked.
pub struct Tapped<T> {
    /// A newer frame, or the reason why it cannot be shown.
    pub frame: Option<Result<T, ReadError>>,
    /// Words about the stream, where they are others than before; empty where all is well.
    pub said: Option<String>,
}

struct Shared<T> {
    slot: Mutex<Slot<T>>,
    changed: Condvar,
    wake: Wake,
}

struct Slot<T> {
    came: Tapped<T>,
    /// Last words, also where they were taken.
    last: String,
    is_over: bool,
}

impl<T> Shared<T> {
    fn slot(&self) -> MutexGuard<'_, Slot<T>> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Slot<T>)) {
        change(&mut self.slot());
        self.changed.notify_all();
        self.wake.call();
    }

    fn say(&self, said: &str) {
        if self.slot().last != said {
            self.change(|slot| {
                slot.last = said.to_owned();
                slot.came.said = Some(said.to_owned());
            });
        }
    }

    /// Waits, at most so long, until the last frame was taken. False where nobody is left to take one.
    fn is_wanted(&self, limit: Option<Duration>, also: bool) -> bool {
        let waits = |slot: &mut Slot<T>| !slot.is_over && (slot.came.frame.is_some() || also);
        let slot = match limit {
            None => self.changed.wait_while(self.slot(), waits).unwrap_or_else(PoisonError::into_inner),
            Some(limit) => {
                let waited = self.changed.wait_timeout_while(self.slot(), limit, waits);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        !slot.is_over
    }
}

impl<T: Send + 'static> Tap<T> {
    /// Attaches to the stream of this name, whether there is a publisher or not; `make` copies what is needed of a frame, on the thread.
    ///
    /// # Errors
    /// [`ReadError::Memory`] for a name that no stream can have or what is no publisher, and [`ReadError::File`] where the system
    /// has no thread.
    pub fn open(
        name: &str,
        make: impl Fn(&mut StreamFrame<'_>) -> Result<T, ReadError> + Send + 'static,
    ) -> Result<Self, ReadError> {
        let backend = open_backend(BackendChoice::Cpu, &[])?;
        let subscribe = {
            let name = name.to_owned();
            move || Subscriber::open(&name, &backend)
        };
        let came = Tapped { frame: None, said: None };
        let slot = Mutex::new(Slot { came, last: String::new(), is_over: false });
        let shared = Arc::new(Shared { slot, changed: Condvar::new(), wake: Wake::default() });
        match subscribe() {
            Err(error @ pixelferry::Error::InvalidInput { .. }) => return Err(error.into()),
            Err(error) => shared.say(&words(&error)),
            // That it is there is all that is asked; a subscriber stays on its thread.
            Ok(_) => {}
        }
        let takes = Arc::clone(&shared);
        threads::spawn("attached", move || take(subscribe, make, &takes))?;
        Ok(Self { name: name.to_owned(), shared })
    }
}

impl<T> Tap<T> {
    /// Name of the stream.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes what came. Does not wait.
    pub fn take(&self) -> Tapped<T> {
        let mut slot = self.shared.slot();
        let came = Tapped { frame: slot.came.frame.take(), said: slot.came.said.take() };
        drop(slot);
        self.shared.changed.notify_all();
        came
    }

    /// Waits, at most so long, for a frame, and takes the newest.
    ///
    /// # Errors
    /// [`ReadError::Stream`] where there is none in that time, with the reason; [`ReadError::Refused`] for a frame that is no picture.
    pub fn first(&self, limit: Duration) -> Result<T, ReadError> {
        let slot = self.shared.slot();
        let waited = self.shared.changed.wait_timeout_while(slot, limit, |slot| slot.came.frame.is_none());
        let mut slot = waited.unwrap_or_else(PoisonError::into_inner).0;
        let (frame, reason) = (slot.came.frame.take(), slot.last.clone());
        drop(slot);
        self.shared.changed.notify_all();
        frame.unwrap_or_else(|| Err(ReadError::Stream { name: self.name.clone(), reason }))
    }

    /// Calls this, from a thread of its own, after each change.
    pub(crate) fn wake_by(&self, wake: impl Fn() + Send + 'static) {
        self.shared.wake.by(wake);
        // Earlier changes are told of, too.
        self.shared.change(|_| {});
    }
}

impl<T> Drop for Tap<T> {
    fn drop(&mut self) {
        self.shared.slot().is_over = true;
        self.shared.changed.notify_all();
    }
}

/// Reason why there is no frame, in the few words that a window has room for.
fn words(error: &pixelferry::Error) -> String {
    match error {
        pixelferry::Error::Unavailable { reason, .. } => reason.clone(),
        other => other.to_string(),
    }
}

/// Takes frames of one publisher after the other, until nobody is left to see them.
fn take<T>(
    subscribe: impl Fn() -> pixelferry::Result<Subscriber>,
    make: impl Fn(&mut StreamFrame<'_>) -> Result<T, ReadError>,
    to: &Shared<T>,
) {
    // The words that a publisher has ended stay until there is a frame of another.
    let mut has_ended = false;
    loop {
        match subscribe() {
            Ok(mut subscriber) => {
                if !has_ended {
                    to.say("no frame yet");
                }
                while to.is_wanted(None, false) {
                    match subscriber.next(TURN) {
                        Ok(Next::Nothing) => {}
                        Ok(Next::Frame(mut frame)) => {
                            let made = make(&mut frame);
                            to.say("");
                            to.change(|slot| slot.came.frame = Some(made));
                        }
                        ended => {
                            to.say(&ended.map_or_else(|error| words(&error), |_| "its publisher has ended".into()));
                            has_ended = true;
                            break;
                        }
                    }
                }
            }
            Err(error) if !has_ended => to.say(&words(&error)),
            Err(_) => {}
        }
        // Sleeps, also where nobody takes what is there.
        if !to.is_wanted(Some(TURN), true) {
            return;
        }
    }
}
