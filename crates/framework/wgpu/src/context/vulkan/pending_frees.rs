//! Host pages that the device reads in place.

use interop_core::describe::PlainMutex;
use interop_core::{HostBlock, Result};
use std::sync::{Arc, Weak};

/// Pages that the device may still read, each with a token that is dropped when it no longer does.
#[derive(Default)]
pub(super) struct PendingFrees(PlainMutex<Vec<(Weak<()>, HostBlock)>>);

impl PendingFrees {
    /// Keeps pages alive until the device has released them: `token` is dropped with the object that reads them.
    pub(super) fn add(&self, block: HostBlock, token: &Arc<()>) {
        let mut pages = self.0.lock();
        pages.retain(|(reader, _)| reader.strong_count() > 0);
        pages.push((Arc::downgrade(token), block));
    }

    /// Frees the pages, once `wait` has waited for the device.
    pub(super) fn take_back(&self, wait: impl FnOnce() -> Result<()>) {
        if self.0.lock().is_empty() {
            return;
        }
        if let Err(error) = wait() {
            tracing::warn!(%error, "waiting for the device failed");
        }
        for (reader, block) in self.0.take() {
            if reader.strong_count() > 0 {
                // A surface or the engine still holds the buffer: leaking it is better than a read after it is freed.
                tracing::warn!(?block, "host pages are still read by a buffer that outlives its display");
                std::mem::forget(block);
            }
        }
    }
}
