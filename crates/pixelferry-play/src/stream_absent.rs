//! Streams, where the system has none.

use pixelferry::Extent;
use std::time::Duration;

/// A stream, of which there is none.
pub enum Stream {}

/// A frame as [`Stream::show`] gives it.
pub struct Texels {
    pub size: Extent,
    pub pixels: Vec<[f32; 4]>,
}

impl Stream {
    /// Says that there are none.
    ///
    /// # Errors
    /// Always.
    pub fn open(_: &str, _: impl Fn(Extent) -> Result<(), String>) -> Result<Self, String> {
        Err("streams are on Linux only".into())
    }

    pub fn name(&self) -> &str {
        match *self {}
    }

    pub fn look(&self) {
        match *self {}
    }

    pub fn wait(&self, _: Duration) -> Result<(), String> {
        match *self {}
    }

    pub fn show<E>(&self, _: u64, _: impl FnOnce(u64, &Texels) -> Result<(), E>) -> Result<(), E> {
        match *self {}
    }

    pub fn said(&self) -> String {
        match *self {}
    }
}
