//! The type [`GlSync`]: synchronisation of OpenGL and OpenCL.

use crate::backend_state::BackendState;
use interop_core::{Result, SyncKind};

/// How OpenGL and OpenCL are synchronised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GlSync {
    /// Acquire and release synchronise them (`cl_khr_gl_event`).
    Implicit,
    /// Events made from GL fences, and GL fences made from events.
    Events,
    /// The host waits for either side.
    Finish,
}

/// Converts a synchronisation to the kind that the device supports.
pub fn gl_sync(shared: &BackendState, kind: SyncKind) -> Result<GlSync> {
    match kind {
        SyncKind::Implicit if shared.has_gl_events() => Ok(GlSync::Implicit),
        SyncKind::SharedEvent if shared.has_gl_events() => Ok(GlSync::Events),
        // Without the extension, acquire and release wait for both sides.
        SyncKind::Implicit | SyncKind::Finish => Ok(GlSync::Finish),
        other => Err(shared.unsupported(format!("it cannot share GL objects with a {other}"))),
    }
}
