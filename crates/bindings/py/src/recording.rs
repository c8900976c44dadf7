//! `Recording`: a film of what a viewer shows.

use crate::failure::Failure;
use pixelferry::driver::describe::words::counted;
use pixelferry_media::record::{FilmSummary, Output, RecordError, RecordOptions, Recorder};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::{Mutex, PoisonError};

/// The film of a stage; there is at most one at a time. A film that fails ends.
#[derive(Default)]
pub struct StageFilms {
    recorder: Option<Recorder>,
    /// Number of the most recent film.
    number: u64,
    /// Failure of that film.
    failed: Option<Failure>,
}

impl StageFilms {
    /// Begins a film and returns its number.
    pub fn begin(&mut self, output: Output, options: RecordOptions) -> Result<u64, Failure> {
        if self.is_under_way() {
            return Err(Failure::Shape("the viewer is already recording; stop that recording first".into()));
        }
        (self.recorder, self.failed) = (Some(Recorder::create(output, options)?), None);
        self.number += 1;
        Ok(self.number)
    }

    pub const fn is_under_way(&self) -> bool {
        self.recorder.is_some()
    }

    /// Returns whether the film samples what is shown at its own frame rate.
    pub fn is_by_clock(&self) -> bool {
        self.recorder.as_ref().is_some_and(|recorder| recorder.step().is_none())
    }

    /// Records what was drawn; `None` without a film.
    pub fn record<R>(&mut self, record: impl FnOnce(&mut Recorder) -> Result<R, RecordError>) -> Option<R> {
        match record(self.recorder.as_mut()?) {
            Ok(recorded) => Some(recorded),
            Err(error) => {
                tracing::warn!(%error, "the recording ends");
                (self.recorder, self.failed) = (None, Some(error.into()));
                None
            }
        }
    }

    /// Ends the film of that number.
    pub fn end(&mut self, number: u64) -> Result<FilmSummary, Failure> {
        let ended = || Failure::Closed("the recording has ended".into());
        if number != self.number {
            return Err(ended());
        }
        match (self.failed.take(), self.recorder.take()) {
            (Some(failed), _) => Err(failed),
            (None, Some(recorder)) => Ok(recorder.finish()?),
            (None, None) => Err(ended()),
        }
    }
}

/// A film of what a viewer shows, until it is stopped or the viewer ends.
#[pyclass(module = "pixelferry", frozen)]
pub struct Recording {
    /// Ends the film on its own thread.
    stop: Box<dyn Fn(Python<'_>) -> PyResult<FilmSummary> + Send + Sync>,
    recorded: Mutex<Option<FilmSummary>>,
}

impl Recording {
    pub fn new(stop: impl Fn(Python<'_>) -> PyResult<FilmSummary> + Send + Sync + 'static) -> Self {
        Self { stop: Box::new(stop), recorded: Mutex::new(None) }
    }

    fn recorded(&self) -> Option<FilmSummary> {
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

    /// Number of frames; None until the film is stopped.
    #[getter]
    fn frames(&self) -> Option<u64> {
        self.recorded().map(|recorded| recorded.frames)
    }

    /// Number of frames that repeat an earlier picture because the writer was behind; None until the film is stopped.
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
            Some(FilmSummary { frames, dropped, extent, .. }) => {
                format!("<pixelferry.Recording: {} of {extent}, {dropped} dropped>", counted(frames, "frame"))
            }
            None => "<pixelferry.Recording: under way>".into(),
        }
    }
}
