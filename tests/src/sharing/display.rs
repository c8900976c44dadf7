//! A display that takes and gives memory by handles, and makes semaphores.

use super::handles::{memory_caps, name_semaphore, open_memory, queue, semaphores};
use super::semaphore::Semaphore;
use super::staging::SharedStaging;
use super::surface::SharedSurface;
use super::turn::Turn;
use pixelferry::driver::{
    DeviceSpan, DisplayCaps, DisplaySemaphore, GlContext, HandleType, HostBlock, MemoryShape, SharedHandle, Staging,
    StagingKind,
};
use pixelferry::{
    DeviceIdentity, Display, Drawn, Error, MemoryDisplay, Result, Support, Surface, SurfaceDesc, SyncKind,
};
use pixelferry_faults::Faults;
use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

/// The memory display, wrapped.
pub struct SharingDisplay {
    inner: Rc<MemoryDisplay>,
    device: DeviceIdentity,
    caps: DisplayCaps,
    faults: Faults,
}

impl SharingDisplay {
    /// One that tells `faults` what is out of turn.
    pub fn new(in_the_backends_queue: bool, faults: &Faults) -> Self {
        let inner = MemoryDisplay::new();
        let device = inner.device().clone().with_name("sharing memory");
        let (image, linear) = (MemoryShape::Image, MemoryShape::Linear);
        let mut imports =
            vec![(HandleType::HostPointer, linear), (HandleType::OpaqueFd, image), (HandleType::OpaqueFd, linear)];
        if in_the_backends_queue {
            imports.push((HandleType::QueueBuffer(queue()), linear));
        }
        let exports = [
            (HandleType::HostPointer, linear),
            (HandleType::GlObject, image),
            (HandleType::GlObject, linear),
            (HandleType::OpaqueFd, image),
            (HandleType::OpaqueFd, linear),
        ];
        let caps = inner
            .caps()
            .clone()
            .with_imports(memory_caps(&imports))
            .with_exports(memory_caps(&exports))
            .with_semaphores(semaphores())
            // Linear memory with gaps, which images have not.
            .with_row_pitch_alignment(64);
        Self { inner, device, caps, faults: faults.clone() }
    }

    fn surface(&self, inner: Box<dyn Surface>) -> Box<dyn Surface> {
        Box::new(SharedSurface::new(inner, &self.inner, &self.faults))
    }
}

impl Display for SharingDisplay {
    pixelferry_faults::forward! {
        & hold_gl() -> Result<Arc<dyn GlContext>>;
        & drop_in_context(object: Box<dyn Any>);
        & drawn() -> Option<Drawn>;
        & finish() -> Result<()>;
        & set_timeline(on: bool) -> Result<Support>;
        & drain_timeline(into: &mut dyn FnMut(DeviceSpan)) -> Result<()>;
    }

    fn device(&self) -> &DeviceIdentity {
        &self.device
    }

    fn caps(&self) -> &DisplayCaps {
        &self.caps
    }

    fn create_surface(&self, desc: &SurfaceDesc) -> Result<Box<dyn Surface>> {
        Ok(self.surface(self.inner.create_surface(desc)?))
    }

    fn create_in_place_surface(&self, desc: &SurfaceDesc) -> Result<Box<dyn Surface>> {
        Ok(self.surface(self.inner.create_in_place_surface(desc)?))
    }

    fn create_staging(&self, kind: StagingKind, bytes: usize) -> Result<Box<dyn Staging>> {
        let renamed = matches!(kind, StagingKind::Orphaned);
        let imported = |block: &HostBlock| self.inner.create_staging(StagingKind::Imported(block.clone()), bytes);
        let (inner, block, host_block, exported) = match kind {
            StagingKind::External(handle) | StagingKind::ExternalImage(handle, _) => {
                let block = open_memory(&handle)?;
                (imported(&block)?, Some(block), None, None)
            }
            StagingKind::Exported | StagingKind::ExportedImage(_) => {
                let block = HostBlock::allocate(bytes)?;
                (imported(&block)?, Some(block.clone()), None, Some(block))
            }
            of_the_host => {
                let inner = self.inner.create_staging(of_the_host, bytes)?;
                let block = inner.host_block();
                (inner, block.clone(), block, None)
            }
        };
        let turn = block.map_or_else(Rc::default, |block| Turn::at(block.address().addr().get()));
        Ok(Box::new(SharedStaging { inner, turn, host_block, exported, renamed, faults: self.faults.clone() }))
    }

    fn create_semaphore(&self, kind: SyncKind) -> Result<(Box<dyn DisplaySemaphore>, SharedHandle)> {
        let semaphore = Semaphore::new(kind, &self.faults);
        let handle = name_semaphore(&semaphore, kind)?;
        Ok((Box::new(semaphore), handle))
    }

    fn draw_offscreen(&self, surface: &dyn Surface) -> Result<()> {
        let surface: Option<&SharedSurface> = surface.as_any().downcast_ref();
        let surface = surface.ok_or_else(|| Error::Foreign {
            operation: "SharingDisplay::draw_offscreen",
            object: "surface",
            device: self.device.to_string(),
        })?;
        self.inner.draw_offscreen(surface.visible())
    }
}
