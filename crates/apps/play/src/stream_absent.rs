//! Replaces `stream` on systems without streams.

use pixelferry::Extent;
use std::sync::Arc;
use std::time::Duration;

/// A stream, which cannot be published on this system.
pub enum Stream {}

/// A frame of [`Stream::look`].
pub struct Texels {
    pub size: Extent,
    pub pixels: Vec<[f32; 4]>,
}

impl Stream {
    /// Fails, because this system has no streams.
    ///
    /// # Errors
    /// Always.
    pub fn open(_: &str, _: impl Fn(Extent) -> Result<(), String>) -> Result<Self, String> {
        Err("streams need Linux".into())
    }

    pub fn look(&self) -> (Option<Arc<Texels>>, String) {
        match *self {}
    }

    pub fn wait(&self, _: Duration) -> Result<(), String> {
        match *self {}
    }
}
