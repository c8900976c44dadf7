//! Feeds pictures to the child: if they come faster than it accepts them, the newest.

use super::shape::{self, Shape};
use crate::wire::{Codec, Header};
use bytes::Bytes;
use interop_core::RowOrder;
use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// If an encoder holds a picture back for this long, it gets that picture again, which pushes the first one out.
const PUSH: Duration = Duration::from_millis(300);
/// How often one picture is pushed at most.
const MOST_PUSHES: u32 = 8;

/// Connects the caller that has pictures, the thread that writes them, and the one that reads units.
#[derive(Default)]
pub(crate) struct Feed {
    state: Mutex<FeedState>,
    told: Condvar,
}

#[derive(Default)]
struct FeedState {
    newest: Option<Bytes>,
    is_over: bool,
    /// Headers of the pictures inside the encoder, with their numbers in its stream.
    inside: VecDeque<(u64, Header)>,
    written: u64,
    /// When the next expected output became due.
    owes: Option<Instant>,
}

enum Next {
    Picture(Bytes),
    Pause,
    End,
}

impl Feed {
    fn lock(&self) -> MutexGuard<'_, FeedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn put(&self, message: Bytes) {
        self.lock().newest = Some(message);
        self.told.notify_all();
    }

    /// Lets the writer end after the newest picture.
    pub(crate) fn end(&self) {
        self.lock().is_over = true;
        self.told.notify_all();
    }

    /// Returns for how long an output has been due.
    pub(crate) fn owed(&self) -> Duration {
        self.lock().owes.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Returns the header for the unit with this number.
    pub(crate) fn came(&self, number: u64) -> Option<Header> {
        let mut state = self.lock();
        while let Some((inside, header)) = state.inside.pop_front() {
            if inside == number {
                state.owes = (!state.inside.is_empty()).then(Instant::now);
                return Some(header);
            }
        }
        None
    }

    fn next(&self) -> Next {
        let has_none = |state: &mut FeedState| state.newest.is_none() && !state.is_over;
        let waited = self.told.wait_timeout_while(self.lock(), PUSH, has_none);
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        match state.newest.take() {
            Some(message) => Next::Picture(message),
            None if state.is_over => Next::End,
            None => Next::Pause,
        }
    }

    fn owes(&self) -> bool {
        !self.lock().inside.is_empty()
    }

    fn enter(&self, header: Header) {
        let mut state = self.lock();
        let number = state.written;
        state.inside.push_back((number, header));
        state.written += 1;
        state.owes.get_or_insert_with(Instant::now);
    }

    /// Writes pictures of `shape` until the end, or until the child stops reading.
    pub(crate) fn write(&self, shape: &Shape, mut child: impl Write) {
        let (mut rows, mut last, mut pushes) = (Vec::new(), None, 0);
        loop {
            match self.next() {
                Next::End => return,
                Next::Pause if self.owes() && pushes < MOST_PUSHES => pushes += 1,
                Next::Pause => continue,
                Next::Picture(message) => {
                    let read = shape::header(&message);
                    match read.and_then(|header| Ok((header, shape.is_of(&header), shape.rows(&message)?))) {
                        Ok((header, true, now)) => (rows, last, pushes) = (now, Some(shown(header)), 0),
                        // It is for another encoder.
                        Ok(_) => continue,
                        Err(error) => {
                            tracing::debug!("cannot encode a picture: {error}");
                            continue;
                        }
                    }
                }
            }
            let Some(header) = last else { continue };
            self.enter(header);
            if let Err(error) = child.write_all(&rows) {
                // The reader of units reports the reason.
                tracing::debug!("the encoder stopped reading: {error}");
                return;
            }
        }
    }
}

/// Returns the header of a picture that is encoded from its top, without alpha.
fn shown(header: Header) -> Header {
    let image = header.image.with_row_order(RowOrder::TopDown);
    Header { image, codec: Codec::None, payload: 0, ..header }
}
