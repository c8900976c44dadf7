//! Opens a backend inside a display.

use interop_core::{ComputeBackend, Display};
use std::sync::Arc;
use tracing::{debug, warn};

/// Returns the backend for links to `display`: the same device opened again inside the display where that enables
/// faster paths, otherwise `backend` itself.
///
/// OpenCL shares with an OpenGL context (`cl_khr_gl_sharing`), which must be current on this thread. OpenGL and wgpu
/// compute in the queue of their own displays. A display on a compute device has a backend of that device.
///
/// Kernels and memory belong to one backend: build and allocate with the returned one. It keeps the display's context
/// alive. In an engine's context, drop it before the context is destroyed ([`crate::api::gl::GlDisplay::from_engine`]).
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

/// Returns the display's own backend if kernels of this backend's device draw.
#[cfg(any(feature = "cuda", feature = "opencl"))]
fn drawn_by(backend: &dyn ComputeBackend, display: &dyn Display) -> Option<Arc<dyn ComputeBackend>> {
    display.downcast_ref::<compute_display::ComputeDisplay>().and_then(|display| display.beside(backend))
}

#[cfg(not(any(feature = "cuda", feature = "opencl")))]
fn drawn_by(_: &dyn ComputeBackend, _: &dyn Display) -> Option<Arc<dyn ComputeBackend>> {
    None
}
