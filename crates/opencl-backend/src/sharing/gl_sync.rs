//! [`GlSync`]: synchronisation of OpenGL and OpenCL.

use crate::backend_state::BackendState;
use interop_core::{Result, SyncKind};

/// What keeps OpenGL and OpenCL apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GlSync {
    /// Acquire and release do it (`cl_khr_gl_event`).
    Implicit,
    /// Events made of GL fences, and fences made of events.
    Events,
    /// The host waits for either side.
    Finish,
}

/// Tells how a way of keeping OpenGL and OpenCL apart is called here.
pub fn gl_sync(shared: &BackendState, kind: SyncKind) -> Result<GlSync> {
    match kind {
        SyncKind::Implicit if shared.has_gl_events() => Ok(GlSync::Implicit),
        SyncKind::SharedEvent if shared.has_gl_events() => Ok(GlSync::Events),
        // Without the extension acquire and release wait for both sides.
        SyncKind::Implicit | SyncKind::Finish => Ok(GlSync::Finish),
        other => Err(shared.unsupported(format!("it shares GL objects by no {other}"))),
    }
}
