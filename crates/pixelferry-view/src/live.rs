//! Feed of more arrays while a window or a page shows some.

use crate::array::Array;
#[cfg(all(feature = "stream", target_os = "linux"))]
use crate::attached::Attached;
use crate::error::{ReadError, ViewError};
use crate::film::Film;
use crate::listen::Listener;
use crate::shown::Shown;
use crate::view::ArrayView;
use pixelferry::api::gl::GlDisplay;
use pixelferry_media::record::Recorder;
use std::rc::Rc;

/// Time for which a window waits to open for the first frame of a stream.
#[cfg(all(feature = "stream", target_os = "linux"))]
const SOON: std::time::Duration = std::time::Duration::from_millis(300);

/// Feed of more arrays while a window or a page shows some.
pub struct Live {
    /// Images of other programs. With a listener there need be no arrays at first.
    pub listener: Option<Listener>,
    /// Records what the window shows.
    pub recorder: Option<Recorder>,
    /// Videos, which play instead of the arrays of their names.
    pub films: Vec<Film>,
    /// Most frames of an array that are kept, with the one on show ([`ArrayView::keep`]).
    pub keep: usize,
    /// Streams of other processes, of which there need be no frame at first.
    #[cfg(all(feature = "stream", target_os = "linux"))]
    pub streams: Vec<Attached>,
}

impl Default for Live {
    fn default() -> Self {
        Self {
            listener: None,
            recorder: None,
            films: Vec::new(),
            keep: ArrayView::MOST_FRAMES,
            #[cfg(all(feature = "stream", target_os = "linux"))]
            streams: Vec::new(),
        }
    }
}

impl Live {
    /// Adds what is shown while there is nothing else.
    pub(crate) fn begin(&self, arrays: &mut Vec<Array>) -> Result<(), ReadError> {
        #[cfg(all(feature = "stream", target_os = "linux"))]
        for stream in &self.streams {
            // Large enough a window for the frame that is there.
            arrays.push(stream.first(SOON).or_else(|_| stream.waiting())?);
        }
        if let (true, Some(listener)) = (arrays.is_empty(), &self.listener) {
            arrays.push(listener.waiting()?);
        }
        Ok(())
    }

    /// Calls this, from other threads, when there is something to take over.
    pub(crate) fn wake_by(&self, wake: impl Fn() + Clone + Send + 'static) {
        self.listener.iter().for_each(|listener| listener.wake_by(wake.clone()));
        self.films.iter().for_each(|film| film.wake_by(wake.clone()));
        #[cfg(all(feature = "stream", target_os = "linux"))]
        self.streams.iter().for_each(|stream| stream.wake_by(wake.clone()));
    }

    /// The view of arrays that were looked through.
    pub(crate) fn view(&self, display: &Rc<GlDisplay>, all: Vec<Shown>) -> Result<ArrayView, ViewError> {
        let mut view = ArrayView::of(display, all)?;
        view.keep(self.keep, ArrayView::MOST_BYTES);
        Ok(view)
    }

    /// Takes over what came. True where something changed.
    pub(crate) fn follow(&self, view: &mut ArrayView) -> bool {
        let mut has_changed = self.listener.as_ref().is_some_and(|listener| view.follow(listener));
        for film in &self.films {
            has_changed |= view.watch(film);
        }
        #[cfg(all(feature = "stream", target_os = "linux"))]
        for stream in &self.streams {
            has_changed |= view.attend(stream);
        }
        has_changed
    }
}
