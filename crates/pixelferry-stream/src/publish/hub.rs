//! State that the display's thread and the socket's thread of a publisher share.

use crate::wire::frame::Placed;
use crate::wire::message::{Device, Kind, Notice, encode};
use crate::wire::socket::{Connection, send};
use crate::wire::table::{From, PLACES, Reader, Table};
use interop_core::describe::process::ProcessMark;
use interop_core::{Error, Result};
use rustix::net::sockopt::set_socket_send_buffer_size;
use std::cmp::Reverse;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of a subscriber's socket: about ten notices. Those that nobody reads keep the memory of their pieces.
const UNREAD_BYTES: usize = 4096;
/// Bytes for the last notices of a stream that ends: enough for every piece that there is then.
const LAST_BYTES: usize = 32 * UNREAD_BYTES;

/// A subscriber. It stays one until its connection ends, whether it reads what it is told or not.
pub(crate) struct Peer {
    id: u64,
    connection: Arc<Connection>,
    reader: Reader,
    /// Wakes it (`eventfd(2)`).
    wake: OwnedFd,
    /// The piece that it knows in each place of the table; 0: none. What it is to be told is where the table differs.
    told: Box<[u64; PLACES]>,
    is_behind: bool,
}

impl Peer {
    pub(crate) fn new(id: u64, connection: Arc<Connection>, reader: Reader, wake: OwnedFd) -> Self {
        Self { id, connection, reader, wake, told: Box::new([0; PLACES]), is_behind: false }
    }

    /// Tells it of what changed, the newest pieces first, as far as its socket takes it.
    fn catch_up(&mut self, places: &[Option<Listed>]) {
        let number = |place: usize| places[place].as_ref().map_or(0, |piece| piece.number);
        let mut changed: Vec<_> = (0..PLACES).filter(|place| self.told[*place] != number(*place)).collect();
        changed.sort_by_key(|place| Reverse(number(*place)));
        self.is_behind = !changed.into_iter().all(|place| self.tell(place, places[place].as_ref()));
    }

    /// Tells it of one place; `false` where its socket takes no more.
    fn tell(&mut self, place: usize, piece: Option<&Listed>) -> bool {
        let socket = self.connection.socket();
        let told = &mut self.told[place];
        if *told != 0 {
            let gone = encode(&Notice::Gone { number: *told });
            if !gone.is_ok_and(|text| send(socket, &text, &[])) {
                return false;
            }
            *told = 0;
        }
        let Some(piece) = piece else { return true };
        let is_sent = encode(&piece.notice).is_ok_and(|text| send(socket, &text, &[piece.descriptor.as_fd()]));
        if is_sent {
            *told = piece.number;
        }
        is_sent
    }
}

/// A piece of memory, as subscribers are told of it.
struct Listed {
    notice: Notice,
    number: u64,
    descriptor: OwnedFd,
}

struct State {
    peers: Vec<Peer>,
    /// Pieces in the table's places.
    places: Vec<Option<Listed>>,
    last_piece: u64,
    last_frame: u64,
    has_ended: bool,
}

/// The table, the subscribers and the pieces of a stream.
pub(crate) struct Hub {
    pub table: Table,
    pub made: ProcessMark,
    /// Subscribers at most.
    readers: usize,
    state: Mutex<State>,
}

impl Hub {
    pub(crate) fn new(readers: usize) -> Result<Self> {
        let places = std::iter::repeat_with(|| None).take(PLACES).collect();
        let state = State { peers: Vec::new(), places, last_piece: 0, last_frame: 0, has_ended: false };
        Ok(Self { table: Table::create()?, made: ProcessMark::here(), readers, state: Mutex::new(state) })
    }

    /// Nobody panics while he holds it; where somebody did, what is there is whole.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses a forked child.
    pub(crate) fn check_process(&self) -> Result<()> {
        self.made.check("the publisher of the stream")
    }

    /// Subscribers of this process.
    pub(crate) fn subscribers(&self) -> usize {
        if self.made.is_here() { self.state().peers.len() } else { 0 }
    }

