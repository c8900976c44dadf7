//! Things that the thread that shows and those who look on give each other.

use crate::array::Array;
use crate::error::ReadError;
use pixelferry_look::Request;
use pixelferry_media::Event;
use pixelferry_media::web::Source;
use pixelferry_media::wire::Codec;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Most inputs that wait; what a page sends beyond goes.
const MOST_INPUTS: usize = 4096;

/// Makes an array on the thread that shows it.
type Make = Box<dyn FnOnce() -> Result<Array, ReadError> + Send>;

#[derive(Default)]
pub struct Stage {
    waiting: Mutex<Waiting>,
    /// Something waits for the thread that shows.
    came: Condvar,
    seats: Mutex<Vec<Seat>>,
    drawn: Condvar,
    /// Packer of JPEGs, in words.
    encoder: Mutex<String>,
}

/// Work that waits for the thread that shows.
#[derive(Default)]
pub struct Waiting {
    /// By name, of which the newest counts.
    pub arrays: Vec<(String, Option<Request>, Make)>,
    pub inputs: Vec<Event>,
    /// Something changed that is not here, or a picture is asked for.
    pub is_asked: bool,
    /// Codecs of those who look on and wait for a picture.
    pub watched: Vec<Codec>,
    pub is_over: bool,
}

/// The place of one who looks on.
struct Seat {
    number: usize,
    codec: Codec,
    is_watched: bool,
    /// The next picture is asked for. Until then none is made: who takes few costs little.
    is_waiting: bool,
    /// Another one than its last was made for others.
    is_behind: bool,
    picture: Option<Vec<u8>>,
}

pub fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stage {
    fn change(&self, change: impl FnOnce(&mut Waiting)) {
        change(&mut lock(&self.waiting));
        self.came.notify_all();
    }

    /// Waits until there is something to do, and takes it. While nobody waits for a picture nobody asks.
    pub fn take(&self) -> Waiting {
        let nothing = |waiting: &mut Waiting| {
            let is_asked = waiting.is_asked && !waiting.watched.is_empty();
            waiting.arrays.is_empty() && waiting.inputs.is_empty() && !is_asked && !waiting.is_over
        };
        let waited = self.came.wait_while(lock(&self.waiting), nothing);
        let mut waiting = waited.unwrap_or_else(PoisonError::into_inner);
        let (watched, is_over) = (waiting.watched.clone(), waiting.is_over);
        let is_asked = !watched.is_empty() && mem::take(&mut waiting.is_asked);
        let (arrays, inputs) = (mem::take(&mut waiting.arrays), mem::take(&mut waiting.inputs));
        Waiting { arrays, inputs, is_asked, watched, is_over }
    }

    /// Something changed that is not here.
    pub fn ask(&self) {
        self.change(|waiting| waiting.is_asked = true);
    }

    /// Adds an array, instead of one of its name that still waits.
    pub fn put(&self, name: &str, own: Option<Request>, make: Make) {
        self.change(|waiting| {
            waiting.arrays.retain(|(other, ..)| other != name);
            waiting.arrays.push((name.to_owned(), own, make));
        });
    }

    pub fn stop(&self) {
        self.change(|waiting| waiting.is_over = true);
        // Who has looked for the end has begun to wait by then.
        let mut seats = lock(&self.seats);
        seats.iter_mut().for_each(|seat| seat.picture = None);
        self.drawn.notify_all();
    }

    fn is_over(&self) -> bool {
        lock(&self.waiting).is_over
    }

    /// The codecs of those who wait, each once.
    fn watched(seats: &[Seat]) -> Vec<Codec> {
        let waiting = seats.iter().filter(|seat| seat.is_watched && seat.is_waiting);
        let mut watched: Vec<_> = waiting.map(|seat| seat.codec).collect();
        watched.sort_by_key(|codec| codec.name());
        watched.dedup();
        watched
    }

    /// A new picture is made: who looks on and gets it not is behind.
    pub fn begin(&self) {
        lock(&self.seats).iter_mut().for_each(|seat| seat.is_behind = true);
    }

    /// Hands a picture to all who wait for one by this codec.
    pub fn hand(&self, codec: Codec, mut message: Vec<u8>) {
        let mut seats = lock(&self.seats);
        if self.is_over() {
            return;
        }
        let give = |seat: &mut Seat, message| {
            (seat.is_waiting, seat.is_behind, seat.picture) = (false, false, Some(message));
        };
        let mut takers = seats.iter_mut().filter(|seat| seat.is_watched && seat.is_waiting && seat.codec == codec);
        // With one of them, as a rule, nothing is copied.
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

/// One who looks on: pictures come, and inputs go. Any thread.
pub struct Watcher {
    stage: Arc<Stage>,
    number: usize,
}

impl Watcher {
    /// Takes a seat. Pictures come once it watches.
    pub(super) fn new(stage: &Arc<Stage>, codec: Codec) -> Self {
        let mut seats = lock(&stage.seats);
        let number = seats.last().map_or(0, |seat| seat.number + 1);
        seats.push(Seat { number, codec, is_watched: false, is_waiting: false, is_behind: false, picture: None });
        Self { stage: Arc::clone(stage), number }
    }

    /// The picture of now, where it is another than the last call gave, else the next; a message of `wire`. `None` where none came in
    /// time, and after the end.
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

    /// Begins to look on, or ends. While nobody does, nothing is drawn. The picture of now comes next, also where it did before.
    pub fn watch(&self, is_watched: bool) {
        self.set(|seat| {
            (seat.is_watched, seat.picture) = (is_watched, None);
            true
        });
    }

    /// Changes the seat, and tells who shows, also whether a picture is asked for.
    fn set(&self, change: impl FnOnce(&mut Seat) -> bool) {
        let mut seats = lock(&self.stage.seats);
        let is_asked = seats.iter_mut().find(|seat| seat.number == self.number).is_some_and(change);
        let watched = Stage::watched(&seats);
        self.stage.change(|waiting| {
            waiting.watched = watched;
            waiting.is_asked |= is_asked;
        });
    }

    /// Does what a user did, an [`Event`]'s bytes, and returns it; `None` for others, which are left out.
    pub fn send(&self, input: &[u8]) -> Option<Event> {
        let event = Event::read(input).inspect_err(|error| tracing::debug!("an input is no event: {error}")).ok()?;
        self.stage.change(|waiting| {
            if waiting.inputs.len() < MOST_INPUTS {
                waiting.inputs.push(event.clone());
            }
        });
        Some(event)
    }

    /// True where no picture comes any more.
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

/// The gateway's.
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
        // Who made it wants to know; the gateway does not.
        let _ = Self::send(self, input);
    }
}
