//! A picture as it was delivered, and as JPEG for browsers that wait for video.

use crate::video::header;
use crate::wire::{Codec, HEADER_BYTES};
use axum::body::Bytes;
use std::sync::OnceLock;

const QUALITY: u8 = 80;

/// A picture's message.
pub struct Picture {
    message: Bytes,
    small: OnceLock<Bytes>,
}

impl Picture {
    pub fn new(message: Bytes) -> Self {
        Self { message, small: OnceLock::new() }
    }

    pub fn message(&self) -> Bytes {
        self.message.clone()
    }

    /// Returns the picture as JPEG if possible: a connection that needs video would be busy with raw pixels for long.
    /// The first call encodes.
    pub fn small(&self) -> Bytes {
        self.small.get_or_init(|| pack(&self.message).unwrap_or_else(|| self.message.clone())).clone()
    }
}

/// `None` if the picture is already encoded, or JPEG does not support its format.
fn pack(message: &[u8]) -> Option<Bytes> {
    let header = header(message).ok()?;
    let is_raw = header.codec == Codec::None;
    let packed = is_raw.then(|| header.pack(Codec::Jpeg, message.get(HEADER_BYTES..)?, QUALITY).ok())?;
    packed.map(Bytes::from)
}
