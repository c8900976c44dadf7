//! Gate between the viewers of what is shown and the worker that changes it.

use crate::describe::error::{Error, Result};
use crate::describe::process::ProcessMark;
use crate::describe::surface::SurfaceDesc;
use crate::path::PathId;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{ThreadId, current};
use std::time::{Duration, Instant};

/// For so long a thread leaves the worker its turn. Most draws are over by then.
const TURN: Duration = Duration::from_millis(50);

/// A finished frame, as other threads have it.
pub(super) struct Shown<T> {
    pub value: T,
    pub desc: SurfaceDesc,
    pub path: PathId,
    /// Count of the frames that this link finished.
    pub number: u64,
}

struct State<T> {
    shown: Result<Arc<Shown<T>>>,
    /// Threads that took the frames that are held, one entry each.
    holders: Vec<ThreadId>,
    /// The worker's thread, while it changes what is shown.
    changing: Option<ThreadId>,
    /// The worker waits for the threads that hold frames, and those that hold none let it.
    is_next: bool,
    /// No frame is begun or given out any more.
    ended: bool,
}

/// Keeps the worker, which changes what is shown, apart from the threads that look at it.
pub(super) struct Gate<T> {
    /// The process that has the worker.
    pub made: ProcessMark,
    state: Mutex<State<T>>,
    changed: Condvar,
}

pub(super) fn ended() -> Error {
    Error::invalid("SharedLink", "the link has ended: it was dropped, or its thread could not go on")
}

impl<T> Gate<T> {
    pub fn new() -> Self {
        let state = State {
            shown: Err(Error::NothingShown),
            holders: Vec::new(),
            changing: None,
            is_next: false,
            ended: false,
        };
        Self { made: ProcessMark::here(), state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Nothing is left half done where a thread panics with the lock.
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the newest frame for this thread, after a change that is under way, or the worker's next if that is soon: many
    /// threads would else hold one frame in turn forever. A thread that holds one may have to draw before it lets go.
    pub fn take(&self, holder: ThreadId) -> Result<Arc<Shown<T>>> {
        self.made.check("SharedLink")?;
        let mut state = self.state();
        let until = Instant::now() + TURN;
        while !state.ended {
            if state.changing == Some(holder) {
                return Err(Error::invalid("SharedLink", "what is shown is being changed by this very thread"));
            }
            if state.changing.is_some() {
                state = self.wait(state);
            } else if state.is_next && !state.holders.contains(&holder) {
                let left = until.saturating_duration_since(Instant::now());
                // Somebody draws for longer, so that nobody else need wait for this change.
                state.is_next = !left.is_zero();
                state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            } else {
                break;
            }
        }
        if state.ended {
            return Err(ended());
        }
        let shown = state.shown.clone()?;
        state.holders.push(holder);
        Ok(shown)
    }

    /// Gives back what that thread took.
    pub fn give_back(&self, holder: ThreadId) {
        let mut state = self.state();
        if let Some(at) = state.holders.iter().position(|other| *other == holder) {
            state.holders.swap_remove(at);
        }
        self.changed.notify_all();
    }

    pub fn is_held_by(&self, thread: ThreadId) -> bool {
        self.state().holders.contains(&thread)
    }

    /// Waits until nobody holds a frame. From then on nobody gets one until [`Gate::open`]. Refused where the worker itself
    /// holds one.
    pub fn close(&self) -> Result<()> {
        let (mut state, worker) = (self.state(), current().id());
        if state.holders.contains(&worker) {
            let problem =
                "the link's own thread took a frame and keeps it; drop the SharedFrame before compute returns";
            return Err(Error::invalid("SharedLink", problem));
        }
        state.is_next = !state.holders.is_empty();
        while !state.holders.is_empty() && !state.ended {
            state = self.wait(state);
        }
        state.is_next = false;
        if state.ended {
            return Err(ended());
        }
        state.changing = Some(worker);
        Ok(())
    }

    /// True where [`Gate::close`] was called since [`Gate::open`].
    pub fn is_closed(&self) -> bool {
        self.state().changing.is_some()
    }

    /// This is shown from now on.
    pub fn open(&self, shown: Result<Shown<T>>) {
        let mut state = self.state();
        let before = std::mem::replace(&mut state.shown, shown.map(Arc::new));
        state.changing = None;
        self.changed.notify_all();
        drop(state);
        // Values of others are dropped without the lock.
        drop(before);
    }

    /// Nobody waits any more. What is held stays so.
    pub fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        let before = std::mem::replace(&mut state.shown, Err(ended()));
        self.changed.notify_all();
        drop(state);
        drop(before);
    }
}
