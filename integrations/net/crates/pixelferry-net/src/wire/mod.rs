//! The bytes of messages, as `net/docs/protocol.md` specifies them.

mod codes;
mod error;
mod header;
mod job;
mod report;

pub use codes::{Codec, Kind};
pub use error::WireError;
pub use header::{Header, Limits};
pub use job::JobMessage;
pub use report::Report;

/// First bytes of every message.
pub const MAGIC: [u8; 4] = *b"PXFY";
/// Version of the protocol. It goes up where a reader of the one before would misread a message.
pub const VERSION: u16 = 1;
/// Bytes of a header; the payload follows.
pub const HEADER_BYTES: usize = 128;

/// Little-endian numbers one after the other. Past the end they read as zero: callers check the length first.
pub(crate) struct Numbers<'a>(pub &'a [u8]);

impl Numbers<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        let there = self.0.len().min(N);
        let (now, rest) = self.0.split_at(there);
        bytes[..there].copy_from_slice(now);
        self.0 = rest;
        bytes
    }

    pub fn u8(&mut self) -> u8 {
        u8::from_le_bytes(self.take())
    }

    pub fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    pub fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }
}
