//! Writes arrays into a texture or buffer of the program.

use crate::array_kernel::{kernel, lent};
use crate::content::Content;
use crate::engine::Engine;
use crate::failure::Failure;
use crate::raw::memory::Readable;
use pixelferry::{ComputeBackend, Display, Kernel, Outlet, OutletOptions, PathId, RowOrder, Surface, Unwritten};
use pixelferry_look::MemoryLocation;
use std::sync::Arc;

/// The path for arrays of one place.
struct ArrayOutlet {
    place: MemoryLocation,
    outlet: Outlet,
    backend: Arc<dyn ComputeBackend>,
    kernel: Option<Arc<dyn Kernel>>,
}

/// Opens a texture or buffer of the program on its display.
pub type TargetOpener = Box<dyn Fn() -> Result<(Arc<dyn Display>, Surface), Failure>>;

/// The paths into one texture or buffer. Stays on the thread of its context.
pub struct ArrayOutlets {
    open: TargetOpener,
    options: OutletOptions,
    /// The most recently used path is last.
    ways: Vec<ArrayOutlet>,
}

impl ArrayOutlets {
    /// `rows` is the order of the arrays' rows.
    pub fn new(open: TargetOpener, rows: RowOrder, path: Option<PathId>) -> Self {
        // Arrays are always written completely.
        let options = OutletOptions::default().with_unwritten(Unwritten::Overwrite);
        Self { open, options: options.with_row_order(rows).with_path(path), ways: Vec::new() }
    }

    /// Writes an array. When this returns, the array is no longer read.
    pub fn write<D: Content>(&mut self, array: &Readable<D>, engine: &Engine) -> Result<PathId, Failure> {
        let content = array.description();
        let place = content.span().place;
        match self.ways.iter().position(|way| way.place == place) {
            Some(at) => self.ways[at..].rotate_left(1),
            None => {
                let backend = engine.backend()?;
                let (display, surface) = (self.open)()?;
                let outlet = Outlet::open_with(backend.clone(), display, surface, self.options)?;
                let kernel = kernel::<D>(engine, &backend, outlet.desc())?;
                self.ways.push(ArrayOutlet { place, outlet, backend, kernel });
            }
        }
        // If there was none, one was just added.
        let Some(ArrayOutlet { outlet, backend, kernel, .. }) = self.ways.last_mut() else {
            return Err(Failure::Device("no path to this texture or buffer works".into()));
        };
        match (kernel, lent(array, engine, backend.as_ref())?) {
            (Some(kernel), Some(mut memory)) => {
                outlet.frame(|frame| frame.launch(kernel.as_ref(), &content.arguments(memory.as_ref(), None)))?;
                // The kernel has read it: its owner may write it again.
                memory.release()?;
            }
            _ => outlet.frame(|frame| content.write(frame.target()?, array.bytes()?))?,
        }
        Ok(outlet.path())
    }

    /// Describes the findings about every path.
    pub fn explain(&self) -> String {
        let Some(ArrayOutlet { outlet, .. }) = self.ways.last() else { return "nothing has been written yet".into() };
        let rows: Vec<_> = outlet.rows().iter().map(ToString::to_string).collect();
        format!("{} is written by {}\n{}", outlet.desc(), outlet.path(), rows.join("\n"))
    }
}
