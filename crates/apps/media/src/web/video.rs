//! The scene as H.264: one encoder for all browsers that ask for it.

use super::relay::{Event, Relay, VideoPart};
use axum::body::Bytes;
use interop_core::describe::threads;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::{broadcast, watch};

/// How many units a browser may be behind. Beyond that it continues at a keyframe.
const BEHIND: usize = 32;
/// Minimum time between keyframe requests of a browser that falls behind: each keyframe costs the others bytes.
const ASK: Duration = Duration::from_secs(10);

/// The scene's encoder. It runs while a browser wants it.
pub struct Video {
    events: Sender<Event>,
    units: broadcast::Sender<VideoPart>,
    /// Reason why there are no units.
    problem: watch::Sender<Option<String>>,
    seats: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Video {
    pub fn open() -> std::io::Result<Self> {
        let (events, heard) = mpsc::channel();
        let (units, problem) = (broadcast::Sender::new(BEHIND), watch::Sender::new(None));
        let seats = Arc::new(AtomicUsize::new(0));
        let relay = Relay::new(events.clone(), units.clone(), problem.clone(), seats.clone());
        let thread = threads::spawn("video", move || relay.run(&heard))?;
        Ok(Self { events, units, problem, seats, thread: Some(thread) })
    }

    /// Passes on a new picture of the scene.
    pub fn picture(&self, message: &Bytes) {
        if self.seats.load(Ordering::Relaxed) > 0 {
            self.tell(Event::Picture(message.clone()));
        }
    }

    /// Returns the reason why browsers with video get no units, if there is one.
    pub fn problem(&self) -> watch::Receiver<Option<String>> {
        self.problem.subscribe()
    }

    /// Adds a browser that asks for H.264, starting with the current picture.
    pub fn join(self: &Arc<Self>, newest: Option<Bytes>) -> Seat {
        self.seats.fetch_add(1, Ordering::Relaxed);
        let seat = Seat { units: self.units.subscribe(), video: self.clone(), is_synced: false, asked: Instant::now() };
        if let Some(newest) = newest {
            self.tell(Event::Picture(newest));
        }
        self.tell(Event::Wanted { key: true });
        seat
    }

    fn tell(&self, event: Event) {
        // This fails if the thread has ended, and with it the gateway.
        let _ = self.events.send(event);
    }
}

impl Drop for Video {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        self.tell(Event::End);
        if let Some(thread) = self.thread.take() {
            // The thread returns no value.
            let _ = thread.join();
        }
    }
}

/// A browser's subscription to the encoder.
pub struct Seat {
    units: broadcast::Receiver<VideoPart>,
    video: Arc<Video>,
    /// Whether it got every unit since a keyframe.
    is_synced: bool,
    asked: Instant,
}

impl Seat {
    pub fn is_synced(&self) -> bool {
        self.is_synced
    }

    /// Waits for the browser's next message; `None` if a unit was skipped. Can be cancelled.
    pub async fn next(&mut self) -> Option<Bytes> {
        match self.units.recv().await {
            Ok(VideoPart::Unit { message, is_key }) if is_key || self.is_synced => {
                self.is_synced = true;
                return Some(message);
            }
            Ok(VideoPart::Unit { .. }) => {}
            Ok(VideoPart::Lost) => self.is_synced = false,
            Err(broadcast::error::RecvError::Lagged(_)) => {
                self.is_synced = false;
                if self.asked.elapsed() > ASK {
                    self.ask();
                }
            }
            // The gateway has ended, and the browser's connection ends soon.
            Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
        }
        None
    }

    /// Asks for a keyframe, for a browser that could not decode its units.
    pub fn ask(&mut self) {
        (self.is_synced, self.asked) = (false, Instant::now());
        self.video.tell(Event::Wanted { key: true });
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.video.seats.fetch_sub(1, Ordering::Relaxed);
        self.video.tell(Event::Wanted { key: false });
    }
}
