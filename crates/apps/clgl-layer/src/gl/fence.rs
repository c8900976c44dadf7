//! Fences, with which the layer's context waits for the program's work.

use super::functions::ProgramGl;
use super::window_system::{ProgramContext, WindowSystem};
use super::work::WorkContext;
use std::ffi::c_void;
use std::time::Duration;

const COMMANDS_COMPLETE: u32 = 0x9117;
const TIMEOUT_EXPIRED: u32 = 0x911B;
const FLUSH: u32 = 1;
/// Tenths of a second.
const PATIENCE: u32 = 600;

/// A fence object of a share group.
#[derive(Clone, Copy, Debug)]
pub struct Fence(usize);

impl Fence {
    /// Wraps a fence.
    ///
    /// # Safety
    /// A fence of the layer's share group, or a value that OpenGL does not take for one.
    pub unsafe fn new(sync: *mut c_void) -> Self {
        Self(sync.expose_provenance())
    }

    fn sync(self) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.0)
    }

    pub fn is_there(self, work: &WorkContext) -> bool {
        // SAFETY: OpenGL looks the address up among its fences.
        self.0 != 0 && unsafe { (work.gl.is_sync)(self.sync()) } != 0
    }

    /// Waits up to `patience`; returns whether the fence is signalled or deleted.
    pub fn is_passed(self, work: &WorkContext, patience: Duration) -> bool {
        let nanoseconds = u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: OpenGL looks the address up among its fences.
        let answer = unsafe { (work.gl.client_wait_sync)(self.sync(), FLUSH, nanoseconds) };
        work.gl.error();
        answer != TIMEOUT_EXPIRED
    }
}

/// OpenGL work that the program's thread submitted before an OpenCL call.
pub struct ProgramWork {
    fence: Option<Fence>,
}

impl ProgramWork {
    /// Describes the work of the calling thread. If its current context is not the shared one, this waits for it,
    /// because its fences may be unknown to the layer's context.
    pub fn begun(system: &dyn WindowSystem, program: ProgramContext, functions: &ProgramGl) -> Self {
        let current = system.current();
        if current == 0 {
            return Self { fence: None };
        }
        // SAFETY: a context is current on this thread.
        unsafe {
            let sync = if current == program.context {
                (functions.fence_sync)(COMMANDS_COMPLETE, 0)
            } else {
                std::ptr::null_mut()
            };
            if sync.is_null() {
                (functions.finish)();
                return Self { fence: None };
            }
            (functions.flush)();
            Self { fence: Some(Fence::new(sync)) }
        }
    }

    /// Waits until the work is done.
    pub fn finish(self, work: &WorkContext) {
        let Some(fence) = self.fence else { return };
        // Do not wait forever: this thread must not hang when the GPU does.
        for _ in 0..PATIENCE {
            if fence.is_passed(work, Duration::from_millis(100)) {
                break;
            }
        }
        // SAFETY: a fence of the layer's own, deleted once.
        unsafe { (work.gl.delete_sync)(fence.sync()) };
    }
}
