//! Messages of the socket: one JSON text per packet, with the descriptors that belong to it.

use super::socket::LONGEST;
use interop_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// Version of the protocol between publisher and subscriber. Other versions are refused.
pub(crate) const VERSION: u32 = 2;

/// The only message of a subscriber.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hello {
    pub version: u32,
}

/// Kind of a piece of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum PieceKind {
    /// Shared pages of the host.
    Host,
    /// Memory of the publisher's device, as an opaque descriptor (`VK_KHR_external_memory_fd`).
    Device {
        /// Whether it is a dedicated allocation for one buffer.
        dedicated: bool,
        /// Bytes of the whole allocation, which importers must know.
        allocation: u64,
    },
}

/// The publisher's device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Device {
    /// `None` if all memory is the host's.
    pub uuid: Option<[u8; 16]>,
    pub name: String,
    /// Number that determines the content of the first piece of its memory.
    pub proof: u64,
}

/// A publisher's message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Notice {
    /// The first message. Its descriptors are the publisher's page, the subscriber's page, and the eventfd that wakes
    /// the subscriber (`eventfd(2)`).
    Welcome {
        device: Device,
        /// Number of messages about pieces that follow at once.
        pieces: usize,
    },
    /// The first message to a refused subscriber.
    Refused {
        /// Reason for the user.
        reason: String,
    },
    /// A piece of memory; its descriptor comes with the message.
    Piece { number: u64, kind: PieceKind, bytes: u64 },
    /// The publisher has released a piece.
    Gone { number: u64 },
}

pub(crate) fn encode(message: &impl Serialize) -> Result<Vec<u8>> {
    let bytes = serde_json::to_vec(message).map_err(|error| Error::refused(error.to_string()))?;
    if bytes.len() > LONGEST {
        return Err(Error::refused(format!("a message has {} bytes, more than {LONGEST}", bytes.len())));
    }
    Ok(bytes)
}

/// Decodes a message.
///
/// # Errors
/// [`Error::InvalidInput`] for an invalid message.
pub(crate) fn decode<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| Error::refused(format!("invalid message of the stream: {error}")))
}
