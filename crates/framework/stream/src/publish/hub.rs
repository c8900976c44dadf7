//! State that a publisher's display thread and socket thread share.

use crate::wire::frame::PlacedFrame;
use crate::wire::message::{Device, Notice, PieceKind, encode};
use crate::wire::socket::{Connection, send};
use crate::wire::table::{From, PLACES, Reader, Table};
use interop_core::describe::PlainMutex;
use interop_core::describe::process::ProcessMark;
use interop_core::{Error, Result};
use rustix::net::sockopt::set_socket_send_buffer_size;
use std::cmp::Reverse;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, MutexGuard};

/// Send buffer of a subscriber's socket in bytes: about ten notices. Unread notices keep the memory of their pieces.
const UNREAD_BYTES: usize = 4096;
/// Send buffer for the last notices when a stream ends: enough for every piece.
const LAST_BYTES: usize = 32 * UNREAD_BYTES;

/// A subscriber. It remains one until its connection ends, whether it reads its notices or not.
pub(crate) struct Peer {
    id: u64,
    connection: Arc<Connection>,
    reader: Reader,
    /// Wakes the subscriber (`eventfd(2)`).
    wake: OwnedFd,
    /// Number of the piece that the subscriber knows in each place of the table; 0 for no piece. It must be notified of
    /// places where the table differs.
    told: Box<[u64; PLACES]>,
    is_behind: bool,
}

impl Peer {
    pub(crate) fn new(id: u64, connection: Arc<Connection>, reader: Reader, wake: OwnedFd) -> Self {
        Self { id, connection, reader, wake, told: Box::new([0; PLACES]), is_behind: false }
    }

    /// Sends notices of all changes, newest pieces first, until the socket is full.
    fn catch_up(&mut self, places: &[Option<PieceEntry>]) {
        let number = |place: usize| places[place].as_ref().map_or(0, |piece| piece.number);
        let mut changed: Vec<_> = (0..PLACES).filter(|place| self.told[*place] != number(*place)).collect();
        changed.sort_by_key(|place| Reverse(number(*place)));
        self.is_behind = !changed.into_iter().all(|place| self.tell(place, places[place].as_ref()));
    }

