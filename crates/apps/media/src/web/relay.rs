//! The thread that owns the encoder and passes its units on.
//!
//! GStreamer's command cannot be asked for a keyframe. A browser that needs one therefore gets a new encoder, which
//! begins with one. The old encoder continues until the new one delivers its first unit.

use crate::video::{Element, Encoder, EncoderReport, Error, Shape, encoders, header};
use axum::body::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};
use tokio::sync::{broadcast, watch};

/// How often the thread checks the time.
const LOOK: Duration = Duration::from_millis(100);
/// Minimum time between starts of encoders, however often browsers come and go: each start is a process.
const APART: Duration = Duration::from_secs(1);
/// If an encoder worked but ended sooner than this, another one is tried.
const SOON: Duration = Duration::from_secs(5);
/// Pause before all encoders are tried again, if none works.
const RETRY: Duration = Duration::from_secs(30);

/// Sent to all browsers with video.
#[derive(Clone)]
pub enum VideoPart {
    Unit {
        message: Bytes,
        is_key: bool,
    },
    /// A unit is missing. Other pictures follow until there is a keyframe.
    Lost,
}

/// Sent to the thread that owns the encoder.
pub enum Event {
    Picture(Bytes),
    /// Browsers came, left, or need a keyframe.
    Wanted {
        key: bool,
    },
    /// Output of the encoder with this number.
    Said(u64, EncoderReport),
    End,
}

struct RunningEncoder {
    number: u64,
    shape: Shape,
    encoder: Encoder,
    begun: Instant,
}

pub struct Relay {
    events: Sender<Event>,
    units: broadcast::Sender<VideoPart>,
    problem: watch::Sender<Option<String>>,
    seats: Arc<AtomicUsize>,
    newest: Option<Bytes>,
    shape: Option<Shape>,
    /// Encoders of this machine, once they were searched for.
    elements: Vec<Element>,
    /// Index of the current encoder.
    at: usize,
    retry: Option<Instant>,
    current: Option<RunningEncoder>,
    /// A started encoder that has delivered nothing yet.
    next: Option<RunningEncoder>,
    is_key_wanted: bool,
    started: u64,
    last_start: Option<Instant>,
}

impl Relay {
    pub fn new(
        events: Sender<Event>,
        units: broadcast::Sender<VideoPart>,
        problem: watch::Sender<Option<String>>,
        seats: Arc<AtomicUsize>,
    ) -> Self {
        Self {
            events,
            units,
            problem,
            seats,
            newest: None,
            shape: None,
            elements: Vec::new(),
            at: 0,
            retry: None,
            current: None,
            next: None,
            is_key_wanted: false,
            started: 0,
            last_start: None,
        }
    }

    pub fn run(mut self, events: &Receiver<Event>) {
        loop {
            match events.recv_timeout(LOOK) {
                Ok(Event::Picture(message)) => self.picture(message),
                Ok(Event::Wanted { key }) => self.is_key_wanted |= key,
                Ok(Event::Said(number, EncoderReport::Unit(unit))) => {
                    self.unit(number, unit.is_key, || unit.message().into())
                }
                Ok(Event::Said(number, EncoderReport::Ended(error))) => self.ended(number, &error),
                Ok(Event::End) | Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {}
            }
            self.tend();
        }
    }

    fn picture(&mut self, message: Bytes) {
        let is_older = |was: &Bytes| match (header(was), header(&message)) {
            (Ok(was), Ok(now)) => was.epoch == now.epoch && was.frame > now.frame,
            _ => false,
        };
        // A new browser brings the picture of its own moment, which may be older.
        if self.newest.as_ref().is_some_and(is_older) {
            return;
        }
        self.newest = Some(message.clone());
        match Shape::of(&message) {
            Ok(shape) => {
                if self.shape != Some(shape) {
                    (self.shape, self.at, self.retry) = (Some(shape), 0, None);
                }
            }
            Err(error) => {
                self.shape = None;
                self.fail(&error);
            }
        }
        let other = |running: &RunningEncoder| Some(running.shape) != self.shape;
        self.next.take_if(|running| other(running));
        if self.current.take_if(|running| other(running)).is_some() {
            self.send(VideoPart::Lost);
        }
        for running in self.current.iter().chain(&self.next) {
            running.encoder.write(message.clone());
        }
    }

    fn unit(&mut self, number: u64, is_key: bool, message: impl FnOnce() -> Bytes) {
        let is = |running: &Option<RunningEncoder>| running.as_ref().is_some_and(|running| running.number == number);
        if is(&self.next) && is_key {
            self.current = self.next.take();
            self.is_key_wanted = false;
            self.problem.send_if_modified(|problem| problem.take().is_some());
        }
        if is(&self.current) {
            self.send(VideoPart::Unit { message: message(), is_key });
        }
    }

    fn ended(&mut self, number: u64, error: &Error) {
        let is = |running: &mut RunningEncoder| running.number == number;
        if self.next.take_if(is).is_some() {
            self.at += 1;
            if self.at >= self.elements.len() {
                self.fail(error);
            }
        } else if let Some(current) = self.current.take_if(is) {
            tracing::warn!("{error}; starting another one");
            self.send(VideoPart::Lost);
            if current.begun.elapsed() < SOON {
                self.at = (self.at + 1) % self.elements.len().max(1);
            }
        }
    }

    /// Gives up encoding for now.
    fn fail(&mut self, error: &Error) {
        let words = error.to_string();
        (self.at, self.retry) = (0, Some(Instant::now() + RETRY));
        self.elements.clear();
        self.problem.send_if_modified(|problem| {
            let is_new = problem.as_ref() != Some(&words);
            if is_new {
                tracing::warn!("no video: {words}");
            }
            *problem = Some(words);
            is_new
        });
    }

    /// Does what is due.
    fn tend(&mut self) {
        if self.seats.load(Ordering::Relaxed) == 0 {
            (self.current, self.next, self.newest, self.is_key_wanted) = (None, None, None, false);
            return;
        }
        let stuck = self.current.iter().chain(&self.next).find(|running| running.encoder.is_stuck());
        if let Some(number) = stuck.map(|running| running.number) {
            let reason = "it delivered nothing for the pictures that it got".into();
            self.ended(number, &Error::Ended { element: "the encoder", reason });
        }
        let is_due = self.current.is_none() || self.is_key_wanted;
        let is_apart = self.last_start.is_none_or(|last| last.elapsed() > APART);
        if is_due && is_apart && self.next.is_none() && self.retry.is_none_or(|retry| retry <= Instant::now()) {
            self.retry = None;
            if let Err(error) = self.start() {
                self.fail(&error);
            }
        }
    }

    fn start(&mut self) -> Result<(), Error> {
        let (Some(newest), Some(shape)) = (self.newest.clone(), self.shape) else { return Ok(()) };
        if self.elements.is_empty() {
            self.elements = encoders()?;
        }
        let Some(element) = self.elements.get(self.at) else { return Ok(()) };
        let (number, events) = (self.started, self.events.clone());
        self.last_start = Some(Instant::now());
        let encoder = Encoder::start(*element, shape, move |said| {
            // This fails if the thread has ended.
            let _ = events.send(Event::Said(number, said));
        })?;
        self.started += 1;
        encoder.write(newest);
        self.next = Some(RunningEncoder { number, shape, encoder, begun: Instant::now() });
        Ok(())
    }

    fn send(&self, part: VideoPart) {
        // This fails if there are no receivers.
        let _ = self.units.send(part);
    }
}
