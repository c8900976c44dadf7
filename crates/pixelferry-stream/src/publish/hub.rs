//! State that the display's thread and the socket's thread of a publisher share.

use crate::wire::frame::Placed;
use crate::wire::message::{Device, Kind, Notice, encode};
use crate::wire::socket::send;
use crate::wire::table::{From, PLACES, Reader, Table};
use interop_core::{Error, Result};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A subscriber.
pub(crate) struct Peer {
    pub id: u64,
    pub socket: OwnedFd,
    pub reader: Reader,
    /// Wakes it (`eventfd(2)`).
    pub wake: OwnedFd,
}

/// A piece of memory, as subscribers are told of it.
struct Listed {
    notice: Notice,
    number: u64,
    descriptor: OwnedFd,
}

struct State {
    peers: Vec<Peer>,
    pieces: Vec<Listed>,
    /// Numbers of the pieces in the table's places.
    places: [Option<u64>; PLACES],
    last_piece: u64,
    last_frame: u64,
}

/// The table, the subscribers and the pieces of a stream.
pub(crate) struct Hub {
    pub table: Table,
    /// Subscribers at most.
    readers: usize,
    state: Mutex<State>,
}

impl Hub {
    pub(crate) fn new(readers: usize) -> Result<Self> {
        let state =
            State { peers: Vec::new(), pieces: Vec::new(), places: [None; PLACES], last_piece: 0, last_frame: 0 };
        Ok(Self { table: Table::create()?, readers, state: Mutex::new(state) })
    }

    /// Nobody panics while he holds it; where somebody did, what is there is whole.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn subscribers(&self) -> usize {
        self.state().peers.len()
    }

    /// Welcomes a subscriber: it learns of every piece there is, and of others from now on.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where there are enough, or its socket takes nothing.
    pub(crate) fn welcome(&self, peer: Peer, descriptors: &[BorrowedFd<'_>], device: &Device) -> Result<()> {
        let mut state = self.state();
        if state.peers.len() >= self.readers {
            return Err(Error::Unavailable {
                what: "a place at the stream".into(),
                reason: format!("it has {} subscribers, and its publisher allows no more", state.peers.len()),
                hint: "End one of them, or let the publisher allow more (StreamOptions::readers).".into(),
            });
        }
        let welcome = Notice::Welcome { device: device.clone(), pieces: state.pieces.len() };
        let mut sent = send(&peer.socket, &encode(&welcome)?, descriptors);
        for piece in &state.pieces {
            sent = sent && send(&peer.socket, &encode(&piece.notice)?, &[piece.descriptor.as_fd()]);
        }
        if !sent {
            return Err(Error::refused("the subscriber does not read its socket"));
        }
        state.peers.push(peer);
        Ok(())
    }

    /// Lets a subscriber go; what it read may be written.
    pub(crate) fn dismiss(&self, id: u64) {
        self.state().peers.retain(|peer| peer.id != id);
    }

    pub(crate) fn has(&self, id: u64) -> bool {
        self.state().peers.iter().any(|peer| peer.id == id)
    }

    /// Gives a piece a place and tells everybody of it. Returns the place and the piece's number.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where all places are taken.
    pub(crate) fn list(&self, kind: Kind, bytes: u64, descriptor: OwnedFd) -> Result<(usize, u64)> {
        let mut state = self.state();
        let place = state.places.iter().position(Option::is_none).ok_or_else(|| Error::Unavailable {
            what: "a place for another piece of memory".into(),
            reason: format!("a stream has at most {PLACES}"),
            hint: "Publish with fewer readers or a smaller ring.".into(),
        })?;
        state.last_piece += 1;
        let number = state.last_piece;
        let notice = Notice::Piece { number, kind, bytes };
        let text = encode(&notice)?;
        state.places[place] = Some(number);
        self.table.settle(place, number);
        state.peers.retain(|peer| send(&peer.socket, &text, &[descriptor.as_fd()]));
        state.pieces.push(Listed { notice, number, descriptor });
        Ok((place, number))
    }

    /// Takes a piece off the list.
    pub(crate) fn unlist(&self, place: usize, number: u64) {
        let mut state = self.state();
        self.table.vacate(place);
        state.places[place] = None;
        state.pieces.retain(|piece| piece.number != number);
        if let Ok(text) = encode(&Notice::Gone { number }) {
            state.peers.retain(|peer| send(&peer.socket, &text, &[]));
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
        let state = self.state();
        for peer in &state.peers {
            // Where its counter is full it has been woken often enough.
            let _ = rustix::io::write(&peer.wake, &1_u64.to_ne_bytes());
        }
        state.peers.len()
    }

    /// True where somebody cannot use the memory that kernels write.
    pub(crate) fn is_asked_for_the_host(&self) -> bool {
        self.state().peers.iter().any(|peer| peer.reader.asks_for_the_host())
    }
}
