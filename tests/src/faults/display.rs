//! A display that fails when it is told to.

use crate::faults::arm::Faults;
use crate::faults::double::Double;
use crate::faults::step::FaultStep;
use interop_core::display::{DisplayDriver, SemaphoreDriver};
use interop_core::{
    DeviceIdentity, DeviceSpan, Display, DisplayCaps, DrawReport, GlContext, Manner, Result, SharedHandle, Staging,
    StagingKind, Support, Surface, SurfaceDesc, SyncKind,
};
use std::any::Any;
use std::sync::Arc;

/// Any display, wrapped. Its surfaces are drawn by the wrapped display as its own.
pub struct DisplayDouble {
    inner: Arc<dyn Display>,
    faults: Faults,
}

impl DisplayDouble {
    /// `inner`, failing as `faults` says.
    pub fn over(inner: Arc<dyn Display>, faults: &Faults) -> Arc<Self> {
        Arc::new(Self { inner, faults: faults.clone() })
    }

    /// A surface that a call makes, unless that is to fail.
    fn surface(&self, step: FaultStep, call: impl FnOnce() -> Result<Surface>) -> Result<Surface> {
        Ok(self.faults.before(step, call)?.watched(self.faults.watch("surface")))
    }
}

impl DisplayDriver for DisplayDouble {
    crate::forward! {
        & device() -> &DeviceIdentity;
        & caps() -> &DisplayCaps;
        & hold_gl() -> Result<Arc<dyn GlContext>>;
        & drop_in_context(object: Box<dyn Any + Send + Sync>);
        & batch(work: &mut dyn FnMut() -> Result<()>) -> Result<()>;
        & backend_in_queue() -> Result<Option<Box<dyn Any + Send + Sync>>>;
        DrawOffscreen before & draw_offscreen_by(surface: &Surface, manner: Option<Manner>) -> Result<()>;
        & drawn() -> Option<DrawReport>;
        DisplayFinish ends & finish() -> Result<()>;
        & unusual_states() -> Vec<String>;
        & set_timeline(on: bool) -> Result<Support>;
        & drain_timeline(into: &mut dyn FnMut(DeviceSpan)) -> Result<()>;
    }

    fn create_surface(&self, desc: &SurfaceDesc) -> Result<Surface> {
        self.surface(FaultStep::CreateSurface, || self.inner.create_surface(desc))
    }

    fn create_in_place_surface(&self, desc: &SurfaceDesc) -> Result<Surface> {
        self.surface(FaultStep::CreateInPlaceSurface, || self.inner.create_in_place_surface(desc))
    }

    fn create_staging(&self, kind: StagingKind, bytes: usize) -> Result<Staging> {
        let inner = self.faults.before(FaultStep::CreateStaging, || self.inner.create_staging(kind, bytes))?;
        Ok(inner.watched(self.faults.watch("staging")))
    }

    fn create_semaphore(&self, kind: SyncKind) -> Result<(Box<dyn SemaphoreDriver>, SharedHandle)> {
        let (inner, handle) = self.faults.before(FaultStep::CreateSemaphore, || self.inner.create_semaphore(kind))?;
        Ok((Double::over(Box::new(inner), &self.faults, "display semaphore"), handle))
    }
}
