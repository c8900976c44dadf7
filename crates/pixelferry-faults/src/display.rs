//! A display that fails when it is told to.

use crate::faults::Faults;
use crate::semaphore::DisplaySemaphoreDouble;
use crate::staging::StagingDouble;
use crate::step::Step;
use crate::surface::SurfaceDouble;
use interop_core::{
    DeviceIdentity, DeviceSpan, Display, DisplayCaps, DisplaySemaphore, Drawn, GlContext, Manner, Result, SharedHandle,
    Staging, StagingKind, Support, Surface, SurfaceDesc, SyncKind,
};
use std::any::Any;
use std::rc::Rc;
use std::sync::Arc;

/// Any display, wrapped. Its surfaces are drawn by the wrapped display as its own.
pub struct DisplayDouble {
    inner: Rc<dyn Display>,
    faults: Faults,
}

impl DisplayDouble {
    /// `inner`, failing as `faults` says.
    pub fn over(inner: Rc<dyn Display>, faults: &Faults) -> Rc<Self> {
        Rc::new(Self { inner, faults: faults.clone() })
    }

    fn surface(&self, inner: Box<dyn Surface>) -> Box<dyn Surface> {
        Box::new(SurfaceDouble { inner, faults: self.faults.clone() })
    }
}

impl Display for DisplayDouble {
    crate::forward! {
        & device() -> &DeviceIdentity;
        & caps() -> &DisplayCaps;
        & hold_gl() -> Result<Arc<dyn GlContext>>;
        & drop_in_context(object: Box<dyn Any>);
        DrawOffscreen before & draw_offscreen(surface: &dyn Surface) -> Result<()>;
        DrawOffscreen before & draw_offscreen_by(surface: &dyn Surface, manner: Option<Manner>) -> Result<()>;
        & drawn() -> Option<Drawn>;
        DisplayFinish after & finish() -> Result<()>;
        & set_timeline(on: bool) -> Result<Support>;
        & drain_timeline(into: &mut dyn FnMut(DeviceSpan)) -> Result<()>;
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
        let inner = self.inner.create_staging(kind, bytes)?;
        Ok(Box::new(StagingDouble { inner, faults: self.faults.clone() }))
    }

    fn create_semaphore(&self, kind: SyncKind) -> Result<(Box<dyn DisplaySemaphore>, SharedHandle)> {
        self.faults.check(Step::CreateSemaphore)?;
        let (inner, handle) = self.inner.create_semaphore(kind)?;
        Ok((Box::new(DisplaySemaphoreDouble { inner, faults: self.faults.clone() }), handle))
    }
}
