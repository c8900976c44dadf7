//! Delivery of a server's pictures, on threads of its own: small and lent ones by one publication for all, large ones to each
//! viewer that asked for one more, as fast as its line takes them. The newest wins everywhere.

use crate::lend::Ticket;
use crate::lock::lock;
use crate::pack::mark;
use pixelferry_media::wire::Header;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use zenoh::Wait;
use zenoh::bytes::ZBytes;
use zenoh::query::Query;

/// Messages above this go to each viewer by itself: of larger ones, the queue of a line (1 MiB) does not hold two.
pub(crate) const LARGE: usize = 512 << 10;
/// Pictures that a viewer asks for ahead: the next begins when the one before ends.
pub(crate) const AHEAD: usize = 2;
/// Longest time that a viewer waits for a newer picture before it has to ask again.
const HOLD: Duration = Duration::from_secs(2);
/// A viewer that asks for nothing for so long is gone.
const GONE: Duration = Duration::from_secs(10);
/// Longest time without a lent picture, as viewers read all memory, before they get copies; and how often it is looked.
const FULL: Duration = Duration::from_millis(100);
const LOOK: Duration = Duration::from_millis(1);
/// Viewers of large pictures, each with a thread.
const MOST: usize = 1024;

/// A picture that is sent.
#[derive(Clone)]
pub(crate) struct Picture {
    pub header: Header,
    pub message: ZBytes,
    /// Where viewers of the same place find it.
    pub ticket: Option<Ticket>,
    /// True where it is to be lent as soon as there is memory.
    pub waits: bool,
}

/// A viewer's query with its wish.
type Asked = (Query, Wish);

/// The pictures of one server.
pub(crate) struct Delivery {
    key: String,
    state: Mutex<State>,
    /// A picture is there: for the publication, and for single viewers.
    small: Condvar,
    wanted: Condvar,
}

#[derive(Default)]
struct State {
    newest: Option<Picture>,
    /// Number of the newest, from 1.
    serial: u64,
    /// Whether receivers measure, and the place of this program's memory.
    marked: bool,
    place: u64,
    is_over: bool,
    /// Time of the newest lent picture.
    lent: Option<Instant>,
    /// Viewers that wait for pictures of their own.
    apart: usize,
    viewers: BTreeMap<u64, SyncSender<Asked>>,
}

impl Delivery {
    pub fn new(key: String) -> Arc<Self> {
        Arc::new(Self { key, state: Mutex::default(), small: Condvar::new(), wanted: Condvar::new() })
    }

    /// Hands on the newest picture.
    pub fn put(&self, mut picture: Picture, marked: bool, place: u64) {
        let mut state = lock(&self.state);
        state.is_over = false;
        state.serial += 1;
        state.note(&picture);
        picture.waits &= state.is_patient();
        let is_wanted = state.apart > 0 || picture.ticket.is_none();
        (state.newest, state.marked, state.place) = (Some(picture), marked, place);
        drop(state);
        self.small.notify_one();
        if is_wanted {
            self.wanted.notify_all();
        }
    }

    /// Ends all threads: the one of small pictures after the newest.
    pub fn end(&self) {
        lock(&self.state).is_over = true;
        self.small.notify_all();
        self.wanted.notify_all();
    }

    /// Gives each small or lent picture to `publish`, the newest of those that come meanwhile, until the end. `lend` copies
    /// one to memory that is lent, where there is some by now.
    pub fn publish(&self, lend: impl Fn(&Picture) -> Option<Picture>, mut publish: impl FnMut(Picture)) {
        let mut sent = 0;
        loop {
            let state = lock(&self.state);
            let waits = |state: &mut State| state.serial == sent && !state.is_over;
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
            picture.into_iter().for_each(&mut publish);
        }
    }

