//! The newest picture of a scene that nobody views: packed when somebody comes and asks for it.

use crate::lock::lock;
use crate::pack::Packer;
use pixelferry_media::wire::Header;
use std::sync::{Arc, Mutex};
use zenoh::bytes::ZBytes;

#[derive(Default)]
pub(crate) struct Unseen(Mutex<Kept>);

#[derive(Default)]
enum Kept {
    #[default]
    Nothing,
    Rows(Header, Vec<u8>, Arc<Packer>),
    Packed(ZBytes),
}

impl Unseen {
    /// Keeps a picture in place of the one before.
    pub fn keep(&self, header: &Header, pixels: &[u8], packer: &Arc<Packer>) {
        let mut kept = lock(&self.0);
        // The memory of the one before, where it has as much.
        let mut rows = match std::mem::take(&mut *kept) {
            Kept::Rows(_, rows, _) => rows,
            _ => Vec::new(),
        };
        rows.clear();
        rows.extend_from_slice(pixels);
        *kept = Kept::Rows(*header, rows, packer.clone());
    }

    pub fn forget(&self) {
        *lock(&self.0) = Kept::Nothing;
    }

    /// The picture as a message, if one is kept.
    pub fn message(&self) -> Option<ZBytes> {
        let mut kept = lock(&self.0);
        if let Kept::Rows(header, rows, packer) = &*kept {
            let (header, packed) = packer
                .pack(header, rows)
                .inspect_err(|error| tracing::warn!("a viewer gets no picture yet: {error}"))
                .ok()?;
            let payload = packed.as_ref().unwrap_or(rows);
            *kept = Kept::Packed([header.to_bytes().as_slice(), payload].concat().into());
        }
        match &*kept {
            Kept::Packed(message) => Some(message.clone()),
            _ => None,
        }
    }
}
