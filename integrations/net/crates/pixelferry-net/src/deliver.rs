//! Delivery of a server's pictures, on threads of its own: small and lent ones by one publication for all, large ones to each
//! viewer that asked for one more, as fast as its line takes them. The newest wins everywhere.

use crate::lend::Ticket;
use crate::lock::lock;
use crate::pack::mark;
use pixelferry_media::wire::Header;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
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
/// Viewers of large pictures, each with a thread.
const MOST: usize = 1024;

/// A picture that is sent.
#[derive(Clone)]
pub(crate) struct Picture {
    pub header: Header,
    pub message: ZBytes,
    /// Where viewers of the same place find it.
    pub ticket: Option<Ticket>,
}

/// A viewer's query, and the place whose memory it reads.
type Wish = (Query, u64);

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
    viewers: BTreeMap<u64, SyncSender<Wish>>,
}

impl Delivery {
    pub fn new(key: String) -> Arc<Self> {
        Arc::new(Self { key, state: Mutex::default(), small: Condvar::new(), wanted: Condvar::new() })
    }

    /// Forgets the newest, so that its memory is free for the next.
    pub fn clear(&self) {
        lock(&self.state).newest = None;
    }

    /// Hands on the newest picture.
    pub fn put(&self, picture: Picture, marked: bool, place: u64) {
        let mut state = lock(&self.state);
        state.is_over = false;
        state.serial += 1;
        (state.newest, state.marked, state.place) = (Some(picture), marked, place);
        drop(state);
        self.small.notify_one();
        self.wanted.notify_all();
    }

    /// Ends all threads: the one of small pictures after the newest.
    pub fn end(&self) {
        lock(&self.state).is_over = true;
        self.small.notify_all();
        self.wanted.notify_all();
    }

    /// Gives each small or lent picture to `publish`, the newest of those that come meanwhile, until the end.
    pub fn publish(&self, mut publish: impl FnMut(Picture)) {
        let mut sent = 0;
        loop {
            let state = lock(&self.state);
            let waits = |state: &mut State| state.serial == sent && !state.is_over;
            let state = self.small.wait_while(state, waits).unwrap_or_else(PoisonError::into_inner);
            if state.serial == sent {
                return;
            }
            sent = state.serial;
            let picture =
                state.newest.clone().filter(|picture| picture.ticket.is_some() || picture.message.len() <= LARGE);
            drop(state);
            picture.into_iter().for_each(&mut publish);
        }
    }

    /// Takes a viewer's wish for one more picture; one without a number wants the newest that is there.
    pub fn ask(self: &Arc<Self>, query: Query) {
        let wish = query.payload().map(|wish| wish.to_bytes().into_owned()).unwrap_or_default();
        let Some((viewer, place)) = read_wish(&wish) else {
            let newest = lock(&self.state).newest.clone();
            return newest.iter().for_each(|picture| self.send(&query, picture, None, None));
        };
        let mut state = lock(&self.state);
        if let Some(known) = state.viewers.get(&viewer) {
            // Of more than it may ask for ahead, the rest goes without an answer.
            let _ = known.try_send((query, place));
        } else if state.viewers.len() < MOST {
            let (sender, queries) = sync_channel(2 * AHEAD);
            let _ = sender.try_send((query, place));
            state.viewers.insert(viewer, sender);
            let told = self.clone();
            let serve = move || told.serve(viewer, &queries);
            if std::thread::Builder::new().name("pixelferry-view".into()).spawn(serve).is_err() {
                state.viewers.remove(&viewer);
            }
        }
    }

    /// Answers one viewer, until it is gone.
    fn serve(&self, viewer: u64, wishes: &Receiver<Wish>) {
        let mut sent = 0;
        loop {
            let (query, place) = match wishes.recv_timeout(GONE) {
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
            let state = lock(&self.state);
            let waits = |state: &mut State| !state.is_over && state.wanted(sent, place).is_none();
            let waited = self.wanted.wait_timeout_while(state, HOLD, waits).unwrap_or_else(PoisonError::into_inner);
            let Some(picture) = waited.0.wanted(sent, place).cloned() else { continue };
            let (marked, ours) = (waited.0.marked, waited.0.place);
            sent = waited.0.serial;
            drop(waited);
            let ticket = picture.ticket.filter(|_| ours == place);
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
    /// The picture for a viewer that had the one of this number last, and those of the publication as all have them.
    fn wanted(&self, sent: u64, place: u64) -> Option<&Picture> {
        let newest = self.newest.as_ref().filter(|_| self.serial > sent)?;
        let is_lent = newest.ticket.is_some() && place == self.place;
        (sent == 0 || !is_lent && newest.message.len() > LARGE).then_some(newest)
    }
}

/// Wish of a viewer: its number, and the place whose memory it reads.
pub(crate) fn wish(viewer: u64, place: [u8; 8]) -> Vec<u8> {
    [viewer.to_le_bytes(), place].concat()
}

fn read_wish(bytes: &[u8]) -> Option<(u64, u64)> {
    let (viewer, place) = bytes.split_first_chunk()?;
    Some((u64::from_le_bytes(*viewer), u64::from_le_bytes(place.try_into().ok()?)))
}
