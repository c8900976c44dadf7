//! `glFenceSync` and the wait for it (OpenGL 4.6 core, section 4.1).

use crate::context::context_state::ContextState;
use crate::context::owned_object::OwnedObject;
use glow::HasContext as _;
use interop_core::Result;
use interop_core::describe::PlainMutex;
use std::sync::Arc;

/// Length of one wait in nanoseconds; glow supports 31 bits.
const SLICE_NS: i32 = 1_000_000_000;
/// Number of waits before giving up on a GPU: 5 s, longer than any frame and than a driver's own watchdog. Where the
/// CPU draws, a frame takes as long as other programs allow.
const SLICES: usize = 5;

const CALL: &str = "glClientWaitSync";

/// A point in the GL command stream.
pub(crate) struct Fence {
    name: OwnedObject<glow::Fence>,
    is_flushed: PlainMutex<bool>,
}

impl Fence {
    /// Inserts a fence after all commands so far. The context must be current.
    pub(crate) fn insert(shared: &Arc<ContextState>) -> Result<Self> {
        // SAFETY: the context is current.
        let name = unsafe { shared.gl.fence_sync(glow::SYNC_GPU_COMMANDS_COMPLETE, 0) };
        match name {
            Ok(id) if !id.0.is_null() => {
                Ok(Self { name: OwnedObject::new(shared, id), is_flushed: PlainMutex::default() })
            }
            _ => Err(shared.check("glFenceSync").err().unwrap_or_else(|| shared.no_name("glFenceSync", ""))),
        }
    }

    /// Flushes, and waits until GL has done everything before the fence.
    pub(crate) fn wait(&self, shared: &ContextState) -> Result<()> {
        let slices = if shared.device.software { usize::MAX } else { SLICES };
        for _ in 0..slices {
            if self.is_done_within(shared, SLICE_NS)? {
                return Ok(());
            }
        }
        let hint = "The GPU did not finish a frame in 5 s; it may hang.";
        Err(shared.failure(CALL, i64::from(glow::TIMEOUT_EXPIRED), "GL_TIMEOUT_EXPIRED", hint))
    }

    /// Returns true where GL has done everything before the fence. Only the first call flushes, which is enough.
    pub(crate) fn is_done(&self, shared: &ContextState) -> Result<bool> {
        self.is_done_within(shared, 0)
    }

    fn is_done_within(&self, shared: &ContextState, nanoseconds: i32) -> Result<bool> {
        let flags = if self.is_flushed.replace(true) { 0 } else { glow::SYNC_FLUSH_COMMANDS_BIT };
        // SAFETY: the context is current and the fence is of it and not deleted.
        match unsafe { shared.gl.client_wait_sync(self.name.get(), flags, nanoseconds) } {
            glow::ALREADY_SIGNALED | glow::CONDITION_SATISFIED => Ok(true),
            glow::TIMEOUT_EXPIRED => Ok(false),
            code => {
                shared.check(CALL)?;
                Err(shared.failure(CALL, i64::from(code), "GL_WAIT_FAILED", "The context may be lost."))
            }
        }
    }
}
