//! Common state of the program's objects that arrays are written into, for OpenGL and Vulkan.

use crate::content::Content;
use crate::engine::{BackendRequest, Engines};
use crate::failure::Failure;
use crate::items::Items;
use crate::source::Source;
use crate::stage::Stage;
use crate::stage_handle::StageHandle;
use pixelferry::{PathId, SurfaceDesc};
use pixelferry_look::{Layout, Plane, Raw};
use pyo3::prelude::*;

/// Writes a texture or buffer of the program.
pub struct WriteTarget {
    /// The current path, after the first array.
    held: StageHandle<Option<PathId>>,
    engines: Engines,
    pub desc: SurfaceDesc,
}

impl WriteTarget {
    /// Opens the object on a stage; this backend writes it.
    pub fn new(
        py: Python<'_>,
        held: StageHandle<Option<PathId>>,
        backend: Option<&str>,
        open: impl FnOnce(&mut Stage) -> Result<SurfaceDesc, Failure> + Send,
    ) -> PyResult<Self> {
        let engines = Engines::new(BackendRequest::parse(backend)?);
        let desc = held.begin(py, open)?;
        held.name(None);
        Ok(Self { held, engines, desc })
    }

    fn put<D: Content + Send + Sync>(
        &self,
        array: &Bound<'_, PyAny>,
        of: &dyn Fn(&Raw) -> Result<D, Failure>,
    ) -> PyResult<()> {
        let source = Source::new(array, of, &self.engines)?;
        let readable = source.readable();
        let engine = self.engines.engine(readable.description().span().place)?;
        let written = self.held.run(array.py(), |stage| stage.give(readable, &engine));
        // Release the array only now: its owner may write it from here on.
        drop(source);
        self.held.name(Some(written?));
        Ok(())
    }

    /// Writes an array of the object's size. When it returns, the array has been read and may be written again.
    pub fn write(&self, array: &Bound<'_, PyAny>, layout: &str) -> PyResult<()> {
        let layout = Layout::named(layout).map_err(Failure::from)?;
        self.held.named()?;
        match self.desc {
            SurfaceDesc::Image(image) => self.put(array, &|raw| {
                let plane = Plane::data(raw, layout, image.format)?;
                if [plane.width, plane.height] == [image.extent.width, image.extent.height] {
                    return Ok(plane);
                }
                let (width, height) = (plane.width, plane.height);
                Err(Failure::Shape(format!(
                    "the array has {width}x{height} pixels, but the texture has {}; give an array of its size",
                    image.extent
                )))
            }),
            desc => self.put(array, &|raw| {
                let (items, bytes) = (Items::new(raw)?, desc.byte_len()?);
                if items.len == bytes {
                    return Ok(items);
                }
                Err(Failure::Shape(format!(
                    "the array has {} bytes, but the target covers {bytes} bytes of the buffer; give that many, or set \
                     size=",
                    items.len
                )))
            }),
        }
    }

    /// The current path; `None` before the first array.
    pub fn path(&self) -> PyResult<Option<&'static str>> {
        Ok(self.held.named()?.map(PathId::name))
    }

    /// Describes the findings about every path.
    pub fn explain(&self, py: Python<'_>) -> PyResult<String> {
        self.held.run(py, |stage| Ok(stage.target()))
    }

    /// May be called again, and on any thread.
    pub fn close(&self, py: Python<'_>) {
        self.held.close(py);
    }

    /// Returns the path, or the state.
    pub fn state(&self) -> &'static str {
        self.held.named().map_or("closed", |path| path.map_or("nothing has been written yet", PathId::name))
    }
}
