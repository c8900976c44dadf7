//! `pixelferry.gl.Buffer`.

use crate::array::Array;
use crate::items::Items;
use crate::raw::memory::Readable;
use crate::stage::{NamedBuffer, Stage};
use crate::stage_handle::{ShownObject, Wishes};
use pixelferry::{PixelFormat, RowOrder};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};

/// An array as a buffer object in the OpenGL context that is current on this thread.
#[pyclass(module = "pixelferry.gl", frozen)]
pub struct Buffer {
    held: ShownObject<Items, NamedBuffer>,
}

#[pymethods]
impl Buffer {
    #[new]
    #[pyo3(signature = (array_or_bytes, *, path=None, backend=None, stable=true))]
    fn new(
        array_or_bytes: &Bound<'_, PyAny>,
        path: Option<&str>,
        backend: Option<&str>,
        stable: bool,
    ) -> PyResult<Self> {
        let py = array_or_bytes.py();
        let wishes = Wishes { path, backend, stable };
        // It shows no pictures, so format and order do not matter.
        let held = ShownObject::new(py, PixelFormat::R8, RowOrder::BottomUp, &wishes, Stage::fill, Stage::buffer)?;
        match array_or_bytes.cast::<PyInt>() {
            Ok(bytes) => held.update_own(py, &Readable::zeros(bytes.extract()?)?)?,
            Err(_) => held.update(array_or_bytes, &Items::new)?,
        }
        Ok(Self { held })
    }

    /// Writes an array into the buffer. When it returns, the array has been read and may be written again.
    fn update(&self, array: &Bound<'_, PyAny>) -> PyResult<()> {
        self.held.named()?;
        self.held.update(array, &Items::new)
    }

    /// Returns the content as an array that later calls do not change: on the host, or with device="cuda" on the GPU.
    #[pyo3(signature = (device="cpu"))]
    fn read(&self, py: Python<'_>, device: &str) -> PyResult<Array> {
        self.held.read(py, device)
    }

    /// OpenGL's name of the buffer object.
    #[getter]
    fn name(&self) -> PyResult<u32> {
        Ok(self.held.named()?.name)
    }

    /// Offset of the array in the buffer object, in bytes.
    #[getter]
    fn offset(&self) -> PyResult<usize> {
        Ok(self.held.named()?.offset)
    }

    /// Length of the array in bytes.
    #[getter]
    fn nbytes(&self) -> PyResult<usize> {
        Ok(self.held.named()?.bytes)
    }

    /// The current path.
    #[getter]
    fn path(&self) -> PyResult<&'static str> {
        Ok(self.held.named()?.path.name())
    }

    /// Describes the current path in detail, for a bug report.
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        self.held.explain(py)
    }

    /// Describes the current path in detail, as a dict.
    #[getter]
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.held.report(py)
    }

    /// Deletes the buffer object. May be called again, and on any thread.
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
        let Ok(NamedBuffer { name, bytes, path, .. }) = self.held.named() else {
            return "<pixelferry.gl.Buffer: closed>".into();
        };
        format!("<pixelferry.gl.Buffer: {name}, {bytes} bytes, {}>", path.name())
    }
}
