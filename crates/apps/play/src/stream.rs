//! Streams of other processes, for channels.

use pixelferry::stream::StreamFrame;
use pixelferry::{Extent, SurfaceDesc};
use pixelferry_view::{ReadError, StreamNews, StreamTap, Texels};
use std::cell::RefCell;
use std::time::Duration;

/// A stream. Problems with its publisher become messages and end nothing: the last frame stays.
pub struct Stream {
    tap: StreamTap<Texels>,
    newest: RefCell<Newest>,
}

#[derive(Default)]
struct Newest {
    frame: Option<Texels>,
    /// Number of received frames.
    number: u64,
    said: String,
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

    /// Takes a new frame or message, without waiting.
    pub fn look(&self) {
        let StreamNews { frame, said } = self.tap.take();
        let newest = &mut *self.newest.borrow_mut();
        newest.said = said.unwrap_or_else(|| std::mem::take(&mut newest.said));
        if let Some(frame) = frame {
            newest.take(frame);
        }
    }

    /// Waits up to `limit` for the first frame.
    ///
    /// # Errors
    /// The reason if no frame arrives in time.
    pub fn wait(&self, limit: Duration) -> Result<(), String> {
        let newest = &mut *self.newest.borrow_mut();
        if newest.frame.is_none() {
            newest.take(self.tap.first(limit));
        }
        newest.frame.as_ref().map(|_| ()).ok_or_else(|| newest.said.clone())
    }

    /// Calls `show` with the newest frame and its number, if that number differs from `seen`.
    ///
    /// # Errors
    /// Those of `show`.
    pub fn show<E>(&self, seen: u64, show: impl FnOnce(u64, &Texels) -> Result<(), E>) -> Result<(), E> {
        match &*self.newest.borrow() {
            Newest { frame: Some(frame), number, .. } if *number != seen => show(*number, frame),
            _ => Ok(()),
        }
    }

    /// Message about the stream; empty while frames arrive.
    pub fn said(&self) -> String {
        self.newest.borrow().said.clone()
    }
}

impl Newest {
    fn take(&mut self, frame: Result<Texels, ReadError>) {
        match frame {
            Ok(frame) => (self.frame, self.number, self.said) = (Some(frame), self.number + 1, String::new()),
            // The caller adds the stream's name.
            Err(ReadError::Stream { reason, .. }) => self.said = reason,
            Err(other) => self.said = other.to_string(),
        }
    }
}
