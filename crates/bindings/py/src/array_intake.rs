//! Reads the display's rendered content as arrays.

use crate::array::{Array, Layout};
use crate::content::Content as _;
use crate::engine::Engine;
use crate::failure::Failure;
use crate::items::Items;
use crate::raw::context::copy_shown;
use crate::raw::owned_bytes::{CudaBytes, HostBytes, Memory};
use pixelferry::api::cuda::CudaBackend;
use pixelferry::api::gl::GlDisplay;
use pixelferry::{
    ComputeBackend, ComputeMemory, Display, ImageDesc, Intake, Kernel, PathId, RowOrder, Surface, SurfaceDesc, Target,
};
use std::sync::Arc;

/// The path from one texture or buffer to arrays on one device. Stays on the thread of its context.
pub struct ArrayIntake {
    intake: Intake,
    engine: Engine,
    backend: Arc<dyn ComputeBackend>,
    kernel: Arc<dyn Kernel>,
    items: Items,
    layout: Layout,
}

impl ArrayIntake {
    /// `rows` is the order of the arrays' rows.
    pub fn open(
        engine: Engine,
        display: Arc<dyn Display>,
        surface: Surface,
        rows: RowOrder,
        path: Option<PathId>,
    ) -> Result<Self, Failure> {
        let (desc, native) = (*surface.desc(), display.caps().native_row_order);
        let layout = Layout::of(&desc)?;
        let items = match desc {
            SurfaceDesc::Image(image) => {
                Items::rows(image.extent.height, layout.len() / image.extent.height.max(1) as usize, rows != native)
            }
            _ => Items::rows(1, layout.len(), false),
        };
        let backend = engine.backend()?;
        let kernel = backend.build(&Items::source(&desc))?;
        let intake = match path {
            Some(path) => Intake::open_by(backend.clone(), display, surface, path)?,
            None => Intake::open(backend.clone(), display, surface)?,
        };
        Ok(Self { intake, engine, backend, kernel, items, layout })
    }

    pub fn path(&self) -> PathId {
        self.intake.path()
    }

    /// Describes the findings about every path.
    pub fn explain(&self) -> String {
        let rows: Vec<_> = self.intake.rows().iter().map(ToString::to_string).collect();
        format!("{} is read by {}\n{}", self.intake.desc(), self.path(), rows.join("\n"))
    }

    /// Returns what was rendered so far, in memory that later calls do not change.
    pub fn read(&mut self) -> Result<Array, Failure> {
        let Self { intake, engine, backend, kernel, items, layout } = self;
        let taken = intake.take()?;
        let arguments = items.arguments(taken.memory(), None);
        let memory = match engine {
            Engine::Cuda(backend) => {
                let launch =
                    |to: &mut dyn ComputeMemory| Ok(backend.launch(kernel.as_ref(), Target::buffer(to), &arguments)?);
                Memory::Cuda(CudaBytes::filled(backend, layout.len(), launch)?)
            }
            Engine::Host(_) => {
                let mut bytes = HostBytes::new(layout.len())?;
                bytes.lend(|block| {
                    let mut to = backend.import_host(block)?;
                    backend.launch(kernel.as_ref(), Target::buffer(to.as_mut()), &arguments)?;
                    Ok(to.release()?)
                })?;
                Memory::Host(bytes)
            }
        };
        Ok(Array::new(memory, layout.clone()))
    }
}

/// A texture for copies of shown pictures: links may change and delete their own textures at any time.
pub struct Scratch {
    taking: ArrayIntake,
    image: ImageDesc,
    backend: Arc<CudaBackend>,
}

impl Scratch {
    pub fn open(gl: &Arc<GlDisplay>, image: ImageDesc, backend: &Arc<CudaBackend>) -> Result<Self, Failure> {
        // Copies are drawn into the display's own row order.
        let own = image.with_row_order(gl.caps().native_row_order);
        let surface = gl.create_surface(&SurfaceDesc::Image(own))?;
        let taking = ArrayIntake::open(Engine::Cuda(backend.clone()), gl.clone(), surface, image.row_order, None)?;
        Ok(Self { taking, image, backend: backend.clone() })
    }

    /// Returns whether it suits pictures of this kind on that device.
    pub fn is_of(&self, image: &ImageDesc, backend: &Arc<CudaBackend>) -> bool {
        self.image == *image && Arc::ptr_eq(&self.backend, backend)
    }

    pub fn read(&mut self, gl: &GlDisplay, shown: &Surface) -> Result<Array, Failure> {
        let own = gl.surface_texture(self.taking.intake.source())?;
        copy_shown(gl, shown, own.id(), self.image.extent)?;
        self.taking.read()
    }
}
