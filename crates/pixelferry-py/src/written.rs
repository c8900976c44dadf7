//! State shared by the objects of the program's that arrays are written into, of OpenGL and of Vulkan.

use crate::content::Content;
use crate::engine::{Asked, Engines};
use crate::failure::Failure;
use crate::held::Held;
use crate::items::Items;
use crate::source::Source;
use crate::stage::Stage;
use pixelferry::{PathId, SurfaceDesc};
use pixelferry_look::{Layout, Plane, Raw};
use pyo3::prelude::*;

/// A texture or buffer of the program's, to be written.
pub struct Written {
    /// The path in use, after the first array.
    held: Held<Option<PathId>>,
    engines: Engines,
    pub desc: SurfaceDesc,
}

impl Written {
    /// What `open` opens on a stage, written by this backend.
    pub fn new(
        py: Python<'_>,
        held: Held<Option<PathId>>,
        backend: Option<&str>,
        open: impl FnOnce(&mut Stage) -> Result<SurfaceDesc, Failure> + Send,
    ) -> PyResult<Self> {
        let engines = Engines::new(Asked::parse(backend)?);
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
        // Only now may its owner have it back.
        drop(source);
        self.held.name(Some(written?));
        Ok(())
    }

    /// Writes an array of its size into it, and returns when the array may be written again.
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

    /// The path in use; `None` before the first array.
    pub fn path(&self) -> PyResult<Option<&'static str>> {
        Ok(self.held.named()?.map(PathId::name))
    }

    /// Returns what was found of every path.
    pub fn explain(&self, py: Python<'_>) -> PyResult<String> {
        self.held.run(py, |stage| Ok(stage.target()))
    }

    /// May be called again, and on any thread.
    pub fn close(&self, py: Python<'_>) {
        self.held.close(py);
    }

    /// Tells the path or the state.
    pub fn state(&self) -> &'static str {
        self.held.named().map_or("closed", |path| path.map_or("nothing was written yet", PathId::name))
    }
}
