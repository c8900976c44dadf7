//! A display that takes and gives memory by handles, and makes semaphores.

use super::handles::{memory_caps, name_semaphore, open_memory, queue, semaphores};
use super::semaphore::Semaphore;
use super::staging::SharedStaging;
use super::surface::SharedSurface;
use super::turn::Turn;
use crate::faults::Faults;
use pixelferry::driver::{
    DeviceSpan, DisplayCaps, DisplayDriver, GlContext, HandleType, HostBlock, MemoryShape, Reach, SemaphoreDriver,
    SharedHandle, Staging, StagingKind,
};
use pixelferry::{
    DeviceIdentity, Display, DrawReport, Error, Manner, MemoryDisplay, Result, Support, Surface, SurfaceDesc, SyncKind,
};
use std::any::Any;
use std::sync::Arc;

/// The memory display, wrapped.
pub struct SharingDisplay {
    inner: Arc<dyn Display>,
    device: DeviceIdentity,
    caps: DisplayCaps,
    faults: Faults,
}

impl SharingDisplay {
    /// One that tells `faults` what is out of turn.
    pub fn new(in_the_backends_queue: bool, faults: &Faults) -> Self {
        let inner: Arc<dyn Display> = MemoryDisplay::new();
        let device = inner.device().clone().with_name("sharing memory");
        let (image, linear) = (MemoryShape::Image, MemoryShape::Linear);
        let mut imports =
            vec![(HandleType::HostPointer, linear), (HandleType::OpaqueFd, image), (HandleType::OpaqueFd, linear)];
        if in_the_backends_queue {
            imports.push((HandleType::QueueBuffer(queue()), linear));
        }
        let mut exports = vec![
            (HandleType::HostPointer, linear),
            (HandleType::GlObject, image),
            (HandleType::GlObject, linear),
            (HandleType::OpaqueFd, image),
            (HandleType::OpaqueFd, linear),
        ];
        if in_the_backends_queue {
            exports.push((HandleType::QueueBuffer(queue()), image));
        }
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

    fn surface(&self, inner: Result<Surface>) -> Result<SharedSurface> {
        Ok(SharedSurface::new(inner?, &self.inner, &self.faults))
    }
}

impl DisplayDriver for SharingDisplay {
    crate::forward! {
        & hold_gl() -> Result<Arc<dyn GlContext>>;
        & drop_in_context(object: Box<dyn Any + Send + Sync>);
        & drawn() -> Option<DrawReport>;
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

    fn create_surface(&self, desc: &SurfaceDesc) -> Result<Surface> {
        let make = || self.surface(self.inner.create_surface(desc));
        Surface::stored((&self.device, &self.caps), desc, |_, _| make(), |_| make())
    }

    fn create_in_place_surface(&self, desc: &SurfaceDesc) -> Result<Surface> {
        let make = || self.surface(self.inner.create_in_place_surface(desc));
        Surface::in_place((&self.device, &self.caps), desc, |_| make(), make)
    }

    fn create_staging(&self, kind: StagingKind, bytes: usize) -> Result<Staging> {
        let imported = |block: &HostBlock| self.inner.create_staging(StagingKind::Imported(block.clone()), bytes);
        Staging::new((&self.device, &self.caps), kind, bytes, |kind| {
            let (inner, block, reach, exported) = match kind {
                StagingKind::External(handle) | StagingKind::ExternalImage(handle, _) => {
                    let block = open_memory(&handle)?;
                    (imported(&block)?, Some(block), Reach::Never, None)
                }
                StagingKind::Exported | StagingKind::ExportedImage(_) => {
                    let block = HostBlock::allocate(bytes)?;
                    (imported(&block)?, Some(block.clone()), Reach::Never, Some(block))
                }
                of_the_host => {
                    let inner = self.inner.create_staging(of_the_host, bytes)?;
                    let block = inner.host_block();
                    (inner, block.clone(), block.map_or(Reach::EachFill, Reach::Address), None)
                }
            };
            let turn = block.map_or_else(Arc::default, |block| Turn::at(block.address().addr().get()));
            Ok((SharedStaging { inner, turn, exported }, reach))
        })
    }

    fn create_semaphore(&self, kind: SyncKind) -> Result<(Box<dyn SemaphoreDriver>, SharedHandle)> {
        let semaphore = Semaphore::new(kind, &self.faults);
        let handle = name_semaphore(&semaphore, kind)?;
        Ok((Box::new(semaphore), handle))
    }

    fn draw_offscreen_by(&self, surface: &Surface, manner: Option<Manner>) -> Result<()> {
        let surface: Option<&SharedSurface> = surface.driver().downcast_ref();
        let surface = surface.ok_or_else(|| Error::Foreign {
            operation: "",
            object: "surface",
            device: self.device.to_string(),
        })?;
        self.inner.draw_offscreen_by(surface.visible(), manner)
    }
}
