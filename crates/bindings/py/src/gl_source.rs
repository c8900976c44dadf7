//! `pixelferry.gl.Source`.

use crate::array::Array;
use crate::engine::{ArrayLocation, BackendRequest, Engines};
use crate::failure::Failure;
use crate::object::Object;
use crate::option_names;
use crate::stage::Settings;
use crate::stage_handle::StageHandle;
use pixelferry::{PathId, Policy};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Reads a texture or buffer of the program, in the OpenGL context that is current on this thread.
#[pyclass(module = "pixelferry.gl", name = "Source", frozen)]
pub struct GlSource {
    held: StageHandle<PathId>,
    object: Object,
    device: String,
}

#[pymethods]
impl GlSource {
    #[new]
    #[pyo3(signature = (texture_or_buffer, size=None, *, format="rgba8", rows="bottom-up", device="cpu", path=None))]
    fn new(
        texture_or_buffer: &Bound<'_, PyAny>,
        size: Option<Bound<'_, PyAny>>,
        format: &str,
        rows: &str,
        device: &str,
        path: Option<&str>,
    ) -> PyResult<Self> {
        let py = texture_or_buffer.py();
        let format = option_names::format(format)?;
        let object = Object::new(texture_or_buffer, size, format)?;
        let settings = Settings { format, rows: option_names::rows(rows)?, policy: Policy::default() };
        let path = path.map(str::parse).transpose().map_err(Failure::from)?;
        let wanted = ArrayLocation::parse(device)?;
        let held = StageHandle::new(py, settings)?;
        let engines = Engines::new(BackendRequest::parse(None)?);
        held.name(held.begin(py, |stage| stage.open_source(&object, wanted, path, &engines))?);
        Ok(Self { held, object, device: device.to_owned() })
    }

    /// Returns what was rendered there so far, as an array that later calls do not change.
    fn read(&self, py: Python<'_>) -> PyResult<Array> {
        let (array, path) = self.held.run(py, |stage| stage.take())?;
        self.held.name(path);
        Ok(array)
    }

    /// OpenGL's name of the object.
    #[getter]
    fn name(&self) -> u32 {
        self.object.name
    }

    /// Width and height in pixels, or bytes.
    #[getter]
    fn size<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.object.size(py)
    }

    /// The format of its pixels; None for a buffer.
    #[getter]
    fn format(&self) -> Option<String> {
        self.object.format()
    }

    /// Device of the arrays, as it was given.
    #[getter]
    fn device(&self) -> &str {
        &self.device
    }

    /// The current path.
    #[getter]
    fn path(&self) -> PyResult<&'static str> {
        Ok(self.held.named()?.name())
    }

    /// Describes the findings about every path, for a bug report.
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        self.held.run(py, |stage| Ok(stage.source().unwrap_or_default()))
    }

    /// Releases the object. May be called again, and on any thread.
    fn close(&self, py: Python<'_>) {
        self.held.close(py);
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    fn __repr__(&self) -> String {
        let Self { object: Object { name, desc }, device, .. } = self;
        let path = self.held.named().map_or("closed", PathId::name);
        format!("<pixelferry.gl.Source: {name}, {desc}, {device}, {path}>")
    }
}
