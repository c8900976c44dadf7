//! Delivers a server's pictures on threads of its own: small and lent ones with one publication for all viewers, large
//! ones to each viewer separately in pieces. No more pieces are in flight than the viewer's connection holds. The
//! newest picture always wins.

use crate::error::{Error, Result};
use crate::lend::Ticket;
use crate::lock::lock;
use crate::net::{DeliveryOptions, Net, NetState};
use crate::pack::mark;
use crate::unseen::Unseen;
use bytes::Bytes;
use pixelferry_media::wire::Header;
use pixelferry_rules::key;
use pixelferry_rules::pace::{Pace, Piece, UNIT, Wish};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};
use zenoh::Wait;
use zenoh::qos::{CongestionControl, Priority};

/// Larger messages go to each viewer separately: the queue of a connection (1 MiB) does not hold two of them.
pub(crate) const LARGE: usize = 512 << 10;
/// Time after which a viewer of lent pictures is notified of the newest again, because publications may be lost.
const HOLD: Duration = Duration::from_secs(2);
/// A viewer that is silent for this long counts as gone.
const GONE: Duration = Duration::from_secs(10);
/// Time for the network to learn a viewer's key.
const START: Duration = Duration::from_secs(1);
/// Interval of checks whether a viewer exists.
const PAUSE: Duration = Duration::from_millis(250);
/// How long viewers may keep all lent memory in use before they get copies, and how often this is checked.
const FULL: Duration = Duration::from_millis(100);
const LOOK: Duration = Duration::from_millis(1);
/// Maximum number of viewers, each with a thread.
const MOST: usize = 1024;

/// A picture to send.
#[derive(Clone)]
pub(crate) struct Picture {
    pub header: Header,
    pub message: Bytes,
    /// Where viewers in the same place find it.
    pub ticket: Option<Ticket>,
    /// Whether it is to be lent as soon as there is memory.
    pub waits: bool,
}

/// Pictures of one server.
pub(crate) struct Delivery {
    key: String,
    unseen: Arc<Unseen>,
    state: Mutex<DeliveryState>,
    /// A picture is there for the publication.
    small: Condvar,
    /// A newer picture could be on its way.
    free: Condvar,
}

#[derive(Default)]
struct DeliveryState {
    newest: Option<Picture>,
    /// Number of the newest picture, from 1, and of the newest published one.
    serial: u64,
    published: u64,
    /// Whether receivers measure, and the place of this program's memory.
    marked: bool,
    place: u64,
    is_over: bool,
    /// Time of the newest lent picture.
    lent: Option<Instant>,
    viewers: BTreeMap<u64, Line>,
}

/// State of one viewer.
struct Line {
    wish: Wish,
    heard: Instant,
    /// Whether it waits for pictures of its own, even if others' pictures are lent.
    is_apart: bool,
    told: Arc<Condvar>,
    /// Number of the picture that was begun last, and of the one after which there is room for another.
    begun: u64,
    done: u64,
}

impl Delivery {
    pub fn new(key: String, unseen: Arc<Unseen>) -> Arc<Self> {
        Arc::new(Self { key, unseen, state: Mutex::default(), small: Condvar::new(), free: Condvar::new() })
    }

    /// Replaces the newest picture, also after the end, which a picture that was kept for viewers must not undo.
    pub fn put(&self, mut picture: Picture, marked: bool, place: u64) {
        let mut state = lock(&self.state);
        state.serial += 1;
        state.note(&picture);
        picture.waits &= state.is_patient();
        let is_lent = picture.ticket.is_some();
        (state.newest, state.marked, state.place) = (Some(picture), marked, place);
        self.small.notify_one();
        state.tell(!is_lent);
    }

