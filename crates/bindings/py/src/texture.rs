//! `pixelferry.gl.Texture`.

use crate::array::Array;
use crate::failure::Failure;
use crate::option_names;
use crate::raw::memory::Readable;
use crate::stage::{NamedTexture, Stage};
use crate::stage_handle::{ShownObject, Wishes};
use pixelferry::api::gl::Viewport;
use pixelferry::{DrawOptions, PixelFormat, RowOrder};
use pixelferry_look::{Layout, Plane};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// An array as a texture in the OpenGL context that is current on this thread.
#[pyclass(module = "pixelferry.gl", frozen)]
pub struct Texture {
    held: ShownObject<Plane, NamedTexture>,
    format: PixelFormat,
}

#[pymethods]
impl Texture {
    #[new]
    #[pyo3(signature = (array_or_shape, layout="HWC", *, format="rgba8", path=None, backend=None, stable=true, flip=false))]
    #[allow(clippy::too_many_arguments)] // keyword arguments in Python
    fn new(
        array_or_shape: &Bound<'_, PyAny>,
        layout: &str,
        format: &str,
        path: Option<&str>,
        backend: Option<&str>,
        stable: bool,
        flip: bool,
    ) -> PyResult<Self> {
        let py = array_or_shape.py();
        let layout = Layout::named(layout).map_err(Failure::from)?;
        let format = option_names::format(format)?;
        let wishes = Wishes { path, backend, stable };
        // As in glTexSubImage2D, or so that a draw puts row 0 on top.
        let rows = if flip { RowOrder::TopDown } else { RowOrder::BottomUp };
        let held = ShownObject::new(py, format, rows, &wishes, Stage::show, Stage::texture)?;
        match array_or_shape.cast::<PyTuple>() {
            Ok(shape) => held.update_own(py, &Readable::black(shape.extract()?, layout, format)?)?,
            Err(_) => held.update(array_or_shape, &|raw| Ok(Plane::data(raw, layout, format)?))?,
        }
        Ok(Self { held, format })
    }

    /// Writes an array into the texture. When it returns, the array has been read and may be written again.
    #[pyo3(signature = (array, layout="HWC"))]
    fn update(&self, array: &Bound<'_, PyAny>, layout: &str) -> PyResult<()> {
        let layout = Layout::named(layout).map_err(Failure::from)?;
        self.held.named()?;
        self.held.update(array, &|raw| Ok(Plane::data(raw, layout, self.format)?))
    }

    /// Returns the content as an array that later calls do not change: on the host, or with device="cuda" on the GPU.
    #[pyo3(signature = (device="cpu"))]
    fn read(&self, py: Python<'_>, device: &str) -> PyResult<Array> {
        self.held.read(py, device)
    }

    /// Draws the texture into the current draw framebuffer.
    #[pyo3(signature = (x, y, width, height, *, fit="contain", background=None))]
    #[allow(clippy::too_many_arguments)] // keyword arguments in Python
    fn draw(
        &self,
        py: Python<'_>,
        x: i32,
        y: i32,
        width: i64,
        height: i64,
        fit: &str,
        background: Option<[f32; 3]>,
    ) -> PyResult<()> {
        let options = DrawOptions::default().with_fit(option_names::fit(fit)?).with_background(background);
        let side = |side: i64| {
            u32::try_from(side).map_err(|_| Failure::Shape(format!("invalid size {side}: sides have at least 1 pixel")))
        };
        let viewport = Viewport { x, y, width: side(width)?, height: side(height)? };
        self.held.run(py, move |stage| stage.draw_into(viewport, options))
    }

    /// OpenGL's name of the texture.
    #[getter]
    fn name(&self) -> PyResult<u32> {
        Ok(self.held.named()?.name)
    }

    /// GL_TEXTURE_2D.
    #[getter]
    fn target(&self) -> PyResult<u32> {
        Ok(self.held.named()?.target)
    }

    /// Width and height in pixels.
    #[getter]
    fn size(&self) -> PyResult<(u32, u32)> {
        let size = self.held.named()?.size;
        Ok((size.width, size.height))
    }

    /// The format of its pixels.
    #[getter]
    fn format(&self) -> String {
        option_names::name_of(self.format)
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

    /// Deletes the texture. May be called again, and on any thread.
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
        let format = self.format();
        let Ok(NamedTexture { name, size, path, .. }) = self.held.named() else {
            return format!("<pixelferry.gl.Texture: {format}, closed>");
        };
        format!("<pixelferry.gl.Texture: {name}, {size}, {format}, {}>", path.name())
    }
}