    /// Waits for memory to lend a picture, and gives it up after a while; `None` where a newer one came.
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
                self.wanted.notify_all();
                return Some(settled);
            }
            drop(self.small.wait_timeout(state, LOOK));
        }
    }

    /// Takes a viewer's wish for one more picture; one without a number wants the newest that is there.
    pub fn ask(self: &Arc<Self>, query: Query) {
        let Some(wish) = query.payload().and_then(|wish| Wish::read(&wish.to_bytes())) else {
            let newest = lock(&self.state).newest.clone();
            return newest.iter().for_each(|picture| self.send(&query, picture, None, None));
        };
        let mut state = lock(&self.state);
        if let Some(known) = state.viewers.get(&wish.viewer) {
            // Of more than it may ask for ahead, the rest goes without an answer.
            let _ = known.try_send((query, wish));
        } else if state.viewers.len() < MOST {
            let (sender, queries) = sync_channel(2 * AHEAD);
            let _ = sender.try_send((query, wish));
            state.viewers.insert(wish.viewer, sender);
            let told = self.clone();
            let serve = move || told.serve(wish.viewer, &queries);
            if std::thread::Builder::new().name("pixelferry-view".into()).spawn(serve).is_err() {
                state.viewers.remove(&wish.viewer);
            }
        }
    }

    /// Answers one viewer, until it is gone.
    fn serve(&self, viewer: u64, wishes: &Receiver<Asked>) {
        let mut sent = 0;
        loop {
            let (query, wish) = match wishes.recv_timeout(GONE) {
                Ok(wish) => wish,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let mut state = lock(&self.state);
                    let Ok(wish) = wishes.try_recv() else {
                        state.viewers.remove(&viewer);
                        break;
                    };
                    wish
                }
            };
            let mut state = lock(&self.state);
            let is_apart = sent == 0 || wish.place != state.place;
            state.apart += usize::from(is_apart);
            let waits = |state: &mut State| !state.is_over && state.wanted(sent, &wish).is_none();
            let waited = self.wanted.wait_timeout_while(state, HOLD, waits).unwrap_or_else(PoisonError::into_inner);
            let (mut state, is_late) = (waited.0, waited.1.timed_out());
            state.apart -= usize::from(is_apart);
            // A publication may be lost on its way: the last of all would be missed.
            let lent =
                || state.newest.as_ref().filter(|newest| is_late && state.serial > sent && newest.ticket.is_some());
            let Some(picture) = state.wanted(sent, &wish).or_else(lent).cloned() else { continue };
            let (marked, ours) = (state.marked, state.place);
            sent = state.serial;
            drop(state);
            let ticket = picture.ticket.filter(|_| ours == wish.place);
            self.send(&query, &picture, marked.then_some(ours), ticket);
        }
    }

    fn send(&self, query: &Query, picture: &Picture, place: Option<u64>, ticket: Option<Ticket>) {
        let marked = place.map_or(Ok(()), |place| {
            query.reply(&self.key, mark(&picture.header)).attachment(place.to_le_bytes()).wait()
        });
        let sent = marked.and_then(|()| match ticket {
            Some(ticket) => query.reply(&self.key, picture.header.to_bytes()).attachment(ticket.to_bytes()).wait(),
            None => query.reply(&self.key, picture.message.clone()).wait(),
        });
        if let Err(error) = sent {
            tracing::debug!("no picture was sent: {error}");
        }
    }
}

impl State {
    fn note(&mut self, picture: &Picture) {
        if picture.ticket.is_some() {
            self.lent = Some(Instant::now());
        }
    }

    /// True while it is likely that viewers give memory back soon.
    fn is_patient(&self) -> bool {
        self.lent.is_some_and(|lent| lent.elapsed() < FULL)
    }

    /// The picture for a viewer that had the one of this number last, and those of the publication as all have them.
    fn wanted(&self, sent: u64, wish: &Wish) -> Option<&Picture> {
        let newest = self.newest.as_ref().filter(|_| self.serial > sent)?;
        let is_lent = (newest.waits || newest.ticket.is_some()) && wish.place == self.place;
        (sent == 0 && !newest.waits || !is_lent && newest.message.len() > LARGE).then_some(newest)
    }
}

/// Wish of a viewer for one picture more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish {
    pub viewer: u64,
    /// The place whose memory it reads.
    pub place: u64,
}

impl Wish {
    pub fn to_bytes(self) -> Vec<u8> {
        [self.viewer, self.place].map(u64::to_le_bytes).concat()
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (viewer, rest) = bytes.split_first_chunk()?;
        Some(Self { viewer: u64::from_le_bytes(*viewer), place: u64::from_le_bytes(rest.try_into().ok()?) })
    }
}
