//! Synchronisation of OpenGL and OpenCL.

use crate::backend_state::BackendState;
use interop_core::{Error, Result, SyncKind};
use pixelferry_opencl::base::GlSync;

/// Tells how a way of keeping OpenGL and OpenCL apart is called here.
pub fn gl_sync(shared: &BackendState, kind: SyncKind) -> Result<GlSync> {
    let events = shared.gl.as_ref().is_some_and(|gl| gl.has_events());
    match kind {
        SyncKind::Implicit if events => Ok(GlSync::Implicit),
        SyncKind::SharedEvent if events => Ok(GlSync::Events),
        // Without the extension acquire and release wait for both sides.
        SyncKind::Implicit | SyncKind::Finish => Ok(GlSync::Finish),
        other => Err(shared.unsupported(format!("it shares GL objects by no {other}"))),
    }
}

/// Memory that no other API has.
pub fn no_turns(shared: &BackendState) -> Error {
    shared.unsupported("the memory is no object of OpenGL's".into())
}