    /// Sends a notice about one place; `false` if the socket is full.
    fn tell(&mut self, place: usize, piece: Option<&PieceEntry>) -> bool {
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

/// A piece of memory, as notices describe it.
struct PieceEntry {
    notice: Notice,
    number: u64,
    descriptor: OwnedFd,
}

struct HubState {
    peers: Vec<Peer>,
    /// Piece in each place of the table.
    places: Vec<Option<PieceEntry>>,
    last_piece: u64,
    last_frame: u64,
    has_ended: bool,
}

/// Table, subscribers and pieces of a stream.
pub(crate) struct Hub {
    pub table: Table,
    pub made: ProcessMark,
    /// Maximum number of subscribers.
    readers: usize,
    state: PlainMutex<HubState>,
}

impl Hub {
    pub(crate) fn new(readers: usize) -> Result<Self> {
        let places = std::iter::repeat_with(|| None).take(PLACES).collect();
        let state = HubState { peers: Vec::new(), places, last_piece: 0, last_frame: 0, has_ended: false };
        Ok(Self { table: Table::create()?, made: ProcessMark::here(), readers, state: PlainMutex::new(state) })
    }

    /// No holder of the lock panics; even if one did, the state would be consistent.
    fn state(&self) -> MutexGuard<'_, HubState> {
        self.state.lock()
    }

    /// Refuses calls in a forked child.
    pub(crate) fn check_process(&self) -> Result<()> {
        self.made.check("the publisher of the stream")
    }

    /// Current number of subscribers.
    pub(crate) fn subscribers(&self) -> usize {
        if self.made.is_here() { self.state().peers.len() } else { 0 }
    }

    /// Admits a subscriber, whose page is `page`, and notifies it of every piece from now on.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if there are enough subscribers, or the socket accepts no data.
    pub(crate) fn welcome(&self, mut peer: Peer, page: BorrowedFd<'_>, device: &Device) -> Result<()> {
        let mut state = self.state();
        if state.peers.len() >= self.readers {
            return Err(Error::unavailable(
                "another subscription to the stream",
                format!("all {} subscriptions are in use", state.peers.len()),
                "End one of them, or allow more in the publisher (StreamOptions::readers).",
            ));
        }
        let number = |place: &usize| state.places[*place].as_ref().map(|piece| piece.number);
        // The first piece comes with the welcome: the subscriber tries with it whether it can use the device's memory.
        let first = (0..PLACES).filter(|place| number(place).is_some()).min_by_key(number);
        let text = encode(&Notice::Welcome { device: device.clone(), pieces: first.iter().len() })?;
        let connection = Arc::clone(&peer.connection);
        // If the system sets another size, that works as well.
        let _ = set_socket_send_buffer_size(connection.socket(), UNREAD_BYTES);
        if !send(connection.socket(), &text, &[self.table.descriptor().as_fd(), page, peer.wake.as_fd()])
            || !first.is_none_or(|place| peer.tell(place, state.places[place].as_ref()))
        {
            return Err(Error::refused("the subscriber's socket does not accept the welcome message"));
        }
        peer.catch_up(&state.places);
        state.peers.push(peer);
        Ok(())
    }

    /// Removes a subscriber whose connection has ended. The frame that it read may be overwritten.
    pub(crate) fn dismiss(&self, id: u64) {
        self.state().peers.retain(|peer| peer.id != id);
    }

    /// Sends a subscriber the notices that it missed, now that its socket has room.
    pub(crate) fn catch_up(&self, id: u64) {
        let HubState { peers, places, .. } = &mut *self.state();
        if let Some(peer) = peers.iter_mut().find(|peer| peer.id == id && peer.is_behind) {
            peer.catch_up(places);
        }
    }

    /// Gives a piece a place in the table and notifies all subscribers. Returns the place.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if all places are in use.
    pub(crate) fn list(&self, kind: PieceKind, bytes: u64, descriptor: OwnedFd) -> Result<usize> {
        self.check_process()?;
        let HubState { peers, places, last_piece, .. } = &mut *self.state();
        let place = places.iter().position(Option::is_none).ok_or_else(|| Error::Unavailable {
            what: "another piece of stream memory".into(),
            reason: format!("a stream has at most {PLACES} pieces"),
            hint: "Publish with fewer readers or a smaller ring.".into(),
        })?;
        *last_piece += 1;
        let number = *last_piece;
        self.table.settle(place, number);
        places[place] = Some(PieceEntry { notice: Notice::Piece { number, kind, bytes }, number, descriptor });
        peers.iter_mut().for_each(|peer| peer.catch_up(places));
        Ok(place)
    }

    /// Removes a piece from the table. A piece of an ended stream stays for its last subscribers.
    pub(crate) fn unlist(&self, place: usize) {
        if !self.made.is_here() {
            return;
        }
        let HubState { peers, places, has_ended, .. } = &mut *self.state();
        if !*has_ended {
            self.table.vacate(place);
        }
        places[place] = None;
        peers.iter_mut().for_each(|peer| peer.catch_up(places));
    }

    /// Ends the stream: sends notices of the pieces, one of which has the newest frame, and closes the connections.
    pub(crate) fn end(&self) {
        let HubState { peers, places, has_ended, .. } = &mut *self.state();
        *has_ended = true;
        for mut peer in peers.drain(..) {
            let _ = set_socket_send_buffer_size(peer.connection.socket(), LAST_BYTES);
            peer.catch_up(places);
        }
    }

    /// Marks a piece as being written, unless a subscriber reads it.
    pub(crate) fn claim(&self, place: usize) -> bool {
        let state = self.state();
        self.table.claim(place, state.peers.iter().map(|peer| &peer.reader))
    }

    /// Returns the number of the next frame.
    pub(crate) fn next_frame(&self) -> u64 {
        let mut state = self.state();
        state.last_frame += 1;
        state.last_frame
    }

    pub(crate) fn publish(&self, frame: u64, place: usize, from: &[From], placed: &PlacedFrame) {
        self.table.publish(frame, place, from, placed.words());
    }

    /// Wakes all subscribers that wait for a frame; returns the number of subscribers.
    pub(crate) fn wake(&self) -> usize {
        let HubState { peers, places, .. } = &mut *self.state();
        for peer in peers.iter_mut() {
            if peer.is_behind {
                peer.catch_up(places);
            }
            // If the counter is full, the subscriber has been woken often enough.
            let _ = rustix::io::write(&peer.wake, &1_u64.to_ne_bytes());
        }
        peers.len()
    }

    /// Returns whether a subscriber cannot use the memory that kernels write.
    pub(crate) fn is_asked_for_the_host(&self) -> bool {
        self.made.is_here() && self.state().peers.iter().any(|peer| peer.reader.asks_for_the_host())
    }
}
