//! The binary format of messages, specified in `integrations/net/docs/protocol.md`: one header for all kinds, and
//! limits.

mod codes;
mod error;
mod header;

pub use codes::{Codec, MessageKind};
pub use error::WireError;
pub use header::{Header, Limits, too_large};

/// First bytes of every message.
pub const MAGIC: [u8; 4] = *b"PXFY";
/// Version of the protocol. It increases when a reader of the previous version would misread a message.
pub const VERSION: u16 = 1;
/// Size of a header in bytes; the payload follows.
pub const HEADER_BYTES: usize = 128;

/// Reads consecutive little-endian numbers. Past the end they are zero: callers check the length first.
#[derive(Debug, Clone)]
pub struct Numbers<'a>(pub &'a [u8]);

macro_rules! numbers {
    ($($of:ident)*) => {$(
        /// Returns the next number.
        pub fn $of(&mut self) -> $of {
            $of::from_le_bytes(self.take())
        }
    )*};
}

impl Numbers<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let there = self.0.len().min(N);
        let (now, rest) = self.0.split_at(there);
        bytes[..there].copy_from_slice(now);
        self.0 = rest;
        bytes
    }

    numbers!(u8 u16 u32 u64);
}
