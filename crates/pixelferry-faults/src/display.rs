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
    fn device(&self) -> &DeviceIdentity {
        self.inner.device()
    }

    fn caps(&self) -> &DisplayCaps {
        self.inner.caps()
    }

    fn create_surface(&self, desc: &SurfaceDesc) -> Result<Box<dyn Surface>> {
        self.faults.check(Step::CreateSurface)?;
        Ok(self.surface(self.inner.create_surface(desc)?))
    }

    fn create_in_place_surface(&self, desc: &SurfaceDesc) -> Result<Box<dyn Surface>> {
        self.faults.check(Step::CreateInPlaceSurface)?;
        Ok(self.surface(self.inner.create_in_place_surface(desc)?))
    }

    fn hold_gl(&self) -> Result<Arc<dyn GlContext>> {
        self.inner.hold_gl()
    }

    fn drop_in_context(&self, object: Box<dyn Any>) {
        self.inner.drop_in_context(object);
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

    fn draw_offscreen(&self, surface: &dyn Surface) -> Result<()> {
        self.faults.check(Step::DrawOffscreen)?;
        self.inner.draw_offscreen(surface)
    }

    fn draw_offscreen_by(&self, surface: &dyn Surface, manner: Option<Manner>) -> Result<()> {
        self.faults.check(Step::DrawOffscreen)?;
        self.inner.draw_offscreen_by(surface, manner)
    }

    fn drawn(&self) -> Option<Drawn> {
        self.inner.drawn()
    }

    fn finish(&self) -> Result<()> {
        self.inner.finish()?;
        self.faults.check(Step::DisplayFinish)
    }

    fn set_timeline(&self, on: bool) -> Result<Support> {
        self.inner.set_timeline(on)
    }

    fn drain_timeline(&self, into: &mut dyn FnMut(DeviceSpan)) -> Result<()> {
        self.inner.drain_timeline(into)
    }
}
