//! The interface of a display, and the driver that each display implements.

use super::semaphore::{DisplaySemaphore, SemaphoreDriver};
use super::staging::{Staging, StagingKind};
use super::surface::Surface;
use crate::describe::error::{Error, Result, call, setup};
use crate::describe::surface::SurfaceDesc;
use crate::devices::capability::{DisplayCaps, Support, SyncKind};
use crate::devices::gl_context::GlContext;
use crate::devices::identity::DeviceIdentity;
use crate::devices::shared_handle::SharedHandle;
use crate::devices::timeline::DeviceSpan;
use crate::draw::{DrawReport, Manner};
use std::any::Any;
use std::sync::Arc;

/// The driver of a display. [`Display`] wraps it, checks the arguments first and documents each call.
///
/// Errors that reject a call need not name it: [`Display`] adds the name ([`Error::refused`]).
pub trait DisplayDriver: Any + Send + Sync {
    /// Implements [`Display::device`].
    fn device(&self) -> &DeviceIdentity;

    /// Implements [`Display::caps`].
    fn caps(&self) -> &DisplayCaps;

    /// Implements [`Display::create_surface`].
    fn create_surface(&self, desc: &SurfaceDesc) -> Result<Surface>;

    /// Implements [`Display::create_in_place_surface`].
    fn create_in_place_surface(&self, desc: &SurfaceDesc) -> Result<Surface>;

    /// Implements [`Display::hold_gl`].
    fn hold_gl(&self) -> Result<Arc<dyn GlContext>> {
        let reason = "it does not draw in an OpenGL context that could be shared";
        Err(Error::unsupported(self.device(), reason))
    }

    /// Returns the backend that computes in the display's own queue, as an `Arc<dyn ComputeBackend>` in the box; each
    /// call returns the same one. `None` where the display has no such backend.
    fn backend_in_queue(&self) -> Result<Option<Box<dyn Any + Send + Sync>>> {
        Ok(None)
    }

    /// Runs `work`, for audits. A display whose submissions cost much may submit the commands that `work` queues together, when
    /// it returns.
    ///
    /// # Errors
    /// Those of `work` and of the submission.
    fn batch(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        work()
    }

    /// Implements [`Display::drop_in_context`].
    fn drop_in_context(&self, object: Box<dyn Any + Send + Sync>) {
        drop(object);
    }

    /// Implements [`Display::create_staging`].
    fn create_staging(&self, kind: StagingKind, bytes: usize) -> Result<Staging>;

    /// Implements [`Display::create_semaphore`] for a kind that [`DisplayCaps::semaphores`] lists.
    fn create_semaphore(&self, kind: SyncKind) -> Result<(Box<dyn SemaphoreDriver>, SharedHandle)> {
        Err(Error::unsupported(self.device(), format!("it cannot make a {kind}")))
    }

    /// Implements [`Display::draw_offscreen_by`].
    fn draw_offscreen_by(&self, surface: &Surface, manner: Option<Manner>) -> Result<()>;

    /// Implements [`Display::drawn`].
    fn drawn(&self) -> Option<DrawReport> {
        None
    }

    /// Implements [`Display::finish`].
    fn finish(&self) -> Result<()>;

    /// Implements [`Display::unusual_states`].
    fn unusual_states(&self) -> Vec<String> {
        Vec::new()
    }

    /// Implements [`Display::set_timeline`].
    fn set_timeline(&self, on: bool) -> Result<Support> {
        let _ = on;
        Ok(Support::No("this display does not time its work".into()))
    }

    /// Implements [`Display::drain_timeline`].
    fn drain_timeline(&self, into: &mut dyn FnMut(DeviceSpan)) -> Result<()> {
        let _ = into;
        Ok(())
    }
}

mod sealed {
    /// A driver becomes a [`super::Display`] only through the checks of this module.
    pub trait Sealed {}

    impl<D: super::DisplayDriver> Sealed for D {}
}

/// A display: a context or device that draws.
///
/// Threads: any thread may hold a display and what it makes. A display without a current context works on every thread
/// ([`super::AnyThreadDisplay`]). With OpenGL, every call checks that the context is current on the calling thread, and
/// returns [`crate::Error::WrongContext`] where it is not.
///
/// Every call adds its name to the errors that the display's own type ([`DisplayDriver`]) returns.
pub trait Display: sealed::Sealed + Any + Send + Sync {
    /// Returns the identity of the device that draws.
    fn device(&self) -> &DeviceIdentity;

    /// Returns the memory and the semaphores that it can export and import, and its limits.
    fn caps(&self) -> &DisplayCaps;

    /// Creates a surface with storage of its own: a texture or a buffer. The content is zero.
    fn create_surface(&self, desc: &SurfaceDesc) -> Result<Surface>;

    /// Creates a surface without storage that shows staging blocks in place (see [`Surface::read_in_place`]).
    fn create_in_place_surface(&self, desc: &SurfaceDesc) -> Result<Surface>;

    /// Holds the OpenGL context that the display draws in, for a compute device that shares with it
    /// ([`crate::ComputeBackend::open_in`]).
    ///
    /// # Errors
    /// [`Error::Unsupported`] where it does not draw in an OpenGL context, or in one without a known name.
    fn hold_gl(&self) -> Result<Arc<dyn GlContext>>;

    /// Returns the backend that computes in the display's own queue, as an `Arc<dyn ComputeBackend>` in the box, for
    /// audits; each call returns the same one. `None` where the display has no such backend.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the device has no compute shaders; errors of the driver.
    fn backend_in_queue(&self) -> Result<Option<Box<dyn Any + Send + Sync>>>;

