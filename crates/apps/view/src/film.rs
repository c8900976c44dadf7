//! Plays videos: a thread of its own provides frames at the video's rate.

use crate::array::Array;
use crate::error::ReadError;
use crate::wake::Wake;
use pixelferry::driver::describe::threads;
use pixelferry_media::source::{Frame, Source, SourceError};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A playing video. It skips no frames: it stops while its frames are not taken, as in a pause. Dropping it ends it.
pub struct Film {
    name: String,
    shared: Arc<FilmState>,
}

#[derive(Default)]
struct FilmState {
    slot: Mutex<Slot>,
    changed: Condvar,
    wake: Wake,
}

/// The next frame.
#[derive(Default)]
struct Slot {
    next: Option<Result<Frame, SourceError>>,
    is_due: bool,
    /// The end: of the video, or of the interest in its frames.
    is_over: bool,
}

impl FilmState {
    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Film {
    /// Plays a video after its first frame was read.
    pub(crate) fn play(name: &str, video: Source) -> io::Result<Self> {
        let shared = Arc::new(FilmState::default());
        let reads = Arc::clone(&shared);
        threads::spawn("video", move || {
            read(video, &reads);
            reads.slot().is_over = true;
        })?;
        Ok(Self { name: name.to_owned(), shared })
    }

    /// Name of the array that shows its frames.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Registers a function that a thread of the film calls when a frame is due.
    pub(crate) fn wake_by(&self, wake: impl Fn() + Send + 'static) {
        self.shared.wake.by(wake);
        let is_due = self.shared.slot().is_due;
        if is_due {
            self.shared.wake.call();
        }
    }

    /// Takes the next frame if it is due, or at once with `is_asked`.
    pub(crate) fn take(&self, is_asked: bool) -> Option<Result<Array, ReadError>> {
        let mut slot = self.shared.slot();
        let next = if slot.is_due || is_asked { slot.next.take() } else { None };
        drop(slot);
        self.shared.changed.notify_all();
        Some(next?.map_err(ReadError::from).and_then(|frame| Array::of_frame(&self.name, &frame)))
    }
}

impl Drop for Film {
    fn drop(&mut self) {
        // A thread that waits for bytes from a pipe ends with its next frame.
        self.shared.slot().is_over = true;
        self.shared.changed.notify_all();
    }
}

/// Provides frames until the video ends, an error occurs, or the film is dropped.
fn read(mut video: Source, to: &FilmState) {
    let mut due = Instant::now() + video.period();
    while let Some(next) = video.next_frame().transpose() {
        let is_last = next.is_err();
        let mut slot = to.slot();
        if slot.is_over {
            return;
        }
        (slot.next, slot.is_due) = (Some(next), false);
        let is_there = |slot: &mut Slot| slot.next.is_some() && !slot.is_over;
        let left = due.saturating_duration_since(Instant::now());
        slot = to.changed.wait_timeout_while(slot, left, is_there).unwrap_or_else(PoisonError::into_inner).0;
        if is_there(&mut slot) {
            slot.is_due = true;
            drop(slot);
            to.wake.call();
            slot = to.changed.wait_while(to.slot(), is_there).unwrap_or_else(PoisonError::into_inner);
        }
        if slot.is_over || is_last {
            return;
        }
        drop(slot);
        // Continue from now after a pause.
        let now = Instant::now();
        let period = video.period();
        due = Some(due + period).filter(|due| *due > now).unwrap_or(now + period);
    }
}
