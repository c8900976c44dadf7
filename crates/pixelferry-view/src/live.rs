//! What brings more arrays while a window or a page shows some.

use crate::array::Array;
use crate::error::ReadError;
use crate::film::Film;
use crate::listen::Listener;
use crate::view::ArrayView;

/// What brings more arrays while a window or a page shows some.
#[derive(Default)]
pub struct Live {
    /// Images of other programs. With a listener there need be no arrays at first.
    pub listener: Option<Listener>,
    /// Videos, which play in the place of the arrays of their names.
    pub films: Vec<Film>,
}

impl Live {
    /// Adds what is shown while there is nothing else.
    pub(crate) fn begin(&self, arrays: &mut Vec<Array>) -> Result<(), ReadError> {
        if let (true, Some(listener)) = (arrays.is_empty(), &self.listener) {
            arrays.push(listener.waiting()?);
        }
        Ok(())
    }

    /// Calls this, from other threads, when there is something to take over.
    pub(crate) fn wake_by(&self, wake: impl Fn() + Clone + Send + 'static) {
        self.listener.iter().for_each(|listener| listener.wake_by(wake.clone()));
        self.films.iter().for_each(|film| film.wake_by(wake.clone()));
    }

    /// Takes over what came. True where something changed.
    pub(crate) fn follow(&self, view: &mut ArrayView) -> bool {
        let mut has_changed = self.listener.as_ref().is_some_and(|listener| view.follow(listener));
        for film in &self.films {
            has_changed |= view.watch(film);
        }
        has_changed
    }
}
