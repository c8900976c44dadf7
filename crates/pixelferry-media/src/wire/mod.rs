//! The bytes of messages, as `integrations/net/docs/protocol.md` specifies them: one header for all kinds, and its limits.

mod codes;
mod error;
mod header;

pub use codes::{Codec, Kind};
pub use error::WireError;
pub use header::{Header, Limits, too_large};

/// First bytes of every message.
pub const MAGIC: [u8; 4] = *b"PXFY";
/// Version of the protocol. It goes up where a reader of the one before would misread a message.
pub const VERSION: u16 = 1;
/// Bytes of a header; the payload follows.
pub const HEADER_BYTES: usize = 128;

/// Little-endian numbers one after the other. Past the end they read as zero: callers check the length first.
#[derive(Debug, Clone)]
pub struct Numbers<'a>(pub &'a [u8]);

macro_rules! numbers {
    ($($of:ident)*) => {$(
        /// The next number.
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
