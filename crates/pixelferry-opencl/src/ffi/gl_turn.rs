//! [`GlTurn`]: how OpenCL's turn is kept apart from what OpenGL does before and after.

use super::{Failure, GlShare, GlSync};
use crate::{Context, Event};
use cl3::error_codes::DLOPEN_FUNCTION_NOT_AVAILABLE;
use interop_core::Result;
use std::sync::Arc;

impl GlShare {
    /// An event for the end of what OpenGL was told so far. The GL context must be current, and the device list
    /// `cl_khr_gl_event`.
    pub fn fence(&self, context: &Context) -> Result<Event> {
        const CALL: &str = "clCreateEventFromGLsyncKHR";
        let missing = || context.error(Failure { operation: CALL, code: DLOPEN_FUNCTION_NOT_AVAILABLE });
        let from_sync = self.from_sync.ok_or_else(missing)?;
        self.check_current(CALL).map_err(|f| context.error(f))?;
        let (gl, mut code) = (&self.gl, 0);
        // SAFETY: the GL context is current. The fence is new; OpenCL keeps it for its event ("increments the reference
        // count"), so that it may be deleted here.
        let event = unsafe {
            let fence = (gl.fence)(0x9117, 0);
            let event = from_sync(context.raw(), fence, &raw mut code);
            (gl.flush)();
            (gl.delete)(fence);
            event
        };
        // SAFETY: a new event, whose one reference is ours.
        unsafe { Event::own(context, CALL, if code == 0 { Ok(event) } else { Err(code) }, None) }
    }
}

/// One object's way of taking turns with OpenGL.
pub struct GlTurn {
    share: Arc<GlShare>,
    sync: GlSync,
}

impl GlTurn {
    pub fn new(share: &Arc<GlShare>) -> Self {
        Self { share: share.clone(), sync: share.default_sync() }
    }

    pub fn set(&mut self, sync: GlSync) {
        self.sync = sync;
    }

    pub(crate) fn check_current(&self, operation: &'static str) -> Result<(), Failure> {
        self.share.check_current(operation)
    }

    /// Before OpenCL's turn: what it has to wait for.
    pub(crate) fn begin(&self, context: &Context) -> Result<Option<Event>> {
        let gl = &self.share.gl;
        match (self.sync, self.share.from_sync) {
            (GlSync::Implicit, _) => Ok(None),
            (GlSync::Events, Some(_)) => self.share.fence(context).map(Some),
            _ => {
                // SAFETY: the context is current.
                unsafe { (gl.finish)() };
                Ok(None)
            }
        }
    }

    /// After OpenCL's turn, which ends with `released`: OpenGL, or else the host, waits for it.
    pub(crate) fn end(&self, context: &Context, released: &Event) -> Result<()> {
        match (self.sync, self.share.gl.from_event) {
            (GlSync::Implicit, _) => Ok(()),
            (GlSync::Events, Some(from_event)) => {
                let gl = &self.share.gl;
                self.share.check_current("glCreateSyncFromCLeventARB").map_err(|f| context.error(f))?;
                // SAFETY: the context is current; context and event are live. The wait keeps the fence.
                unsafe {
                    let fence = from_event(context.raw(), released.raw(), 0);
                    if !fence.is_null() {
                        (gl.wait)(fence, 0, u64::MAX);
                        (gl.delete)(fence);
                        return Ok(());
                    }
                }
                released.wait()
            }
            _ => released.wait(),
        }
    }
}