    /// Welcomes a subscriber, whose page this is: it learns of every piece there is, and of others from now on.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where there are enough, or its socket takes nothing.
    pub(crate) fn welcome(&self, mut peer: Peer, page: BorrowedFd<'_>, device: &Device) -> Result<()> {
        let mut state = self.state();
        if state.peers.len() >= self.readers {
            return Err(Error::Unavailable {
                what: "a place at the stream".into(),
                reason: format!("each of its {} places has a subscriber", state.peers.len()),
                hint: "End one of them, or let the publisher allow more (StreamOptions::readers).".into(),
            });
        }
        let number = |place: &usize| state.places[*place].as_ref().map(|piece| piece.number);
        // The first piece, by which the subscriber tries how it gets at memory of the device, comes along with the welcome.
        let first = (0..PLACES).filter(|place| number(place).is_some()).min_by_key(number);
        let text = encode(&Notice::Welcome { device: device.clone(), pieces: first.iter().len() })?;
        let connection = Arc::clone(&peer.connection);
        // What the system makes of another size is as good.
        let _ = set_socket_send_buffer_size(connection.socket(), UNREAD_BYTES);
        if !send(connection.socket(), &text, &[self.table.descriptor().as_fd(), page, peer.wake.as_fd()])
            || !first.is_none_or(|place| peer.tell(place, state.places[place].as_ref()))
        {
            return Err(Error::refused("the subscriber's socket takes no welcome"));
        }
        peer.catch_up(&state.places);
        state.peers.push(peer);
        Ok(())
    }

    /// Lets a subscriber go, whose connection has ended; what it read may be written.
    pub(crate) fn dismiss(&self, id: u64) {
        self.state().peers.retain(|peer| peer.id != id);
    }

    /// Tells a subscriber what it has missed, as its socket takes more.
    pub(crate) fn catch_up(&self, id: u64) {
        let State { peers, places, .. } = &mut *self.state();
        if let Some(peer) = peers.iter_mut().find(|peer| peer.id == id && peer.is_behind) {
            peer.catch_up(places);
        }
    }

    /// Gives a piece a place and tells everybody of it. Returns the place.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where all places are taken.
    pub(crate) fn list(&self, kind: Kind, bytes: u64, descriptor: OwnedFd) -> Result<usize> {
        self.check_process()?;
        let State { peers, places, last_piece, .. } = &mut *self.state();
        let place = places.iter().position(Option::is_none).ok_or_else(|| Error::Unavailable {
            what: "a place for another piece of memory".into(),
            reason: format!("a stream has at most {PLACES}"),
            hint: "Publish with fewer readers or a smaller ring.".into(),
        })?;
        *last_piece += 1;
        let number = *last_piece;
        self.table.settle(place, number);
        places[place] = Some(Listed { notice: Notice::Piece { number, kind, bytes }, number, descriptor });
        peers.iter_mut().for_each(|peer| peer.catch_up(places));
        Ok(place)
    }

    /// Takes a piece off the list. One of a stream that has ended stays for its last subscribers.
    pub(crate) fn unlist(&self, place: usize) {
        if !self.made.is_here() {
            return;
        }
        let State { peers, places, has_ended, .. } = &mut *self.state();
        if !*has_ended {
            self.table.vacate(place);
        }
        places[place] = None;
        peers.iter_mut().for_each(|peer| peer.catch_up(places));
    }

    /// Ends the stream: tells everybody of the pieces there are, with the newest frame in one of them, and hangs up.
    pub(crate) fn end(&self) {
        let State { peers, places, has_ended, .. } = &mut *self.state();
        *has_ended = true;
        for mut peer in peers.drain(..) {
            let _ = set_socket_send_buffer_size(peer.connection.socket(), LAST_BYTES);
            peer.catch_up(places);
        }
    }

    /// Takes a place from who could read it, before it is written.
    pub(crate) fn claim(&self, place: usize) -> bool {
        let state = self.state();
        self.table.claim(place, state.peers.iter().map(|peer| &peer.reader))
    }

    /// Number of the next frame.
    pub(crate) fn next_frame(&self) -> u64 {
        let mut state = self.state();
        state.last_frame += 1;
        state.last_frame
    }

    pub(crate) fn publish(&self, frame: u64, place: usize, from: &[From], placed: &Placed) {
        self.table.publish(frame, place, from, placed.words());
    }

    /// Wakes everybody who waits for a frame; returns how many there are.
    pub(crate) fn wake(&self) -> usize {
        let State { peers, places, .. } = &mut *self.state();
        for peer in peers.iter_mut() {
            if peer.is_behind {
                peer.catch_up(places);
            }
            // Where its counter is full it has been woken often enough.
            let _ = rustix::io::write(&peer.wake, &1_u64.to_ne_bytes());
        }
        peers.len()
    }

    /// True where somebody cannot use the memory that kernels write.
    pub(crate) fn is_asked_for_the_host(&self) -> bool {
        self.made.is_here() && self.state().peers.iter().any(|peer| peer.reader.asks_for_the_host())
    }
}
