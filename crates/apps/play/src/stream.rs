//! Streams of other processes, for channels.

use pixelferry::stream::StreamFrame;
use pixelferry::{Extent, SurfaceDesc};
pub use pixelferry_view::Texels;
use pixelferry_view::{ReadError, StreamNews, StreamTap};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// A stream. Problems with its publisher become messages and end nothing: the last frame stays.
pub struct Stream {
    tap: StreamTap<Texels>,
    /// The newest frame, and a message, which is empty while frames arrive.
    newest: RefCell<(Option<Rc<Texels>>, String)>,
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

    /// Name of the stream.
    pub fn name(&self) -> &str {
        self.tap.name()
    }

    /// Takes a new frame or message without waiting, and returns the newest frame.
    pub fn look(&self) -> Option<Rc<Texels>> {
        self.put(self.tap.take());
        self.newest.borrow().0.clone()
    }

    /// Waits up to `limit` for the first frame.
    ///
    /// # Errors
    /// The reason if no frame arrives in time.
    pub fn wait(&self, limit: Duration) -> Result<(), String> {
        if self.newest.borrow().0.is_none() {
            self.put(StreamNews { frame: Some(self.tap.first(limit)), said: None });
        }
        self.newest.borrow().0.as_ref().map(|_| ()).ok_or_else(|| self.said())
    }

    /// Message about the stream; empty while frames arrive.
    pub fn said(&self) -> String {
        self.newest.borrow().1.clone()
    }

    fn put(&self, StreamNews { frame, said }: StreamNews<Texels>) {
        let (newest, last) = &mut *self.newest.borrow_mut();
        *last = match frame {
            Some(Ok(frame)) => {
                *newest = Some(Rc::new(frame));
                String::new()
            }
            // The caller adds the stream's name.
            Some(Err(ReadError::Stream { reason, .. })) => reason,
            Some(Err(other)) => other.to_string(),
            None => said.unwrap_or_else(|| std::mem::take(last)),
        };
    }
}
