//! Commands that queues submit to a device.

use super::host_buffer::HostBuffer;
use super::read_back::ReadSlot;
use std::ops::Range;

/// Memory that a command keeps alive, and which bytes of it.
pub struct Piece<B> {
    /// The memory.
    pub block: B,
    /// Bytes inside it; not empty.
    pub range: Range<usize>,
}

/// A checked command. It owns all that the device uses: `B` keeps a backend's memory alive, `L` is a launch of its.
pub enum Command<B, L> {
    /// Runs a kernel.
    Launch {
        /// The kernel and its values.
        launch: L,
        /// The bytes to write.
        target: Piece<B>,
        /// The memories among its arguments, which it reads, in argument order.
        memory: Vec<B>,
    },
    /// Copies to the front of `into`, which is as long.
    Read {
        /// On the device.
        from: Piece<B>,
        /// On the host.
        into: HostBuffer,
        /// Receives the bytes once they are read.
        slot: ReadSlot,
    },
    /// Copies the front of `from`, which is as long.
    Write {
        /// On the host.
        from: HostBuffer,
        /// On the device.
        to: Piece<B>,
    },
    /// Copies as many bytes as both pieces have.
    Copy {
        /// The source.
        from: Piece<B>,
        /// The destination.
        to: Piece<B>,
    },
    /// Repeats a pattern.
    Fill {
        /// A whole number of patterns.
        to: Piece<B>,
        /// 1, 2, 4, 8 or 16 bytes.
        pattern: Vec<u8>,
    },
    /// For its event only.
    Nothing,
}

impl<B, L> Command<B, L> {
    /// Hands out what was read, and gives back what is left of a command that is done.
    pub fn landed(self) -> Option<Self> {
        match self {
            Self::Read { into, slot, .. } => {
                slot.put(into);
                None
            }
            other => Some(other),
        }
    }
}
