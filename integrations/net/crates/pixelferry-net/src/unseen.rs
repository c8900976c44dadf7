//! The newest picture of a scene that nobody views: packed when somebody comes and asks for it.

use crate::lock::lock;
use crate::pack::Packer;
use bytes::Bytes;
use pixelferry_media::wire::Header;
use std::sync::{Arc, Mutex};

/// Header, rows, and what packs them.
type Kept = (Header, Vec<u8>, Arc<Packer>);

#[derive(Default)]
pub(crate) struct Unseen(Mutex<Option<Kept>>);

impl Unseen {
    /// Keeps a picture in place of the one before.
    pub fn keep(&self, header: &Header, pixels: &[u8], packer: &Arc<Packer>) {
        let mut kept = lock(&self.0);
        // The memory of the one before, where it has as much.
        let mut rows = kept.take().map(|(_, rows, _)| rows).unwrap_or_default();
        rows.clear();
        rows.extend_from_slice(pixels);
        *kept = Some((*header, rows, packer.clone()));
    }

    pub fn forget(&self) {
        *lock(&self.0) = None;
    }

    /// The picture as a message, if one is kept, which it is not any more.
    pub fn take(&self) -> Option<(Header, Bytes)> {
        let (header, rows, packer) = lock(&self.0).take()?;
        let packed = packer.pack(&header, &rows);
        let (header, packed) =
            packed.inspect_err(|error| tracing::warn!("a viewer gets no picture yet: {error}")).ok()?;
        let payload = packed.as_ref().unwrap_or(&rows);
        Some((header, [header.to_bytes().as_slice(), payload].concat().into()))
    }
}
