//! What the showing thread and the watchers exchange.

use crate::array::Array;
use crate::error::ReadError;
use pixelferry_look::Request;
use pixelferry_media::Event;
use pixelferry_media::web::Source;
use pixelferry_media::wire::Codec;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Queue limit for inputs; further ones are dropped.
const MOST_INPUTS: usize = 4096;

/// Makes an array on the thread that shows it.
type Make = Box<dyn FnOnce() -> Result<Array, ReadError> + Send>;

#[derive(Default)]
pub struct Stage {
    waiting: Mutex<PendingWork>,
    /// Wakes the showing thread.
    came: Condvar,
    seats: Mutex<Vec<Seat>>,
    drawn: Condvar,
    /// Description of the JPEG encoder.
    encoder: Mutex<String>,
}

/// Work for the showing thread.
#[derive(Default)]
pub struct PendingWork {
    /// Arrays to make, by name; only the newest of each name.
    pub arrays: Vec<(String, Option<Request>, Make)>,
    pub inputs: Vec<Event>,
    /// Something changed elsewhere, or a watcher needs a picture.
    pub is_asked: bool,
    /// Codecs of the watchers that wait for a picture.
    pub watched: Vec<Codec>,
    pub is_over: bool,
}

/// State of one watcher.
struct Seat {
    number: usize,
    codec: Codec,
    is_watched: bool,
    /// The watcher has asked for the next picture. Without that none is made, so slow watchers cost little.
    is_waiting: bool,
    /// A picture newer than the watcher's last was made for others.
    is_behind: bool,
    picture: Option<Vec<u8>>,
}

pub fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stage {
    fn change(&self, change: impl FnOnce(&mut PendingWork)) {
        change(&mut lock(&self.waiting));
        self.came.notify_all();
    }

    /// Waits for work and takes it. Requests for pictures exist only while a watcher waits.
    pub fn take(&self) -> PendingWork {
        let nothing = |waiting: &mut PendingWork| {
            let is_asked = waiting.is_asked && !waiting.watched.is_empty();
            waiting.arrays.is_empty() && waiting.inputs.is_empty() && !is_asked && !waiting.is_over
        };
        let waited = self.came.wait_while(lock(&self.waiting), nothing);
        let mut waiting = waited.unwrap_or_else(PoisonError::into_inner);
        let (watched, is_over) = (waiting.watched.clone(), waiting.is_over);
        let is_asked = !watched.is_empty() && mem::take(&mut waiting.is_asked);
        let (arrays, inputs) = (mem::take(&mut waiting.arrays), mem::take(&mut waiting.inputs));
        PendingWork { arrays, inputs, is_asked, watched, is_over }
    }

    /// Wakes the showing thread for a change that is not queued here.
    pub fn ask(&self) {
        self.change(|waiting| waiting.is_asked = true);
    }

    /// Queues an array; replaces a queued one of the same name.
    pub fn put(&self, name: &str, own: Option<Request>, make: Make) {
        self.change(|waiting| {
            waiting.arrays.retain(|(other, ..)| other != name);
            waiting.arrays.push((name.to_owned(), own, make));
        });
    }

    pub fn stop(&self) {
        self.change(|waiting| waiting.is_over = true);
        // Lock, so that a watcher that has checked for the end is already waiting.
        let mut seats = lock(&self.seats);
        seats.iter_mut().for_each(|seat| seat.picture = None);
        self.drawn.notify_all();
    }

    fn is_over(&self) -> bool {
        lock(&self.waiting).is_over
    }

    /// Returns each codec that a waiting watcher needs once.
    fn watched(seats: &[Seat]) -> Vec<Codec> {
        let waiting = seats.iter().filter(|seat| seat.is_watched && seat.is_waiting);
        let mut watched: Vec<_> = waiting.map(|seat| seat.codec).collect();
        watched.sort_by_key(|codec| codec.name());
        watched.dedup();
        watched
    }

    /// A new picture is being made: watchers that do not get it are behind.
    pub fn begin(&self) {
        lock(&self.seats).iter_mut().for_each(|seat| seat.is_behind = true);
    }

    /// Gives a picture to all watchers that wait for one of this codec.
    pub fn hand(&self, codec: Codec, mut message: Vec<u8>) {
        let mut seats = lock(&self.seats);
        if self.is_over() {
            return;
        }
        let give = |seat: &mut Seat, message| {
            (seat.is_waiting, seat.is_behind, seat.picture) = (false, false, Some(message));
        };
        let mut takers = seats.iter_mut().filter(|seat| seat.is_watched && seat.is_waiting && seat.codec == codec);
        // With a single taker, the usual case, nothing is copied.
        let first = takers.next();
        takers.for_each(|seat| give(seat, message.clone()));
        first.into_iter().for_each(|seat| give(seat, mem::take(&mut message)));
        lock(&self.waiting).watched = Self::watched(&seats);
        self.drawn.notify_all();
    }

    pub fn encoder(&self) -> String {
        lock(&self.encoder).clone()
    }

    pub fn set_encoder(&self, words: &str) {
        let mut encoder = lock(&self.encoder);
        if *encoder != words {
            words.clone_into(&mut encoder);
        }
    }
}

