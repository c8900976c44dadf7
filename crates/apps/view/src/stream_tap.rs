//! Takes the newest frame of another process's stream on a thread of its own, and converts it for its user.

use crate::error::ReadError;
use crate::wake::Wake;
use pixelferry::driver::describe::threads;
use pixelferry::stream::{NextFrame, StreamFrame, Subscriber};
use pixelferry::{BackendChoice, open_backend};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Longest sleep of the thread before it checks whether the tap was dropped.
const TURN: Duration = Duration::from_millis(100);

/// Repeatedly takes the newest frame of a stream as a `T`; dropping it ends that. While the stream has no publisher, it
/// waits for one, also after a publisher has ended.
///
/// Frames are copied, so the publisher never waits and its memory is not read later. No frame is made before the
/// previous one was taken.
///
/// Threads: any. [`StreamTap::first`] waits, and [`StreamTap::open`] waits at most 2 s for a publisher that hangs; other calls
/// return at once.
pub struct StreamTap<T> {
    name: String,
    shared: Arc<TapState<T>>,
}

/// Changes of a stream since the last call.
pub struct StreamNews<T> {
    /// A newer frame, or the reason why it cannot be shown.
    pub frame: Option<Result<T, ReadError>>,
    /// A message about the stream if it changed; empty when all is well.
    pub said: Option<String>,
}

struct TapState<T> {
    slot: Mutex<Slot<T>>,
    changed: Condvar,
    wake: Wake,
}

struct Slot<T> {
    came: StreamNews<T>,
    /// The last message, even if it was taken.
    last: String,
    is_over: bool,
}

impl<T> TapState<T> {
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

    /// Waits up to `limit` until the last frame was taken. Returns false if the tap was dropped.
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

impl<T: Send + 'static> StreamTap<T> {
    /// Attaches to the stream of this name, which may have no publisher yet. `make` runs on the tap's thread and copies
    /// what is needed of a frame.
    ///
    /// # Errors
    /// [`ReadError::Memory`] for an invalid stream name or a socket that is not a publisher, and
    /// [`ReadError::File`] if the system cannot start a thread.
    pub fn open(
        name: &str,
        make: impl Fn(&mut StreamFrame<'_>) -> Result<T, ReadError> + Send + 'static,
    ) -> Result<Self, ReadError> {
        let backend = open_backend(BackendChoice::Cpu, &[])?;
        let subscribe = {
            let name = name.to_owned();
            move || Subscriber::open(&name, &backend)
        };
        let came = StreamNews { frame: None, said: None };
        let slot = Mutex::new(Slot { came, last: String::new(), is_over: false });
        let shared = Arc::new(TapState { slot, changed: Condvar::new(), wake: Wake::default() });
        match subscribe() {
            Err(error @ pixelferry::Error::InvalidInput { .. }) => return Err(error.into()),
            Err(error) => shared.say(&words(&error)),
            // This only checks that the publisher answers; a subscriber must stay on its own thread.
            Ok(_) => {}
        }
        let takes = Arc::clone(&shared);
        threads::spawn("attached", move || take(subscribe, make, &takes))?;
        Ok(Self { name: name.to_owned(), shared })
    }
}

impl<T> StreamTap<T> {
    /// Name of the stream.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes the changes since the last call, without waiting.
    pub fn take(&self) -> StreamNews<T> {
        let mut slot = self.shared.slot();
        let came = StreamNews { frame: slot.came.frame.take(), said: slot.came.said.take() };
        drop(slot);
        self.shared.changed.notify_all();
        came
    }

    /// Waits up to `limit` for a frame and takes the newest.
    ///
    /// # Errors
    /// [`ReadError::Stream`] with the reason if no frame arrives in time; [`ReadError::Refused`] for a frame
    /// that is not a picture.
    pub fn first(&self, limit: Duration) -> Result<T, ReadError> {
        let slot = self.shared.slot();
        let waited = self.shared.changed.wait_timeout_while(slot, limit, |slot| slot.came.frame.is_none());
        let mut slot = waited.unwrap_or_else(PoisonError::into_inner).0;
        let (frame, reason) = (slot.came.frame.take(), slot.last.clone());
        drop(slot);
        self.shared.changed.notify_all();
        frame.unwrap_or_else(|| Err(ReadError::Stream { name: self.name.clone(), reason }))
    }

    /// Registers a function that a thread of the tap calls after each change.
    pub(crate) fn wake_by(&self, wake: impl Fn() + Send + 'static) {
        self.shared.wake.by(wake);
        // Report earlier changes, too.
        self.shared.change(|_| {});
    }
}

impl<T> Drop for StreamTap<T> {
    fn drop(&mut self) {
        self.shared.slot().is_over = true;
        self.shared.changed.notify_all();
    }
}

/// Says why there is no frame and what to do, without the stream's name, which the reader knows.
fn words(error: &pixelferry::Error) -> String {
    match error {
        pixelferry::Error::Unavailable { reason, hint, .. } => format!("{reason}. {hint}"),
        other => other.to_string(),
    }
}

/// Takes frames of one publisher after the other until the tap is dropped.
fn take<T>(
    subscribe: impl Fn() -> pixelferry::Result<Subscriber>,
    make: impl Fn(&mut StreamFrame<'_>) -> Result<T, ReadError>,
    to: &TapState<T>,
) {
    // The message that a publisher has ended stays until another one sends a frame.
    let mut has_ended = false;
    loop {
        match subscribe() {
            Ok(mut subscriber) => {
                if !has_ended {
                    to.say("no frame yet");
                }
                while to.is_wanted(None, false) {
                    match subscriber.next(TURN) {
                        Ok(NextFrame::Nothing) => {}
                        Ok(NextFrame::Frame(mut frame)) => {
                            let made = make(&mut frame);
                            to.say("");
                            to.change(|slot| slot.came.frame = Some(made));
                        }
                        ended => {
                            to.say(&ended.map_or_else(|error| words(&error), |_| "the publisher has ended".into()));
                            has_ended = true;
                            break;
                        }
                    }
                }
            }
            Err(error) if !has_ended => to.say(&words(&error)),
            Err(_) => {}
        }
        // Sleep even if frames are not taken.
        if !to.is_wanted(Some(TURN), true) {
            return;
        }
    }
}
