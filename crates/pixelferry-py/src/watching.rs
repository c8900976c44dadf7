//! Pictures of a page for a notebook's widget, and what its user does.

use crate::events::{Event, Events, PageHand, awaited};
use crate::failure::Failure;
use pixelferry_view::Watcher;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// One who looks on beside the browsers. For `pixelferry.notebook`.
#[pyclass(module = "pixelferry", name = "_Watcher", frozen)]
pub struct Watching {
    watcher: Watcher,
    events: Events,
    hand: Mutex<PageHand>,
}

impl Watching {
    pub fn new(watcher: Watcher) -> Self {
        Self { watcher, events: Events::default(), hand: Mutex::default() }
    }
}

#[pymethods]
impl Watching {
    /// The next picture, a message of the network's protocol; None where there is none in so many seconds.
    fn next<'py>(&self, py: Python<'py>, timeout: f64) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let refused = |_| Failure::Shape(format!("timeout={timeout} is no time; give seconds"));
        let timeout = Duration::try_from_secs_f64(timeout).map_err(refused)?;
        let message = py.detach(|| self.watcher.next(timeout));
        Ok(message.map(|message| PyBytes::new(py, &message)))
    }

    /// Begins to look on, with the picture of now, or ends.
    fn watch(&self, py: Python<'_>, is_watched: bool) {
        py.detach(|| self.watcher.watch(is_watched));
    }

    /// Does what the widget's user did.
    fn send(&self, py: Python<'_>, input: &[u8]) {
        py.detach(|| {
            let Some(event) = self.watcher.send(input) else { return };
            let made = self.hand.lock().unwrap_or_else(PoisonError::into_inner).follow(&event);
            made.into_iter().for_each(|event| self.events.push(event));
        });
    }

    /// Notes that the pointer came or left.
    fn enter(&self, is_there: bool) {
        self.events.push(Event::entered(is_there));
    }

    /// Notes the size that the widget shows the picture in.
    fn resize(&self, width: f64, height: f64, ratio: f64) {
        self.events.push(Event::resized(width, height, ratio));
    }

    /// Notes the end.
    fn close(&self, py: Python<'_>) {
        self.watch(py, false);
        self.events.push(Event::closed());
    }

    /// Whether the page was closed.
    #[getter]
    fn is_over(&self) -> bool {
        self.watcher.is_over()
    }

    /// What the user did since the last call.
    fn events(&self, py: Python<'_>, timeout: f64) -> PyResult<Vec<Event>> {
        awaited(py, &self.events, timeout, || !self.watcher.is_over())
    }
}
