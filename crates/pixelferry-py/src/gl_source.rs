//! `pixelferry.gl.Source`, as Python sees it.

use crate::array::Array;
use crate::engine::{Asked, Engines, Wanted};
use crate::failure::Failure;
use crate::held::Held;
use crate::named;
use crate::stage::{Settings, SourceWish};
use pixelferry::{Extent, ImageDesc, PathId, PixelFormat, Policy, SurfaceDesc};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};

/// A texture or buffer of the program's, of the OpenGL context that is current on this thread, to be read.
#[pyclass(module = "pixelferry.gl", name = "Source", frozen)]
pub struct GlSource {
    held: Held<PathId>,
    name: u32,
    desc: SurfaceDesc,
    format: Option<PixelFormat>,
    device: String,
}

/// OpenGL's name: a number, or what moderngl's (`glo`) and our own (`name`) objects call so.
fn name_of(object: &Bound<'_, PyAny>) -> PyResult<u32> {
    let py = object.py();
    let attribute = |name| object.getattr_opt(name);
    let name = match object.cast::<PyInt>() {
        Ok(number) => Some(number.clone().into_any()),
        Err(_) => attribute(intern!(py, "glo"))?.or(attribute(intern!(py, "name"))?),
    };
    let none = || {
        let what = object.get_type().name().map_or_else(|_| "it".into(), |name| name.to_string());
        Failure::Dtype(format!("'{what}' is no texture or buffer of OpenGL; give the number that glGenTextures gave"))
    };
    Ok(name.ok_or_else(none)?.extract().map_err(|_| none())?)
}

/// As given, or as the object has it: width and height of a texture, or the number of a buffer's bytes.
fn desc_of(object: &Bound<'_, PyAny>, size: Option<Bound<'_, PyAny>>, format: PixelFormat) -> PyResult<SurfaceDesc> {
    let py = object.py();
    let size = match size {
        Some(size) => Some(size),
        None => match object.getattr_opt(intern!(py, "size"))? {
            Some(size) => Some(size),
            None => object.getattr_opt(intern!(py, "nbytes"))?,
        },
    };
    let wrong = |what: &str| {
        Failure::Shape(format!(
            "size={what} is neither (width, height) of a texture nor the number of a buffer's bytes"
        ))
    };
    let size = size.ok_or_else(|| wrong("None"))?;
    let refused = |_| wrong(&size.to_string());
    if size.cast::<PyTuple>().is_ok() {
        let (width, height): (u32, u32) = size.extract().map_err(refused)?;
        return Ok(SurfaceDesc::Image(ImageDesc::new(width, height, format)));
    }
    Ok(SurfaceDesc::buffer(size.extract().map_err(refused)?))
}

#[pymethods]
impl GlSource {
    #[new]
    #[pyo3(signature = (texture_or_buffer, size=None, *, format="rgba8", rows="top-down", device="cpu", path=None))]
    fn new(
        texture_or_buffer: &Bound<'_, PyAny>,
        size: Option<Bound<'_, PyAny>>,
        format: &str,
        rows: &str,
        device: &str,
        path: Option<&str>,
    ) -> PyResult<Self> {
        let py = texture_or_buffer.py();
        let format = named::format(format)?;
        let name = name_of(texture_or_buffer)?;
        let desc = desc_of(texture_or_buffer, size, format)?;
        let settings = Settings { format, rows: named::rows(rows)?, policy: Policy::default() };
        let path = path.map(str::parse).transpose().map_err(Failure::from)?;
        let wish = SourceWish { name, desc, device: Wanted::parse(device)?, path };
        let held = Held::new(py, settings)?;
        let engines = Engines::new(Asked::parse(None)?);
        held.name(held.begin(py, |stage| stage.open_source(&wish, &engines))?);
        let format = matches!(desc, SurfaceDesc::Image(_)).then_some(format);
        Ok(Self { held, name, desc, format, device: device.to_owned() })
    }

    /// Returns what was rendered there by now, as an array that no later call changes.
    fn read(&self, py: Python<'_>) -> PyResult<Array> {
        let (array, path) = self.held.run(py, |stage| stage.take())?;
        self.held.name(path);
        Ok(array)
    }

    /// OpenGL's name of what is read.
    #[getter]
    fn name(&self) -> u32 {
        self.name
    }

    /// Width and height in pixels, or bytes.
    #[getter]
    fn size<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.desc {
            SurfaceDesc::Image(ImageDesc { extent: Extent { width, height }, .. }) => {
                Ok((width, height).into_pyobject(py)?.into_any())
            }
            desc => Ok(desc.byte_len().map_err(Failure::from)?.into_pyobject(py)?.into_any()),
        }
    }

    /// The format of its pixels; None for a buffer.
    #[getter]
    fn format(&self) -> Option<String> {
        self.format.map(named::name_of)
    }

    /// Tells where arrays are, as it was given.
    #[getter]
    fn device(&self) -> &str {
        &self.device
    }

    /// The path in use.
    #[getter]
    fn path(&self) -> PyResult<&'static str> {
        Ok(self.held.named()?.name())
    }

    /// Returns what was found of every path as text to paste into a bug report.
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        self.held.run(py, |stage| Ok(stage.source().unwrap_or_default()))
    }

    /// Lets go of what is read. May be called again, and on any thread.
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
        let Self { name, desc, device, .. } = self;
        let path = self.held.named().map_or("closed", PathId::name);
        format!("<pixelferry.gl.Source: {name}, {desc}, {device}, {path}>")
    }
}
