//! Messages of the socket: JSON, one in each packet, with the descriptors that belong to it.

use super::socket::LONGEST;
use interop_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// Number of what publisher and subscriber say to each other. Others are refused.
pub(crate) const VERSION: u32 = 1;

/// The only message of a subscriber.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hello {
    pub version: u32,
}

/// Kind of a piece of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Kind {
    /// Shared pages of the host.
    Host,
    /// Memory of the publisher's device, by an opaque descriptor (`VK_KHR_external_memory_fd`).
    Device {
        /// It was made for one buffer alone.
        dedicated: bool,
        /// Bytes of the whole allocation, which importers are told.
        allocation: u64,
    },
}

/// The publisher's device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Device {
    /// None where all memory is the host's.
    pub uuid: Option<[u8; 16]>,
    pub name: String,
    /// Number from which the bytes of the first piece of its memory follow.
    pub proof: u64,
}

/// Message of a publisher.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Notice {
    /// The first message. Its descriptors: the publisher's page, the subscriber's, and what wakes it (`eventfd(2)`).
    Welcome {
        device: Device,
        /// Messages that name a piece each and follow at once.
        pieces: usize,
    },
    /// The first message to somebody who is not welcome.
    Refused {
        /// Words for the user.
        reason: String,
    },
    /// A piece of memory; its descriptor comes along.
    Piece { number: u64, kind: Kind, bytes: u64 },
    /// The publisher needs a piece no longer.
    Gone { number: u64 },
}

pub(crate) fn encode(message: &impl Serialize) -> Result<Vec<u8>> {
    let bytes = serde_json::to_vec(message).map_err(|error| Error::refused(error.to_string()))?;
    if bytes.len() > LONGEST {
        return Err(Error::refused(format!("a message of {} bytes is longer than {LONGEST}", bytes.len())));
    }
    Ok(bytes)
}

/// # Errors
/// [`Error::InvalidInput`] for what is no such message.
pub(crate) fn decode<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|error| Error::refused(format!("a message of the stream is wrong: {error}")))
}
