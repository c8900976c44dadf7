//! Who looks at what is shown, and when it may change.

use crate::describe::error::{Error, Result};
use crate::describe::surface::SurfaceDesc;
use crate::path::PathId;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

/// A finished frame, as other threads have it.
pub(super) struct Shown<T> {
    pub value: T,
    pub desc: SurfaceDesc,
    pub path: PathId,
    /// Of the frames that this link finished.
    pub number: u64,
}

struct State<T> {
    shown: Result<Arc<Shown<T>>>,
    /// Who took the frames that are held, one entry each.
    holders: Vec<ThreadId>,
    /// The worker changes what is shown.
    changing: bool,
    /// No frame is begun or given out any more.
    ended: bool,
}

/// Keeps the worker, which changes what is shown, apart from the threads that look at it.
pub(super) struct Gate<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

pub(super) fn ended() -> Error {
    Error::invalid("SharedLink", "the link has ended: it was dropped, or its thread could not go on")
}

impl<T> Gate<T> {
    pub fn new() -> Self {
        let state = State { shown: Err(Error::NothingShown), holders: Vec::new(), changing: false, ended: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Nothing is left half done where a thread panics with the lock.
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the newest frame for this thread, after a change that is under way.
    pub fn take(&self, holder: ThreadId) -> Result<Arc<Shown<T>>> {
        let mut state = self.state();
        while state.changing && !state.ended {
            state = self.wait(state);
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

    /// Waits until nobody holds a frame. From then on nobody gets one until [`Gate::open`].
    pub fn close(&self) -> Result<()> {
        let mut state = self.state();
        while !state.holders.is_empty() && !state.ended {
            state = self.wait(state);
        }
        if state.ended {
            return Err(ended());
        }
        state.changing = true;
        Ok(())
    }

    /// This is shown from now on.
    pub fn open(&self, shown: Result<Shown<T>>) {
        let mut state = self.state();
        let before = std::mem::replace(&mut state.shown, shown.map(Arc::new));
        state.changing = false;
        self.changed.notify_all();
        drop(state);
        // What others made is dropped without the lock.
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
