//! Commands that queues submit to a device.

use super::host_buffer::HostBuffer;
use super::read_back::ReadSlot;
use std::ops::Range;

/// Memory that a command keeps alive, and the bytes of it that it uses.
pub struct Piece<B> {
    /// The memory; a command owns a reference to it.
    pub block: B,
    /// Bytes inside the memory; not empty.
    pub range: Range<usize>,
}

/// A checked command. It owns everything that the device uses: `B` keeps a backend's memory alive, and `L` is a launch
/// of the backend.
pub enum Command<B, L> {
    /// Runs a kernel.
    Launch {
        /// The kernel and its argument values.
        launch: L,
        /// The bytes that the kernel may write.
        target: Piece<B>,
        /// The memories among the arguments, which the kernel reads, in argument order.
        memory: Vec<B>,
    },
    /// Copies from the device to the front of `into`, which has the same length.
    Read {
        /// Source on the device.
        from: Piece<B>,
        /// Destination on the host.
        into: HostBuffer,
        /// Receives the bytes once they are read.
        slot: ReadSlot,
    },
    /// Copies the front of `from`, which has the same length, to the device.
    Write {
        /// Source on the host.
        from: HostBuffer,
        /// Destination on the device.
        to: Piece<B>,
    },
    /// Copies between two pieces of the same length.
    Copy {
        /// The source.
        from: Piece<B>,
        /// The destination.
        to: Piece<B>,
    },
    /// Fills memory with repetitions of a pattern.
    Fill {
        /// Destination; a whole number of patterns long.
        to: Piece<B>,
        /// The pattern: 1, 2, 4, 8 or 16 bytes.
        pattern: Vec<u8>,
    },
    /// Does nothing; only its event is of interest.
    Nothing,
}

impl<B, L> Command<B, L> {
    /// Delivers the bytes of a read that is done, and returns what remains of the command.
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
