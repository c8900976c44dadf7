//! Gate between the threads that view the shown frame and the worker that changes it.

use crate::describe::error::{Error, Result};
use crate::describe::process::ProcessMark;
use crate::describe::surface::SurfaceDesc;
use crate::path::PathId;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{ThreadId, current};
use std::time::{Duration, Instant};

/// For this long a thread lets the worker go first. Most draws take less time.
const TURN: Duration = Duration::from_millis(50);

/// A finished frame, as other threads receive it.
pub(super) struct FinishedFrame<T> {
    pub value: T,
    pub desc: SurfaceDesc,
    pub path: PathId,
    /// Number of frames that this link had finished.
    pub number: u64,
}

struct GateState<T> {
    shown: Result<Arc<FinishedFrame<T>>>,
    /// Threads that hold frames, with one entry for each frame.
    holders: Vec<ThreadId>,
    /// The worker's thread, while it changes the shown frame.
    changing: Option<ThreadId>,
    /// True while the worker waits for threads to return their frames; threads without a frame let it go first.
    is_next: bool,
    /// True after the end: no frame is begun or handed out.
    ended: bool,
}

/// Keeps the worker, which changes the shown frame, apart from the threads that view it.
pub(super) struct Gate<T> {
    /// Mark of the process that has the worker.
    pub made: ProcessMark,
    state: Mutex<GateState<T>>,
    changed: Condvar,
}

pub(super) fn ended() -> Error {
    Error::invalid("SharedLink", "the link has ended: it was dropped, or its thread failed")
}

impl<T> Gate<T> {
    pub fn new() -> Self {
        let state = GateState {
            shown: Err(Error::NothingShown),
            holders: Vec::new(),
            changing: None,
            is_next: false,
            ended: false,
        };
        Self { made: ProcessMark::here(), state: Mutex::new(state), changed: Condvar::new() }
    }

    /// A panic while the lock is held leaves no partial changes.
    fn state(&self) -> MutexGuard<'_, GateState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, GateState<T>>) -> MutexGuard<'a, GateState<T>> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the newest frame for this thread. Waits for a change in progress, and briefly for one that the worker is
    /// about to make; otherwise many threads in turn could hold one frame forever. A thread that already holds a frame
    /// does not wait for the worker's next change, because it may have to draw before it returns the frame.
    pub fn take(&self, holder: ThreadId) -> Result<Arc<FinishedFrame<T>>> {
        self.made.check("SharedLink")?;
        let mut state = self.state();
        let until = Instant::now() + TURN;
        while !state.ended {
            if state.changing == Some(holder) {
                return Err(Error::invalid(
                    "SharedLink",
                    "this thread is inside a call that changes the shown frame; return from that call before you draw",
                ));
            }
            if state.changing.is_some() {
                state = self.wait(state);
            } else if state.is_next && !state.holders.contains(&holder) {
                let left = until.saturating_duration_since(Instant::now());
                // A holder takes longer, so other threads no longer wait for this change.
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

    /// Returns a frame that the thread took.
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

    /// Waits until no thread holds a frame, and hands out none until [`Gate::open`]. Fails where the worker itself
    /// holds one.
    pub fn close(&self) -> Result<()> {
        let (mut state, worker) = (self.state(), current().id());
        if state.holders.contains(&worker) {
            let problem =
                "the link's own thread holds a frame; drop the SharedFrame before the closure that computes returns";
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

    /// True between [`Gate::close`] and [`Gate::open`].
    pub fn is_closed(&self) -> bool {
        self.state().changing.is_some()
    }

    /// Shows this frame from now on.
    pub fn open(&self, shown: Result<FinishedFrame<T>>) {
        let mut state = self.state();
        let before = std::mem::replace(&mut state.shown, shown.map(Arc::new));
        state.changing = None;
        self.changed.notify_all();
        drop(state);
        // Foreign values are dropped without the lock.
        drop(before);
    }

    /// Ends all waits. Held frames stay valid.
    pub fn end(&self) {
        let mut state = self.state();
        state.ended = true;
        let before = std::mem::replace(&mut state.shown, Err(ended()));
        self.changed.notify_all();
        drop(state);
        drop(before);
    }
}
