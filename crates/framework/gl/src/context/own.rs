//! A context created by this crate, with its default surface.

use glutin::context::PossiblyCurrentContext;
use glutin::prelude::*;
#[cfg(all(unix, not(target_vendor = "apple")))]
use glutin::surface::PbufferSurface;
#[cfg(any(feature = "window", not(target_vendor = "apple")))]
use glutin::surface::Surface;
#[cfg(any(feature = "window", windows))]
use glutin::surface::WindowSurface;
use interop_core::{DriverError, Error, Result};
use std::any::Any;
use std::sync::Arc;

/// Default surface of the context, dropped before the context.
pub(crate) enum OwnSurface {
    /// No surface: framebuffer objects only.
    #[cfg(unix)]
    None,
    /// A surface of one pixel, for drivers that require one.
    #[cfg(all(unix, not(target_vendor = "apple")))]
    Pbuffer(Surface<PbufferSurface>),
    /// A window.
    #[cfg(any(feature = "window", windows))]
    Window(Surface<WindowSurface>),
}

/// The fields are dropped in this order: surface, context, window.
pub(crate) struct OwnContext {
    surface: OwnSurface,
    /// `None` only during the drop.
    context: Option<PossiblyCurrentContext>,
    /// Dropped after the fields that need it.
    window: Option<Arc<dyn Any + Send + Sync>>,
}

// SAFETY: glutin ties a context to the thread on which it is current. Here each call asks for the calling thread, or makes
// the context current on it, which EGL, GLX, WGL and CGL refuse while another thread has it. A context that is destroyed
// while it is current goes when it no longer is (EGL 1.5, 3.7.2; GLX 1.4, 3.3.7).
unsafe impl Send for OwnContext {}
// SAFETY: as above.
unsafe impl Sync for OwnContext {}

/// A context that is not current and has no surface, kept for APIs that still share with it.
pub(crate) struct RestingContext {
    _context: PossiblyCurrentContext,
}

// SAFETY: glutin ties such a context to a thread because it may be current there; this one is not, and is only
// destroyed. (If it is destroyed while it is current after all, it is freed when it no longer is: EGL 1.5, 3.7.2; GLX
// 1.4, 3.3.7.)
unsafe impl Send for RestingContext {}

/// Converts a failure of EGL, GLX or WGL to a driver error.
pub(crate) fn driver_error(operation: &'static str, device: &str, e: &glutin::error::Error) -> Error {
    DriverError::new(operation, device, e.raw_code().unwrap_or(0), e.to_string()).into()
}

impl OwnContext {
    pub(crate) fn new(
        surface: OwnSurface,
        context: PossiblyCurrentContext,
        window: Option<Arc<dyn Any + Send + Sync>>,
    ) -> Self {
        Self { surface, context: Some(context), window }
    }

    pub(crate) fn is_current(&self) -> bool {
        self.context.as_ref().is_some_and(PossiblyCurrentGlContext::is_current)
    }

    /// True where it draws into a window.
    pub(crate) const fn has_window(&self) -> bool {
        self.window.is_some()
    }

    /// Returns the window's surface, if it has one, and the context.
    #[cfg(feature = "window")]
    pub(crate) fn window_surface(&self) -> Option<(&Surface<WindowSurface>, &PossiblyCurrentContext)> {
        match (&self.surface, &self.context) {
            (OwnSurface::Window(surface), Some(context)) => Some((surface, context)),
            _ => None,
        }
    }

    /// Detaches the context from this thread and its window.
    pub(crate) fn rest(mut self) -> Option<RestingContext> {
        self.release();
        self.context.take().map(|context| RestingContext { _context: context })
    }

    /// Makes the context not current, because otherwise it would live on after it is destroyed.
    fn release(&self) {
        if let Some(context) = self.context.as_ref().filter(|context| context.is_current())
            && let Err(e) = context.make_not_current_in_place()
        {
            tracing::debug!(error = %e, "the context could not be released");
        }
    }

    pub(crate) fn make_current(&self, device: &str) -> Result<()> {
        let Some(context) = &self.context else { return Ok(()) };
        let done = match (&self.surface, context) {
            #[cfg(any(feature = "window", windows))]
            (OwnSurface::Window(s), context) => context.make_current(s),
            #[cfg(all(unix, not(target_vendor = "apple")))]
            (OwnSurface::Pbuffer(s), context) => context.make_current(s),
            #[cfg(all(unix, not(target_vendor = "apple")))]
            (OwnSurface::None, PossiblyCurrentContext::Egl(context)) => context.make_current_surfaceless(),
            #[cfg(target_vendor = "apple")]
            (OwnSurface::None, PossiblyCurrentContext::Cgl(context)) => context.make_current_surfaceless(),
            // Contexts without a surface are created only by EGL and CGL (see `headless`).
            #[cfg(unix)]
            #[allow(unreachable_patterns)]
            (OwnSurface::None, _) => Ok(()),
        };
        done.map_err(|e| driver_error("make_current", device, &e))
    }
}

impl Drop for OwnContext {
    fn drop(&mut self) {
        self.release();
        #[cfg(all(feature = "window", unix, not(target_vendor = "apple")))]
        if self.is_window_gone() {
            // The server has already destroyed its surface. Destroying it again would be an error, which winit would
            // report for the next window.
            std::mem::forget(std::mem::replace(&mut self.surface, OwnSurface::None));
        }
    }
}

#[cfg(all(feature = "window", unix, not(target_vendor = "apple")))]
impl OwnContext {
    /// True where another program has destroyed the window: winit then panics when the size is queried.
    fn is_window_gone(&self) -> bool {
        let window = self.window.as_ref().and_then(|window| window.downcast_ref::<winit::window::Window>());
        window.is_some_and(|window| interop_core::describe::panics::catch(|| window.inner_size()).is_err())
    }
}
