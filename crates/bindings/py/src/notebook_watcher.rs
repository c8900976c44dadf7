//! Pictures of a page for a notebook's widget, and its user's input.

use crate::events::{Event, Events, PageHand, awaited};
use crate::failure::Failure;
use pixelferry_view::Watcher;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A watcher beside the browsers, for `pixelferry.notebook`.
#[pyclass(module = "pixelferry", name = "_Watcher", frozen)]
pub struct NotebookWatcher {
    watcher: Watcher,
    events: Events,
    hand: Mutex<PageHand>,
}

impl NotebookWatcher {
    pub fn new(watcher: Watcher) -> Self {
        Self { watcher, events: Events::default(), hand: Mutex::default() }
    }
}

#[pymethods]
impl NotebookWatcher {
    /// Waits up to `timeout` seconds for the next picture, a message of the protocol; None if there is none.
    fn next<'py>(&self, py: Python<'py>, timeout: f64) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let refused = |_| Failure::Shape(format!("invalid timeout={timeout}; give seconds"));
        let timeout = Duration::try_from_secs_f64(timeout).map_err(refused)?;
        let message = py.detach(|| self.watcher.next(timeout));
        Ok(message.map(|message| PyBytes::new(py, &message)))
    }

    /// Starts watching, with the current picture, or stops.
    fn watch(&self, py: Python<'_>, is_watched: bool) {
        py.detach(|| self.watcher.watch(is_watched));
    }

    /// Applies the widget user's input.
    fn send(&self, py: Python<'_>, input: &[u8]) {
        py.detach(|| {
            let Some(event) = self.watcher.send(input) else { return };
            let made = self.hand.lock().unwrap_or_else(PoisonError::into_inner).follow(&event);
            made.into_iter().for_each(|event| self.events.push(event));
        });
    }

    /// Records that the pointer entered or left.
    fn enter(&self, is_there: bool) {
        self.events.push(Event::entered(is_there));
    }

    /// Records the size in which the widget shows the picture.
    fn resize(&self, width: f64, height: f64, ratio: f64) {
        self.events.push(Event::resized(width, height, ratio));
    }

    /// Records the end.
    fn close(&self, py: Python<'_>) {
        self.watch(py, false);
        self.events.push(Event::closed());
    }

    /// Whether the page was closed.
    #[getter]
    fn is_over(&self) -> bool {
        self.watcher.is_over()
    }

    /// Returns the user's events since the last call.
    fn events(&self, py: Python<'_>, timeout: f64) -> PyResult<Vec<Event>> {
        awaited(py, &self.events, timeout, || !self.watcher.is_over())
    }
}