/// Receives pictures and sends input, like a browser. May be used from any thread.
pub struct Watcher {
    stage: Arc<Stage>,
    number: usize,
}

impl Watcher {
    /// Adds a watcher. It receives pictures once it watches.
    pub(super) fn new(stage: &Arc<Stage>, codec: Codec) -> Self {
        let mut seats = lock(&stage.seats);
        let number = seats.last().map_or(0, |seat| seat.number + 1);
        seats.push(Seat { number, codec, is_watched: false, is_waiting: false, is_behind: false, picture: None });
        Self { stage: Arc::clone(stage), number }
    }

    /// Returns the current picture if it differs from the one that the last call returned, otherwise waits for the
    /// next; a message of `wire`. Returns `None` on a timeout and after the end.
    pub fn next(&self, timeout: Duration) -> Option<Vec<u8>> {
        let (mut taken, stage) = (None, &self.stage);
        self.set(|seat| {
            seat.is_waiting = seat.picture.is_none();
            seat.is_waiting && seat.is_behind
        });
        let own = |seats: &mut Vec<Seat>| seats.iter_mut().find(|seat| seat.number == self.number)?.picture.take();
        let none = |seats: &mut Vec<Seat>| {
            taken = own(seats);
            taken.is_none() && !stage.is_over()
        };
        drop(stage.drawn.wait_timeout_while(lock(&stage.seats), timeout, none));
        taken
    }

    /// Starts or stops watching. While there are no watchers, nothing is drawn. The current picture comes next, even if
    /// it was received before.
    pub fn watch(&self, is_watched: bool) {
        self.set(|seat| {
            (seat.is_watched, seat.picture) = (is_watched, None);
            true
        });
    }

    /// Changes the state and wakes the showing thread; `change` returns whether a picture is needed.
    fn set(&self, change: impl FnOnce(&mut Seat) -> bool) {
        let mut seats = lock(&self.stage.seats);
        let is_asked = seats.iter_mut().find(|seat| seat.number == self.number).is_some_and(change);
        let watched = Stage::watched(&seats);
        self.stage.change(|waiting| {
            waiting.watched = watched;
            waiting.is_asked |= is_asked;
        });
    }

    /// Applies a user's input, the bytes of an [`Event`], and returns it; `None` for invalid bytes, which are ignored.
    pub fn send(&self, input: &[u8]) -> Option<Event> {
        let event = Event::read(input).inspect_err(|error| tracing::debug!("invalid input event: {error}")).ok()?;
        self.stage.change(|waiting| {
            if waiting.inputs.len() < MOST_INPUTS {
                waiting.inputs.push(event.clone());
            }
        });
        Some(event)
    }

    /// Returns whether the page has ended, so that no further picture comes.
    pub fn is_over(&self) -> bool {
        self.stage.is_over()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.watch(false);
        lock(&self.stage.seats).retain(|seat| seat.number != self.number);
    }
}

/// For the gateway, which serves browsers.
impl Source for Watcher {
    fn next_message(&self, _: &[Codec], timeout: Duration) -> Option<Vec<u8>> {
        self.next(timeout)
    }

    fn is_served(&self) -> bool {
        !self.is_over()
    }

    fn ask(&self) {
        self.stage.ask();
    }

    fn watch(&self, is_watched: bool) {
        Self::watch(self, is_watched);
    }

    fn send(&self, input: &[u8]) {
        // The gateway has no use for the event.
        let _ = Self::send(self, input);
    }
}
