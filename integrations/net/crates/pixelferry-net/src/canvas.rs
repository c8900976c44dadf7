//! Memory that a message is computed in: lent to other processes if that saves a copy, otherwise the program's own.

use crate::lend::{HeldSheet, Sheets, Ticket, place};
use bytes::Bytes;
use pixelferry_media::wire::HEADER_BYTES;

/// Memory of one program for lending.
pub(crate) struct Pool(Option<Sheets>);

impl Pool {
    /// `bytes` of shared memory; 0 for none.
    pub fn new(bytes: usize) -> Self {
        Self((bytes > 0 && place().is_ok()).then(|| Sheets::new(bytes)))
    }

    pub fn is_shared(&self) -> bool {
        self.0.is_some()
    }

    /// Returns whether a message with this payload may be lent, once there is room.
    pub fn lends(&self, payload: usize) -> bool {
        self.0.as_ref().is_some_and(|sheets| sheets.lends(payload.saturating_add(HEADER_BYTES)))
    }

    /// Returns a buffer for a message with `payload` bytes after its header; `None` if there is no memory for it.
    pub fn canvas(&self, payload: usize) -> Option<Canvas> {
        let bytes = payload.checked_add(HEADER_BYTES)?;
        let memory = match self.0.as_ref().and_then(|sheets| sheets.take(bytes)) {
            Some(held) => Memory::Shared(held),
            None => Memory::reserve(bytes)?,
        };
        // Bytes of an earlier message in shared memory are not part of the picture.
        Some(Canvas { memory, payload, is_clean: false })
    }
}

/// Memory of one message, header first.
pub(crate) enum Memory {
    Shared(HeldSheet),
    /// Reserved but not filled: zeros that pixels replace would cost as much as the pixels.
    Own(Vec<u8>),
}

impl Memory {
    /// `None` if the system has no such memory: the requester may be a stranger.
    fn reserve(bytes: usize) -> Option<Self> {
        let mut own = Vec::new();
        own.try_reserve_exact(bytes).ok()?;
        Some(Self::Own(own))
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Shared(held) => held.bytes_mut(),
            Self::Own(bytes) => bytes,
        }
    }

    /// The bytes behind the header.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        self.bytes_mut().get_mut(HEADER_BYTES..).unwrap_or_default()
    }
}

/// The bytes of one message, header first.
pub(crate) struct Canvas {
    memory: Memory,
    /// Bytes after the header.
    payload: usize,
    /// Whether the payload is zero, or a finished picture.
    is_clean: bool,
}

impl Canvas {
    pub fn is_shared(&self) -> bool {
        matches!(self.memory, Memory::Shared(_))
    }

    /// Bytes after the header.
    pub fn len(&self) -> usize {
        self.payload
    }

    /// Returns the bytes after the header, initially zero.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        if !std::mem::replace(&mut self.is_clean, true) {
            let bytes = HEADER_BYTES + self.payload;
            match &mut self.memory {
                Memory::Own(own) => own.resize(bytes, 0),
                Memory::Shared(held) => held.bytes_mut().fill(0),
            }
        }
        self.memory.payload_mut()
    }

    /// Takes the memory out, written or zero, for a user that may keep it. Without [`Canvas::put_back`] the canvas
    /// allocates new memory at its next write.
    pub fn take_out(&mut self) -> Memory {
        self.payload_mut();
        self.is_clean = false;
        std::mem::replace(&mut self.memory, Memory::Own(Vec::new()))
    }

    /// Puts back the result of [`Canvas::take_out`].
    pub fn put_back(&mut self, memory: Memory) {
        (self.memory, self.is_clean) = (memory, true);
    }

    /// Writes all bytes after the header, without zeroing them first; `false` if the lengths differ.
    pub fn write(&mut self, pixels: &[u8]) -> bool {
        if self.payload != pixels.len() {
            return false;
        }
        match &mut self.memory {
            Memory::Own(own) => {
                own.clear();
                own.reserve_exact(HEADER_BYTES + pixels.len());
                own.extend_from_slice(&[0; HEADER_BYTES]);
                own.extend_from_slice(pixels);
            }
            Memory::Shared(held) => {
                held.bytes_mut().get_mut(HEADER_BYTES..).unwrap_or_default().copy_from_slice(pixels);
            }
        }
        self.is_clean = true;
        true
    }

    /// Returns the message with this header, and the ticket with which others find it; unwritten bytes are zero.
    pub fn into_message(mut self, header: &[u8; HEADER_BYTES]) -> (Bytes, Option<Ticket>) {
        self.payload_mut();
        if let Some(place) = self.memory.bytes_mut().first_chunk_mut() {
            *place = *header;
        }
        match self.memory {
            Memory::Shared(held) => held.lend(),
            Memory::Own(bytes) => (bytes.into(), None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_sees_what_an_earlier_message_left() {
        let pool = Pool::new(1 << 20);
        let header = [7; HEADER_BYTES];
        // Fewer fit than are made, so that memory comes again.
        for round in 0..40 {
            let mut canvas = pool.canvas(200_000).unwrap();
            assert!(canvas.is_shared());
            if round % 2 == 0 {
                assert!(canvas.write(&[9; 200_000]) && !canvas.write(&[9; 3]));
                assert!(canvas.payload_mut().iter().all(|&byte| byte == 9));
            } else if round % 4 == 1 {
                assert!(canvas.payload_mut().iter().all(|&byte| byte == 0), "round {round}");
            } else {
                let message = canvas.into_message(&header).0;
                assert!(message[..HEADER_BYTES] == header && message[HEADER_BYTES..].iter().all(|&byte| byte == 0));
            }
        }
    }

    #[test]
    fn canvases_beyond_the_shared_memory_are_the_programs_own() {
        let pool = Pool::new(1 << 20);
        let mut many: Vec<_> = (0..20).map(|_| pool.canvas(100_000).unwrap()).collect();
        let shared = many.iter().filter(|canvas| canvas.is_shared()).count();
        assert!((5..=10).contains(&shared), "{shared}");
        let is_aligned = |canvas: &mut Canvas| canvas.payload_mut().as_ptr().addr().is_multiple_of(128);
        assert!(many.iter_mut().all(|canvas| !canvas.is_shared() || is_aligned(canvas)));
        assert!(!pool.canvas(1 << 20).unwrap().is_shared());
        assert!(!Pool::new(0).canvas(1).unwrap().is_shared());
        assert!(pool.canvas(usize::MAX).is_none());
        assert!(many.iter_mut().all(|canvas| canvas.len() == 100_000 && canvas.payload_mut().len() == 100_000));
    }
}