    /// Waits until a newer picture could be sent at once; false on a timeout.
    pub fn wait(&self, timeout: Duration) -> bool {
        let waits = |state: &mut DeliveryState| {
            let (mut lines, serial) = (state.viewers.values(), state.serial);
            let is_begun = || !state.viewers.is_empty() && state.viewers.values().all(|line| line.begun == serial);
            let is_free = lines.any(|line| line.done == serial) || is_begun();
            state.published < serial && !state.is_over && !is_free
        };
        let waited = self.free.wait_timeout_while(lock(&self.state), timeout, waits);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Allows threads to start until the next end.
    pub fn begin(&self) {
        lock(&self.state).is_over = false;
    }

    /// Ends all threads; the one for small pictures after the newest.
    pub fn end(&self) {
        let mut state = lock(&self.state);
        state.is_over = true;
        self.small.notify_all();
        state.tell(true);
    }

    /// Calls `publish` with each small or lent picture, the newest at a time, until the end. `lend` copies one to lent
    /// memory if there is some.
    pub fn publish(&self, lend: impl Fn(&Picture) -> Option<Picture>, mut publish: impl FnMut(Picture)) {
        let mut sent = 0;
        loop {
            let state = lock(&self.state);
            let waits = |state: &mut DeliveryState| state.serial == sent && !state.is_over;
            let state = self.small.wait_while(state, waits).unwrap_or_else(PoisonError::into_inner);
            if state.serial == sent {
                return;
            }
            sent = state.serial;
            let newest = state.newest.clone();
            drop(state);
            let newest =
                newest.and_then(|newest| if newest.waits { self.settle(newest, sent, &lend) } else { Some(newest) });
            let picture = newest.filter(|picture| picture.ticket.is_some() || picture.message.len() <= LARGE);
            if let Some(picture) = picture {
                lock(&self.state).note_published(&picture, sent);
                self.free.notify_all();
                publish(picture);
            }
        }
    }

    /// Waits for memory to lend a picture, and gives up after a while; `None` if a newer picture came.
    fn settle(&self, picture: Picture, serial: u64, lend: impl Fn(&Picture) -> Option<Picture>) -> Option<Picture> {
        loop {
            let lent = lend(&picture);
            let mut state = lock(&self.state);
            if state.serial != serial {
                return None;
            }
            if lent.is_some() || !state.is_patient() || state.is_over {
                let settled = lent.unwrap_or(Picture { waits: false, ..picture });
                state.note(&settled);
                state.newest = Some(settled.clone());
                state.tell(true);
                return Some(settled);
            }
            drop(self.small.wait_timeout(state, LOOK));
        }
    }

    /// Handles a viewer's request. An unknown viewer gets a thread.
    pub fn wish(self: &Arc<Self>, wish: Wish, net: &Weak<NetState>) {
        let mut state = lock(&self.state);
        if let Some(line) = state.viewers.get_mut(&wish.viewer) {
            (line.wish, line.heard) = (wish, Instant::now());
            return line.told.notify_all();
        }
        if state.viewers.len() >= MOST {
            return;
        }
        let line = Line { wish, heard: Instant::now(), is_apart: true, told: Arc::default(), begun: 0, done: 0 };
        state.viewers.insert(wish.viewer, line);
        let (told, net) = (self.clone(), net.clone());
        let serve = move || {
            let served = Net::of(&net).map_or(Ok(()), |net| told.serve(wish, net));
            if let Err(error) = served {
                tracing::debug!("a viewer gets no further pictures of its own: {error}");
            }
            lock(&told.state).viewers.remove(&wish.viewer);
        };
        if std::thread::Builder::new().name("pixelferry-view".into()).spawn(serve).is_err() {
            state.viewers.remove(&wish.viewer);
        }
    }

    /// Sends one viewer its pictures until it is gone.
    fn serve(&self, first: Wish, net: Net) -> Result<()> {
        const OP: &str = "Server";
        let failed = || Error::zenoh(OP, "The network was left.");
        let way =
            DeliveryOptions { congestion: CongestionControl::Block, priority: Priority::Background, express: false };
        let to = net.publisher(OP, key::to(&self.key, first.viewer), way)?;
        drop(net);
        let (mut pace, mut sent, mut asked) = (Pace::from(first.taken), 0, None);
        let (mut rest, begun, mut moved) = (None, Instant::now(), Instant::now());
        let (mut looked, mut is_there) = (None::<Instant>, true);
        loop {
            // Not for each piece: the query would cost more than the piece.
            if looked.is_none_or(|looked| looked.elapsed() >= PAUSE) {
                is_there = to.matching_status().wait().map_err(failed())?.matching() || begun.elapsed() < START;
                looked = Some(Instant::now());
            }
            // Kept while there was no viewer, or before that was known.
            if let Some((header, message)) = self.unseen.take() {
                self.put(Picture { header, message, ticket: None, waits: false }, false, 0);
            }
            let mut state = lock(&self.state);
            let Some(line) = state.viewers.get_mut(&first.viewer) else { return Ok(()) };
            if !is_there || line.heard.elapsed() > GONE {
                return Ok(());
            }
            let (wish, told) = (line.wish, line.told.clone());
            if asked.replace(wish.asked) != Some(wish.asked) {
                sent = 0;
            }
            let now = Instant::now();
            pace.take(wish.taken, now);
            let units = pace.room(now);
            let next = if units > 0 {
                // A publication may be lost; without this, a viewer would miss the last one.
                let is_late = moved.elapsed() > HOLD && state.serial > sent && wish.place == state.place;
                let lent = || state.newest.as_ref().filter(|newest| is_late && newest.ticket.is_some());
                let new = || state.wanted(sent, &wish).or_else(lent).cloned();
                rest.take().or_else(|| new().map(|picture| (picture, 0)))
            } else {
                None
            };
            let Some((picture, offset)) = next else {
                if state.is_over {
                    return Ok(());
                }
                let is_apart = sent == 0 || wish.place != state.place;
                let done = if units > 0 { sent } else { 0 };
                state.viewers.entry(first.viewer).and_modify(|line| (line.is_apart, line.done) = (is_apart, done));
                self.free.notify_all();
                drop(told.wait_timeout(state, PAUSE));
                continue;
            };
            let (marked, ours) = (state.marked, state.place);
            if offset == 0 {
                sent = state.serial;
                state.viewers.entry(first.viewer).and_modify(|line| line.begun = sent);
                self.free.notify_all();
            }
            drop(state);
            moved = Instant::now();
            if offset == 0 && marked {
                to.put(mark(&picture.header)).attachment(ours.to_le_bytes()).wait().map_err(failed())?;
            }
            if let Some(ticket) = picture.ticket.filter(|_| offset == 0 && ours == wish.place) {
                let header = picture.header.to_bytes();
                to.put(header).attachment(ticket.to_bytes()).wait().map_err(failed())?;
                continue;
            }
            let end = picture.message.len().min(offset + units as usize * UNIT);
            let bytes = picture.message.slice(offset..end);
            let number = pace.send(bytes.len().div_ceil(UNIT) as u64, moved);
            let piece = Piece { epoch: picture.header.epoch, number, offset: offset as u64 };
            to.put(bytes).attachment(piece.to_bytes()).wait().map_err(failed())?;
            rest = (end < picture.message.len()).then_some((picture, end));
        }
    }
}

impl DeliveryState {
    fn note(&mut self, picture: &Picture) {
        if picture.ticket.is_some() {
            self.lent = Some(Instant::now());
        }
    }

    /// Lent pictures are for viewers in the same place.
    fn note_published(&mut self, picture: &Picture, serial: u64) {
        if picture.ticket.is_none() || self.viewers.values().any(|line| line.wish.place == self.place) {
            self.published = serial;
        }
    }

    /// Wakes the threads of viewers: all, or those that get separate pictures.
    fn tell(&mut self, all: bool) {
        self.viewers.values().filter(|line| all || line.is_apart).for_each(|line| line.told.notify_all());
    }

    /// Whether viewers will probably return memory soon.
    fn is_patient(&self) -> bool {
        self.lent.is_some_and(|lent| lent.elapsed() < FULL)
    }

    /// Returns the picture for a viewer whose last one has this number; published pictures are the same for all.
    fn wanted(&self, sent: u64, wish: &Wish) -> Option<&Picture> {
        let newest = self.newest.as_ref().filter(|_| self.serial > sent)?;
        let is_lent = (newest.waits || newest.ticket.is_some()) && wish.place == self.place;
        (sent == 0 && !newest.waits || !is_lent && newest.message.len() > LARGE).then_some(newest)
    }
}
