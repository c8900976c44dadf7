//! The newest picture of a scene without viewers: encoded when a viewer comes.

use crate::lock::lock;
use crate::pack::Packer;
use bytes::Bytes;
use pixelferry_media::wire::Header;
use std::sync::{Arc, Mutex};

/// Header, rows, and the encoder.
type KeptRows = (Header, Vec<u8>, Arc<Packer>);

#[derive(Default)]
pub(crate) struct Unseen(Mutex<Option<KeptRows>>);

impl Unseen {
    /// Keeps a picture in place of the previous one.
    pub fn keep(&self, header: &Header, pixels: &[u8], packer: &Arc<Packer>) {
        let mut kept = lock(&self.0);
        // Reuse the previous picture's memory if it is large enough.
        let mut rows = kept.take().map(|(_, rows, _)| rows).unwrap_or_default();
        rows.clear();
        rows.extend_from_slice(pixels);
        *kept = Some((*header, rows, packer.clone()));
    }

    pub fn forget(&self) {
        *lock(&self.0) = None;
    }

    /// Takes the picture as a message, if one is kept.
    pub fn take(&self) -> Option<(Header, Bytes)> {
        let (header, rows, packer) = lock(&self.0).take()?;
        let packed = packer.pack(&header, &rows);
        let (header, packed) =
            packed.inspect_err(|error| tracing::warn!("a viewer gets no picture yet: {error}")).ok()?;
        let payload = packed.as_ref().unwrap_or(&rows);
        Some((header, [header.to_bytes().as_slice(), payload].concat().into()))
    }
}
