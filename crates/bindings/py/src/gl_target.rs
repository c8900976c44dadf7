//! `pixelferry.gl.Target`.

use crate::failure::Failure;
use crate::object::Object;
use crate::option_names;
use crate::stage::Settings;
use crate::stage_handle::StageHandle;
use crate::write_target::WriteTarget;
use pixelferry::Policy;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Writes a texture or buffer of the program, in the OpenGL context that is current on this thread.
#[pyclass(module = "pixelferry.gl", name = "Target", frozen)]
pub struct GlTarget {
    written: WriteTarget,
    object: Object,
}

#[pymethods]
impl GlTarget {
    #[new]
    #[pyo3(signature = (texture_or_buffer, size=None, *, format="rgba8", rows="bottom-up", path=None, backend=None))]
    fn new(
        texture_or_buffer: &Bound<'_, PyAny>,
        size: Option<Bound<'_, PyAny>>,
        format: &str,
        rows: &str,
        path: Option<&str>,
        backend: Option<&str>,
    ) -> PyResult<Self> {
        let py = texture_or_buffer.py();
        let format = option_names::format(format)?;
        let object = Object::new(texture_or_buffer, size, format)?;
        let settings = Settings { format, rows: option_names::rows(rows)?, policy: Policy::default() };
        let path = path.map(str::parse).transpose().map_err(Failure::from)?;
        let held = StageHandle::new(py, settings)?;
        let written = WriteTarget::new(py, held, backend, |stage| stage.open_target(object, path))?;
        Ok(Self { written, object })
    }

    /// Writes an array of the object's size. When it returns, the array has been read and may be written again.
    #[pyo3(signature = (array, layout="HWC"))]
    fn write(&self, array: &Bound<'_, PyAny>, layout: &str) -> PyResult<()> {
        self.written.write(array, layout)
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

    /// The current path; None before the first array.
    #[getter]
    fn path(&self) -> PyResult<Option<&'static str>> {
        self.written.path()
    }

    /// Describes the findings about every path, for a bug report.
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        self.written.explain(py)
    }

    /// Releases the object. May be called again, and on any thread.
    fn close(&self, py: Python<'_>) {
        self.written.close(py);
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    fn __repr__(&self) -> String {
        let Object { name, desc } = self.object;
        format!("<pixelferry.gl.Target: {name}, {desc}, {}>", self.written.state())
    }
}
