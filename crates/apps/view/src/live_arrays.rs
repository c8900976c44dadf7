//! Sources of further arrays for a window or page.

use crate::array::Array;
#[cfg(all(feature = "stream", target_os = "linux"))]
use crate::attached_stream::AttachedStream;
use crate::error::{ReadError, ViewError};
use crate::film::Film;
use crate::listen::Listener;
use crate::shown_array::ShownArray;
use crate::view::ArrayView;
use pixelferry::api::gl::GlDisplay;
use pixelferry_media::record::Recorder;
use std::sync::Arc;

/// How long a window waits for the first frame of a stream before it opens.
#[cfg(all(feature = "stream", target_os = "linux"))]
const SOON: std::time::Duration = std::time::Duration::from_millis(300);

/// Sources of further arrays for a window or page, and what records it.
pub struct LiveArrays {
    /// Receives images of other programs. With a listener, the initial list of arrays may be empty.
    pub listener: Option<Listener>,
    /// Records what the window shows.
    pub recorder: Option<Recorder>,
    /// Videos, which replace the arrays of the same names.
    pub films: Vec<Film>,
    /// Number of frames to keep of each array, including the shown one ([`ArrayView::keep`]).
    pub keep: usize,
    /// Streams of other processes; they may have no frame yet.
    #[cfg(all(feature = "stream", target_os = "linux"))]
    pub streams: Vec<AttachedStream>,
}

impl Default for LiveArrays {
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

impl LiveArrays {
    /// Adds placeholders, so that there is something to show.
    pub(crate) fn begin(&self, arrays: &mut Vec<Array>) -> Result<(), ReadError> {
        #[cfg(all(feature = "stream", target_os = "linux"))]
        for stream in &self.streams {
            // Wait for a frame, because its size determines the window's.
            arrays.push(stream.first(SOON).or_else(|_| stream.waiting())?);
        }
        if let (true, Some(listener)) = (arrays.is_empty(), &self.listener) {
            arrays.push(listener.waiting()?);
        }
        Ok(())
    }

    /// Registers a function that other threads call when there is news to take.
    pub(crate) fn wake_by(&self, wake: impl Fn() + Clone + Send + 'static) {
        self.listener.iter().for_each(|listener| listener.wake_by(wake.clone()));
        self.films.iter().for_each(|film| film.wake_by(wake.clone()));
        #[cfg(all(feature = "stream", target_os = "linux"))]
        self.streams.iter().for_each(|stream| stream.wake_by(wake.clone()));
    }

    /// Opens a view of arrays that were checked.
    pub(crate) fn view(&self, display: &Arc<GlDisplay>, all: Vec<ShownArray>) -> Result<ArrayView, ViewError> {
        let mut view = ArrayView::of(display, all)?;
        view.keep(self.keep, ArrayView::MOST_BYTES);
        Ok(view)
    }

    /// Takes the news. Returns true if something changed.
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
