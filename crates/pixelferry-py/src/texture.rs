//! `pixelferry.gl.Texture`, as Python sees it.

use crate::engine::{Asked, Engine, Engines};
use crate::failure::Failure;
use crate::here::{Ticket, closed};
use crate::named;
use crate::plane::{Axes, Place};
use crate::raw::memory::Readable;
use crate::report::report;
use crate::source::Source;
use crate::stage::{Named, Settings};
use pixelferry::{Policy, Trials};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::{Mutex, PoisonError};

/// An array as a texture of the OpenGL context that is current on this thread.
#[pyclass(module = "pixelferry.gl", frozen)]
pub struct Texture {
    ticket: Ticket,
    engines: Engines,
    format: &'static str,
    /// `None` once it is closed.
    named: Mutex<Option<Named>>,
}

impl Texture {
    /// Runs work on this texture's stage, without the interpreter.
    fn update_by(&self, py: Python<'_>, readable: Readable, engine: &Engine) -> PyResult<()> {
        py.detach(|| {
            self.ticket.run(|stage| {
                let shown = stage.show(&readable, engine);
                // A frame that fails may also leave its path for another.
                if let Ok(named) = stage.named() {
                    *self.named.lock().unwrap_or_else(PoisonError::into_inner) = Some(named);
                }
                shown
            })
        })?;
        Ok(())
    }

    fn update_from(&self, array: &Bound<'_, PyAny>, axes: Axes) -> PyResult<()> {
        let source = Source::new(array, axes, &self.engines)?;
        let readable = source.readable();
        let engine = self.engines.engine(readable.plane().place)?;
        let updated = self.update_by(array.py(), readable, &engine);
        // Only now may its owner have it back.
        drop(source);
        updated
    }

    fn named(&self) -> Result<Named, Failure> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner).ok_or_else(closed)
    }
}

#[pymethods]
impl Texture {
    #[new]
    #[pyo3(signature = (array_or_shape, layout="HWC", *, format="rgba8", path=None, backend=None))]
    fn new(
        array_or_shape: &Bound<'_, PyAny>,
        layout: &str,
        format: &str,
        path: Option<&str>,
        backend: Option<&str>,
    ) -> PyResult<Self> {
        let py = array_or_shape.py();
        let axes = named::layout(layout)?;
        let (format, pixel_format) = named::format(format)?;
        let force = path.map(str::parse).transpose().map_err(Failure::from)?;
        let engines = Engines::new(Asked::parse(backend)?);
        // Another path would mean another name.
        let policy = Policy::default().with_force(force).with_trials(Trials::Off);
        let ticket = py.detach(|| Ticket::new(Settings { format: pixel_format, policy }))?;
        let texture = Self { ticket, engines, format, named: Mutex::new(None) };
        match array_or_shape.cast::<PyTuple>() {
            Ok(shape) => {
                let black = Readable::black(&shape.extract::<Vec<i64>>()?, axes)?;
                texture.update_by(py, black, &texture.engines.engine(Place::Host)?)?;
            }
            Err(_) => texture.update_from(array_or_shape, axes)?,
        }
        Ok(texture)
    }

    /// Writes an array into the texture and returns when it may be written again.
    #[pyo3(signature = (array, layout="HWC"))]
    fn update(&self, array: &Bound<'_, PyAny>, layout: &str) -> PyResult<()> {
        let axes = named::layout(layout)?;
        self.named()?;
        self.update_from(array, axes)
    }

    /// OpenGL's name of the texture.
    #[getter]
    fn name(&self) -> PyResult<u32> {
        Ok(self.named()?.name)
    }

    /// GL_TEXTURE_2D.
    #[getter]
    fn target(&self) -> PyResult<u32> {
        Ok(self.named()?.target)
    }

    /// Width and height in pixels.
    #[getter]
    fn size(&self) -> PyResult<(u32, u32)> {
        let size = self.named()?.size;
        Ok((size.width, size.height))
    }

    /// The format of its pixels.
    #[getter]
    fn format(&self) -> &'static str {
        self.format
    }

    /// The path in use.
    #[getter]
    fn path(&self) -> PyResult<&'static str> {
        Ok(self.named()?.path.name())
    }

    /// Everything about the path in use as text to paste into a bug report.
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        self.named()?;
        let status = py.detach(|| self.ticket.run(|stage| stage.status()))?;
        Ok(status.map_or_else(String::new, |status| status.explain))
    }

    /// Everything about the path in use as a dict.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.named()?;
        let status = py.detach(|| self.ticket.run(|stage| stage.status()))?;
        status.map(|status| report(py, &status.report, &status.explain)).transpose()
    }

    /// Deletes the texture. May be called again, and on any thread.
    fn close(&self, py: Python<'_>) {
        let open = self.named.lock().unwrap_or_else(PoisonError::into_inner).take();
        if open.is_some() {
            py.detach(|| self.ticket.close());
        }
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    fn __repr__(&self) -> String {
        let Ok(Named { name, size, path, .. }) = self.named() else {
            return format!("<pixelferry.gl.Texture: {}, closed>", self.format);
        };
        format!("<pixelferry.gl.Texture: {name}, {size}, {}, {}>", self.format, path.name())
    }
}
