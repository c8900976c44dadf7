//! The interface of a display, and the driver that each display implements.

use super::staging::{Staging, StagingKind};
use super::surface::Surface;
use crate::describe::error::{Error, Result};
use crate::describe::surface::SurfaceDesc;
use crate::devices::capability::{DisplayCaps, Support, SyncKind};
use crate::devices::gl_context::GlContext;
use crate::devices::identity::DeviceIdentity;
use crate::devices::shared_handle::SharedHandle;
use crate::devices::timeline::DeviceSpan;
use crate::draw::{Drawn, Manner};
use std::any::Any;
use std::sync::Arc;

/// A display: a context or device that draws.
///
/// Threads: a display and all that it made stay on one thread; none of these types are `Send`. Every call checks that
/// the display can be reached from here and returns [`crate::Error::WrongContext`] where it cannot.
pub trait Display: Any {
    /// Returns the identity of the device that draws.
    fn device(&self) -> &DeviceIdentity;

    /// Returns what memory it can give and take, and its limits.
    fn caps(&self) -> &DisplayCaps;

    /// Makes a surface with storage of its own: a texture or a buffer. The content is zero.
    fn create_surface(&self, desc: &SurfaceDesc) -> Result<Surface>;

    /// Makes a surface without storage that shows staging blocks in place (see [`Surface::read_in_place`]).
    fn create_in_place_surface(&self, desc: &SurfaceDesc) -> Result<Surface>;

    /// Holds the OpenGL context that the display draws in, for a compute device that shares with it
    /// ([`crate::ComputeBackend::open_in`]).
    ///
    /// # Errors
    /// [`Error::Unsupported`] where it draws in none, or in one that nobody can name.
    fn hold_gl(&self) -> Result<Arc<dyn GlContext>> {
        let reason = "it draws in no OpenGL context that others could share with".into();
        Err(Error::Unsupported { operation: "hold_gl", device: self.device().to_string(), reason })
    }

    /// Drops `object` while the display's context is current: now, or at a later call where it is not current now.
    /// For compute-side registrations of the display's objects.
    fn drop_in_context(&self, object: Box<dyn Any>) {
        drop(object);
    }

    /// Makes a block of memory that the host can write and the display can read.
    fn create_staging(&self, kind: StagingKind, bytes: usize) -> Result<Staging>;

    /// Makes a semaphore, and a handle by which a compute device can open it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where [`DisplayCaps::semaphores`] does not list the kind.
    fn create_semaphore(&self, kind: SyncKind) -> Result<(Box<dyn DisplaySemaphore>, SharedHandle)> {
        let reason = format!("it makes no {kind}");
        Err(Error::Unsupported { operation: "create_semaphore", device: self.device().to_string(), reason })
    }

    /// Draws a surface as a viewer would see it, at its own size, to where nobody looks; a buffer is read through once.
    /// Does not wait, but at the first draws of their kind, where it finds out which manner is quicker. For measurements.
    fn draw_offscreen(&self, surface: &Surface) -> Result<()>;

    /// Draws a surface offscreen, as [`Display::draw_offscreen`] does, in this manner where display and surface leave a
    /// choice; see [`crate::DrawOptions::manner`].
    fn draw_offscreen_by(&self, surface: &Surface, manner: Option<Manner>) -> Result<()> {
        let _ = manner;
        self.draw_offscreen(surface)
    }

    /// Returns the manner of the last draw, offscreen or not, and the reason for it. `None` before the first draw, and
    /// for displays with only one manner.
    fn drawn(&self) -> Option<Drawn> {
        None
    }

    /// Waits until everything that was drawn so far is done.
    fn finish(&self) -> Result<()>;

    /// Switches on or off the recording of what the display's device does and when; off at first, and free then. Says
    /// why where the device does not tell.
    ///
    /// # Errors
    /// What the driver reports; then nothing is recorded.
    fn set_timeline(&self, on: bool) -> Result<Support> {
        let _ = on;
        Ok(Support::No("this display does not time its work".into()))
    }

    /// Hands over what was recorded of work that is done by now, in the order in which it was queued. Waits for nothing.
    ///
    /// # Errors
    /// What the driver reports.
    fn drain_timeline(&self, into: &mut dyn FnMut(DeviceSpan)) -> Result<()> {
        let _ = into;
        Ok(())
    }
}

/// For paths of a program's own, which may know more of a display than the contract says.
impl dyn Display {
    /// The display as that type, where it is of it.
    pub fn downcast_ref<D: Display>(&self) -> Option<&D> {
        (self as &dyn Any).downcast_ref()
    }
}

/// The display's end of a semaphore. Dropped while the display's context is current, or later.
pub trait DisplaySemaphore {
    /// Signals when the display has done all that it was told so far with `staging`. Does not wait.
    ///
    /// `value` is the counter's new value; binary semaphores ignore it, and must have been waited for before.
    fn signal(&mut self, value: u64, staging: &mut Staging) -> Result<()>;

    /// Lets what the display is told from now on wait until the semaphore is signalled (the counter is at least
    /// `value`), and see what was written to `staging` before. Does not wait.
    fn wait(&mut self, value: u64, staging: &mut Staging) -> Result<()>;
}
