//! A piece of memory that subscribers can open.

use super::hub::Hub;
use crate::wire::message::PieceKind;
use interop_core::Result;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// A piece's place in the table, which is freed on drop. Subscribers keep memory that they have opened.
pub(crate) struct Piece {
    hub: Arc<Hub>,
    pub place: usize,
    pub kind: PieceKind,
}

impl Piece {
    pub(crate) fn new(hub: &Arc<Hub>, kind: PieceKind, bytes: usize, descriptor: OwnedFd) -> Result<Self> {
        let place = hub.list(kind, bytes as u64, descriptor)?;
        Ok(Self { hub: Arc::clone(hub), place, kind })
    }

    /// Marks the piece as being written; `false` if a subscriber reads it.
    pub(crate) fn claim(&self) -> bool {
        self.hub.claim(self.place)
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.hub.unlist(self.place);
    }
}