    /// Runs `work`, for audits; see [`DisplayDriver::batch`].
    ///
    /// # Errors
    /// Those of `work` and of the submission.
    fn batch(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<()>;

    /// Drops `object` while the display's context is current: at once, or during a later call if the context is not
    /// current now. For a compute backend's registrations of the display's objects.
    fn drop_in_context(&self, object: Box<dyn Any + Send + Sync>);

    /// Creates a block of memory that the host can write and the display can read.
    fn create_staging(&self, kind: StagingKind, bytes: usize) -> Result<Staging>;

    /// Creates a semaphore, and a handle with which a compute device can open it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`DisplayCaps::semaphores`] does not list the kind.
    fn create_semaphore(&self, kind: SyncKind) -> Result<(DisplaySemaphore, SharedHandle)>;

    /// Draws a surface at its own size into an offscreen target, as a viewer would see it; a buffer is read through
    /// once. Does not wait, except for the first draws of their kind, which measure the quicker manner. For
    /// measurements.
    fn draw_offscreen(&self, surface: &Surface) -> Result<()>;

    /// Draws a surface offscreen like [`Display::draw_offscreen`], in this manner where display and surface have
    /// several; see [`crate::DrawOptions::manner`].
    fn draw_offscreen_by(&self, surface: &Surface, manner: Option<Manner>) -> Result<()>;

    /// Returns the manner of the last draw, offscreen or not, and the reason for it. `None` before the first draw, and
    /// for displays with only one manner.
    fn drawn(&self) -> Option<DrawReport>;

    /// Waits until everything that was drawn so far is done.
    fn finish(&self) -> Result<()>;

    /// Returns the state of an engine's context that differs from a new context's, by its API names: the first suspects
    /// where pixels are wrong. Empty for displays without such state.
    fn unusual_states(&self) -> Vec<String>;

    /// Switches the recording of the display's work and its times on or off. It is off at first, and costs nothing
    /// then. Returns the reason where the device does not report times.
    ///
    /// # Errors
    /// Errors of the driver; then nothing is recorded.
    fn set_timeline(&self, on: bool) -> Result<Support>;

    /// Passes the recorded work that is done by now to `into`, in the order in which it was queued. Does not wait.
    ///
    /// # Errors
    /// Errors of the driver.
    fn drain_timeline(&self, into: &mut dyn FnMut(DeviceSpan)) -> Result<()>;
}

impl<D: DisplayDriver> Display for D {
    fn device(&self) -> &DeviceIdentity {
        DisplayDriver::device(self)
    }

    fn caps(&self) -> &DisplayCaps {
        DisplayDriver::caps(self)
    }

    fn create_surface(&self, desc: &SurfaceDesc) -> Result<Surface> {
        setup("Display::create_surface", || DisplayDriver::create_surface(self, desc))
    }

    fn create_in_place_surface(&self, desc: &SurfaceDesc) -> Result<Surface> {
        setup("Display::create_in_place_surface", || DisplayDriver::create_in_place_surface(self, desc))
    }

    fn hold_gl(&self) -> Result<Arc<dyn GlContext>> {
        setup("Display::hold_gl", || DisplayDriver::hold_gl(self))
    }

    fn backend_in_queue(&self) -> Result<Option<Box<dyn Any + Send + Sync>>> {
        setup("Display::backend_in_queue", || DisplayDriver::backend_in_queue(self))
    }

    fn batch(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        DisplayDriver::batch(self, work)
    }

    fn drop_in_context(&self, object: Box<dyn Any + Send + Sync>) {
        DisplayDriver::drop_in_context(self, object);
    }

    fn create_staging(&self, kind: StagingKind, bytes: usize) -> Result<Staging> {
        setup("Display::create_staging", || DisplayDriver::create_staging(self, kind, bytes))
    }

    fn create_semaphore(&self, kind: SyncKind) -> Result<(DisplaySemaphore, SharedHandle)> {
        setup("Display::create_semaphore", || {
            let can = DisplayDriver::caps(self).can_make_semaphore(kind);
            can.ok_or_else(|reason| Error::unsupported(DisplayDriver::device(self), reason))?;
            let (driver, handle) = DisplayDriver::create_semaphore(self, kind)?;
            Ok((DisplaySemaphore::new(kind, driver), handle))
        })
    }

    fn draw_offscreen(&self, surface: &Surface) -> Result<()> {
        call("Display::draw_offscreen", || DisplayDriver::draw_offscreen_by(self, surface, None))
    }

    fn draw_offscreen_by(&self, surface: &Surface, manner: Option<Manner>) -> Result<()> {
        call("Display::draw_offscreen_by", || DisplayDriver::draw_offscreen_by(self, surface, manner))
    }

    fn drawn(&self) -> Option<DrawReport> {
        DisplayDriver::drawn(self)
    }

    fn finish(&self) -> Result<()> {
        call("Display::finish", || DisplayDriver::finish(self))
    }

    fn unusual_states(&self) -> Vec<String> {
        DisplayDriver::unusual_states(self)
    }

    fn set_timeline(&self, on: bool) -> Result<Support> {
        call("Display::set_timeline", || DisplayDriver::set_timeline(self, on))
    }

    fn drain_timeline(&self, into: &mut dyn FnMut(DeviceSpan)) -> Result<()> {
        call("Display::drain_timeline", || DisplayDriver::drain_timeline(self, into))
    }
}

/// For a program's own paths, which may know the display's type.
impl dyn Display {
    /// Returns the display as type `D`; `None` where it has another type.
    pub fn downcast_ref<D: Display>(&self) -> Option<&D> {
        (self as &dyn Any).downcast_ref()
    }
}
