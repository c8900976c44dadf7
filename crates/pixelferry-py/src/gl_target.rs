//! `pixelferry.gl.Target`, as Python sees it.

use crate::content::Content;
use crate::engine::{Asked, Engines};
use crate::failure::Failure;
use crate::held::Held;
use crate::items::Items;
use crate::named;
use crate::object::Object;
use crate::source::Source;
use crate::stage::Settings;
use pixelferry::{PathId, Policy, SurfaceDesc};
use pixelferry_look::{Layout, Plane, Raw};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A texture or buffer of the program's, of the OpenGL context that is current on this thread, to be written.
#[pyclass(module = "pixelferry.gl", name = "Target", frozen)]
pub struct GlTarget {
    /// The path in use, after the first array.
    held: Held<Option<PathId>>,
    engines: Engines,
    object: Object,
}

impl GlTarget {
    fn put<D: Content + Send + Sync>(
        &self,
        array: &Bound<'_, PyAny>,
        of: &dyn Fn(&Raw) -> Result<D, Failure>,
    ) -> PyResult<()> {
        let source = Source::new(array, of, &self.engines)?;
        let readable = source.readable();
        let engine = self.engines.engine(readable.description().span().place)?;
        let written = self.held.run(array.py(), |stage| stage.give(readable, &engine));
        // Only now may its owner have it back.
        drop(source);
        self.held.name(Some(written?));
        Ok(())
    }
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
        let format = named::format(format)?;
        let object = Object::new(texture_or_buffer, size, format)?;
        let settings = Settings { format, rows: named::rows(rows)?, policy: Policy::default() };
        let path = path.map(str::parse).transpose().map_err(Failure::from)?;
        let engines = Engines::new(Asked::parse(backend)?);
        let held = Held::new(py, settings)?;
        held.begin(py, |stage| stage.open_target(object, path))?;
        held.name(None);
        Ok(Self { held, engines, object })
    }

    /// Writes an array of its size into it, and returns when the array may be written again.
    #[pyo3(signature = (array, layout="HWC"))]
    fn write(&self, array: &Bound<'_, PyAny>, layout: &str) -> PyResult<()> {
        let layout = Layout::named(layout).map_err(Failure::from)?;
        self.held.named()?;
        match self.object.desc {
            SurfaceDesc::Image(image) => self.put(array, &|raw| {
                let plane = Plane::data(raw, layout, image.format)?;
                if [plane.width, plane.height] == [image.extent.width, image.extent.height] {
                    return Ok(plane);
                }
                let (width, height) = (plane.width, plane.height);
                Err(Failure::Shape(format!(
                    "an array of {width}x{height} pixels was given, the texture has {}; give one of its size",
                    image.extent
                )))
            }),
            desc => self.put(array, &|raw| {
                let (items, bytes) = (Items::new(raw)?, desc.byte_len()?);
                if items.len == bytes {
                    return Ok(items);
                }
                Err(Failure::Shape(format!(
                    "an array of {} bytes was given, and {bytes} of the buffer are written; give one of so many, or size=",
                    items.len
                )))
            }),
        }
    }

    /// OpenGL's name of what is written.
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

    /// The path in use; None before the first array.
    #[getter]
    fn path(&self) -> PyResult<Option<&'static str>> {
        Ok(self.held.named()?.map(PathId::name))
    }

    /// Returns what was found of every path as text to paste into a bug report.
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        self.held.run(py, |stage| Ok(stage.target()))
    }

    /// Lets go of what is written. May be called again, and on any thread.
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
        let Object { name, desc } = self.object;
        let path = self.held.named().map_or("closed", |path| path.map_or("nothing was written yet", PathId::name));
        format!("<pixelferry.gl.Target: {name}, {desc}, {path}>")
    }
}
