//! Backend and display that are opened for one another.

use crate::backends::{BackendChoice, display_of, first_that_suits};
use crate::choice::Choice as _;
use crate::display_choice::DisplayChoice;
use crate::displays::open_headless_beside;
use crate::headless::Headless;
use interop_core::{ComputeBackend, Display, KernelSource, Result};
use std::sync::Arc;
use tracing::{debug, warn};

/// Opens both sides of a link.
///
/// The backend is the first that speaks a language of every one of `kernels`. The display has no window, and is on the
/// device that computes wherever that device can draw. The backend is then opened once more inside the display where it
/// can be ([`backend_in`]). [`DisplayChoice::Auto`] takes the display in whose queue the backend computes, where it has
/// one.
///
/// # Errors
/// The errors of [`crate::open_backend`] and [`crate::open_headless`].
pub fn open_pair(
    backend: BackendChoice,
    display: DisplayChoice,
    kernels: &[KernelSource],
) -> Result<(Arc<dyn ComputeBackend>, Headless)> {
    let backend = first_that_suits((backend, display.api()), kernels, |driver| (driver.best)())?;
    let own = display_of(backend.as_ref()).filter(|_| display == DisplayChoice::Auto);
    let screen = match own.map(|own| open_headless_beside(&backend, own)) {
        Some(Ok(screen)) => screen,
        _ => open_headless_beside(&backend, display)?,
    };
    Ok((backend_in(&backend, screen.display().as_ref()), screen))
}

/// Opens a backend for a display that is open already: a window's, or one in an engine's context, which is current on
/// this thread.
///
/// The backend is the one that [`crate::open_backend`] opens, with two differences. Among the devices of an API,
/// the one that draws comes first. And the backend is opened inside the display where it can be ([`backend_in`]).
///
/// # Errors
/// The errors of [`crate::open_backend`].
pub fn open_backend_for_display(
    choice: BackendChoice,
    kernels: &[KernelSource],
    display: &dyn Display,
) -> Result<Arc<dyn ComputeBackend>> {
    let shown_by = display.device();
    let backend = first_that_suits((choice, Some(shown_by.api)), kernels, |driver| (driver.best_for)(shown_by))?;
    Ok(backend_in(&backend, display))
}

/// The backend for links to `display`: the same device opened once more inside the display where that opens paths, else
/// `backend` itself.
///
/// OpenCL shares with an OpenGL context (`cl_khr_gl_sharing`), which must be current on this thread. OpenGL and wgpu
/// compute in the queue of a display of theirs. A display on a compute device has a backend of that device.
///
/// Kernels and memory are of one backend: build and allocate with the one that this returns. That backend keeps the
/// display's context for as long as it lives. In an engine's context, drop it before the context goes
/// ([`crate::api::gl::GlDisplay::from_engine`]).
pub fn backend_in(backend: &Arc<dyn ComputeBackend>, display: &dyn Display) -> Arc<dyn ComputeBackend> {
    let shown_by = display.device();
    let drawn_by = drawn_by(backend.as_ref(), display);
    match drawn_by.map_or_else(|| backend.open_in(display), |inside| Ok(Some(inside))) {
        Ok(Some(inside)) => {
            debug!("{} was opened inside {shown_by}", inside.device());
            inside
        }
        Ok(None) => Arc::clone(backend),
        Err(reason) => {
            warn!(%reason, "{} does not share with {shown_by}", backend.device());
            Arc::clone(backend)
        }
    }
}

/// The display's own backend, where kernels of this backend's device draw.
#[cfg(any(feature = "cuda", feature = "opencl"))]
fn drawn_by(backend: &dyn ComputeBackend, display: &dyn Display) -> Option<Arc<dyn ComputeBackend>> {
    display.downcast_ref::<compute_display::ComputeDisplay>().and_then(|display| display.beside(backend))
}

#[cfg(not(any(feature = "cuda", feature = "opencl")))]
fn drawn_by(_: &dyn ComputeBackend, _: &dyn Display) -> Option<Arc<dyn ComputeBackend>> {
    None
}
