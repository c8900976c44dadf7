//! Streams of other processes, for channels.

use pixelferry::stream::StreamFrame;
use pixelferry::{Extent, SurfaceDesc};
pub use pixelferry_view::Texels;
use pixelferry_view::{ReadError, StreamNews, StreamTap};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

/// A stream. Problems with its publisher become messages and end nothing: the last frame stays.
pub struct Stream {
    tap: StreamTap<Texels>,
    /// The newest frame, and a message, which is empty while frames arrive.
    newest: RefCell<(Option<Arc<Texels>>, String)>,
}

impl Stream {
    /// Attaches to the stream of this name, which may have no publisher yet. `fits` checks a frame's size before it is
    /// copied and returns what is wrong with it.
    ///
    /// # Errors
    /// The name is invalid.
    pub fn open(name: &str, fits: impl Fn(Extent) -> Result<(), String> + Send + 'static) -> Result<Self, String> {
        let own = name.to_owned();
        let make = move |frame: &mut StreamFrame<'_>| {
            if let SurfaceDesc::Image(image) = frame.desc() {
                fits(image.extent).map_err(|reason| ReadError::Stream { name: own.clone(), reason })?;
            }
            Texels::of(frame)
        };
        let tap = StreamTap::open(name, make).map_err(|error| error.to_string())?;
        Ok(Self { tap, newest: RefCell::default() })
    }

    /// Takes a new frame or message without waiting, and returns the newest ones.
    pub fn look(&self) -> (Option<Arc<Texels>>, String) {
        self.put(self.tap.take());
        self.newest.borrow().clone()
    }

    /// Waits up to `limit` for the first frame.
    ///
    /// # Errors
    /// The reason if no frame arrives in time.
    pub fn wait(&self, limit: Duration) -> Result<(), String> {
        if self.newest.borrow().0.is_none() {
            self.put(StreamNews { frame: Some(self.tap.first(limit)), said: None });
        }
        let (frame, said) = self.newest.borrow().clone();
        frame.map(drop).ok_or(said)
    }

    fn put(&self, StreamNews { frame, said }: StreamNews<Texels>) {
        let (newest, last) = &mut *self.newest.borrow_mut();
        *last = match frame {
            Some(Ok(frame)) => {
                *newest = Some(Arc::new(frame));
                String::new()
            }
            // The caller adds the stream's name.
            Some(Err(ReadError::Stream { reason, .. })) => reason,
            Some(Err(other)) => other.to_string(),
            None => said.unwrap_or_else(|| std::mem::take(last)),
        };
    }
}
