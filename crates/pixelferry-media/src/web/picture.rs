//! A picture as it was served, and as JPEG for browsers that wait for video.

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

    /// As JPEG where it can be: a link that needs video would be long busy with raw pixels. The first call packs.
    pub fn small(&self) -> Bytes {
        self.small.get_or_init(|| pack(&self.message).unwrap_or_else(|| self.message.clone())).clone()
    }
}

/// `None` where it is packed already, or JPEG takes no such pictures.
fn pack(message: &[u8]) -> Option<Bytes> {
    let header = header(message).ok()?;
    let is_raw = header.codec == Codec::None;
    let packed = is_raw.then(|| header.pack(Codec::Jpeg, message.get(HEADER_BYTES..)?, QUALITY).ok())?;
    packed.map(Bytes::from)
}
