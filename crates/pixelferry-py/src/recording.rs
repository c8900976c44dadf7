//! `Recording`: a film of what a viewer shows.

use pixelferry::record::Recorded;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::{Mutex, PoisonError};

/// A film of what a viewer shows, until it is stopped or the viewer ends.
#[pyclass(module = "pixelferry", frozen)]
pub struct Recording {
    /// Ends it where it is made.
    stop: Box<dyn Fn(Python<'_>) -> PyResult<Recorded> + Send + Sync>,
    recorded: Mutex<Option<Recorded>>,
}

impl Recording {
    pub fn new(stop: impl Fn(Python<'_>) -> PyResult<Recorded> + Send + Sync + 'static) -> Self {
        Self { stop: Box::new(stop), recorded: Mutex::new(None) }
    }

    fn recorded(&self) -> Option<Recorded> {
        *self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Recording {
    /// Ends the film. May be called again.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        if self.recorded().is_none() {
            let recorded = (self.stop)(py)?;
            *self.recorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(recorded);
        }
        Ok(())
    }

    /// Frames of the film; None until it is stopped.
    #[getter]
    fn frames(&self) -> Option<u64> {
        self.recorded().map(|recorded| recorded.frames)
    }

    /// Frames whose own picture is missing, as the writer was behind; None until it is stopped.
    #[getter]
    fn dropped(&self) -> Option<u64> {
        self.recorded().map(|recorded| recorded.dropped)
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.stop(py)
    }

    fn __repr__(&self) -> String {
        match self.recorded() {
            Some(Recorded { frames, dropped, .. }) => {
                format!("<pixelferry.Recording: {frames} frames, {dropped} dropped>")
            }
            None => "<pixelferry.Recording: under way>".into(),
        }
    }
}
