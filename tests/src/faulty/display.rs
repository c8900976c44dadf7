//! A display that fails when it is told to.

use super::backend::{memory_caps, semaphores};
use super::counter::Counter;
use super::handles::{name_semaphore, open_memory, queue};
use super::semaphore::FaultyDisplaySemaphore;
use super::staging::FaultyStaging;
use super::surface::FaultySurface;
use super::turn::Turn;
use pixelferry::driver::{
    DeviceSpan, DisplayCaps, DisplaySemaphore, GlContext, HandleType, HostBlock, MemoryShape, SharedHandle, Staging,
    StagingKind,
};
use pixelferry::{
    DeviceIdentity, Display, Drawn, Error, Manner, MemoryDisplay, Result, Support, Surface, SurfaceDesc, SyncKind,
};
use pixelferry_faults::{Faults, Step};
use std::any::Any;
use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

/// The memory display, wrapped; it also takes and gives memory by handles, and makes semaphores.
pub struct FaultyDisplay {
    inner: Rc<MemoryDisplay>,
    device: DeviceIdentity,
    caps: DisplayCaps,
    faults: Faults,
}

impl FaultyDisplay {
    /// One that fails as `faults` says, in the queue that the backend computes in.
    pub fn new(faults: &Faults) -> Rc<Self> {
        Self::importing(&[HandleType::QueueBuffer(queue())], faults)
    }

    /// One that fails as `faults` says, in a queue that is not the backend's.
    pub fn in_a_queue_of_its_own(faults: &Faults) -> Rc<Self> {
        Self::importing(&[], faults)
    }

    fn importing(linear_only: &[HandleType], faults: &Faults) -> Rc<Self> {
        let inner = MemoryDisplay::new();
        let device = inner.device().clone().with_name("faulty memory");
        let (image, linear) = (MemoryShape::Image, MemoryShape::Linear);
        let known = [(HandleType::HostPointer, linear), (HandleType::OpaqueFd, image), (HandleType::OpaqueFd, linear)];
        let more = linear_only.iter().map(|handle| (*handle, linear));
        let caps = inner
            .caps()
            .clone()
            .with_imports(memory_caps(&known.into_iter().chain(more).collect::<Vec<_>>()))
            .with_exports(memory_caps(&[
                (HandleType::HostPointer, linear),
                (HandleType::GlObject, image),
                (HandleType::GlObject, linear),
                (HandleType::OpaqueFd, image),
                (HandleType::OpaqueFd, linear),
            ]))
            .with_semaphores(semaphores())
            // Linear memory with gaps, which images have not.
            .with_row_pitch_alignment(64);
        Rc::new(Self { inner, device, caps, faults: faults.clone() })
    }

    fn surface(&self, inner: Box<dyn Surface>) -> Box<dyn Surface> {
        Box::new(FaultySurface {
            inner,
            shared: OnceCell::new(),
            named: OnceCell::new(),
            shown: None,
            display: Rc::clone(&self.inner),
            faults: self.faults.clone(),
            _alive: self.faults.alive("surface"),
        })
    }

    fn imported(&self, block: &HostBlock, bytes: usize) -> Result<Box<dyn Staging>> {
        self.inner.create_staging(StagingKind::Imported(block.clone()), bytes)
    }
}

impl Display for FaultyDisplay {
    pixelferry_faults::forward! {
        & hold_gl() -> Result<Arc<dyn GlContext>>;
        & drop_in_context(object: Box<dyn Any>);
        & drawn() -> Option<Drawn>;
        DisplayFinish before & finish() -> Result<()>;
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
        self.faults.check(Step::CreateSurface)?;
        Ok(self.surface(self.inner.create_surface(desc)?))
    }

    fn create_in_place_surface(&self, desc: &SurfaceDesc) -> Result<Box<dyn Surface>> {
        self.faults.check(Step::CreateInPlaceSurface)?;
        Ok(self.surface(self.inner.create_in_place_surface(desc)?))
    }

    fn create_staging(&self, kind: StagingKind, bytes: usize) -> Result<Box<dyn Staging>> {
        self.faults.check(Step::CreateStaging)?;
        let renamed = matches!(kind, StagingKind::Orphaned);
        let (inner, block, exported) = match kind {
            StagingKind::External(handle) | StagingKind::ExternalImage(handle, _) => {
                let block = open_memory(&handle)?;
                (self.imported(&block, bytes)?, Some(block), None)
            }
            StagingKind::Exported | StagingKind::ExportedImage(_) => {
                let block = HostBlock::allocate(bytes)?;
                (self.imported(&block, bytes)?, Some(block.clone()), Some(block))
            }
            of_the_host => {
                let inner = self.inner.create_staging(of_the_host, bytes)?;
                let block = inner.host_block();
                return Ok(self.staging(inner, block.clone(), block, None, renamed));
            }
        };
        Ok(self.staging(inner, None, block, exported, renamed))
    }

    fn create_semaphore(&self, kind: SyncKind) -> Result<(Box<dyn DisplaySemaphore>, SharedHandle)> {
        self.faults.check(Step::CreateSemaphore)?;
        let shared = Counter::new(kind);
        let handle = name_semaphore(&shared, kind)?;
        let (faults, _alive) = (self.faults.clone(), self.faults.alive("display semaphore"));
        Ok((Box::new(FaultyDisplaySemaphore { shared, faults, _alive }), handle))
    }

    fn draw_offscreen(&self, surface: &dyn Surface) -> Result<()> {
        self.faults.check(Step::DrawOffscreen)?;
        let surface: Option<&FaultySurface> = surface.as_any().downcast_ref();
        let surface = surface.ok_or_else(|| Error::Foreign {
            operation: "FaultyDisplay::draw_offscreen",
            object: "surface",
            device: self.device.to_string(),
        })?;
        self.inner.draw_offscreen(surface.visible())
    }

    fn draw_offscreen_by(&self, surface: &dyn Surface, _: Option<Manner>) -> Result<()> {
        // The memory display has one manner.
        self.draw_offscreen(surface)
    }
}

impl FaultyDisplay {
    fn staging(
        &self,
        inner: Box<dyn Staging>,
        host_block: Option<HostBlock>,
        block: Option<HostBlock>,
        exported: Option<HostBlock>,
        renamed: bool,
    ) -> Box<dyn Staging> {
        let turn = block.map_or_else(Rc::default, |block| Turn::at(block.address().addr().get()));
        let (faults, _alive) = (self.faults.clone(), self.faults.alive("staging"));
        Box::new(FaultyStaging { inner, turn, host_block, exported, renamed, faults, _alive })
    }
}
