//! [`TurnFns`]: the functions that begin and end OpenCL's turn with OpenGL's objects.

use super::extension::function;
use super::track::Access;
use super::{Failure, Mem, NO_GL_OBJECT, PlatformId};
use crate::{Event, Queue};
use interop_core::Result;
use std::ffi::c_void;
use std::ptr;

/// `clEnqueueAcquireGLObjects` and its like.
type Enqueue = unsafe extern "system" fn(
    queue: *mut c_void,
    count: u32,
    objects: *const *mut c_void,
    wait_count: u32,
    wait_for: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32;

/// The pair of functions.
pub struct TurnFns {
    acquire: Enqueue,
    release: Enqueue,
}

impl TurnFns {
    /// Those of `cl_khr_gl_sharing`, which the device must list.
    pub fn gl(platform: PlatformId) -> Result<Self, Failure> {
        Ok(Self {
            acquire: function!(platform, c"clEnqueueAcquireGLObjects" as Enqueue),
            release: function!(platform, c"clEnqueueReleaseGLObjects" as Enqueue),
        })
    }

    /// Queues the beginning, or else the end, of OpenCL's turn with these objects.
    pub fn turn(&self, queue: &Queue, mems: &[&Mem], begins: bool, wait: &[Event]) -> Result<Event> {
        let (function, name) = match begins {
            true => (self.acquire, "clEnqueueAcquireGLObjects"),
            false => (self.release, "clEnqueueReleaseGLObjects"),
        };
        if mems.iter().any(|mem| !mem.is_of_gl()) {
            return Err(queue.error(Failure { operation: name, code: NO_GL_OBJECT }));
        }
        let uses: Vec<_> = mems.iter().map(|mem| mem.used_whole(Access::Write)).collect();
        let objects: Vec<_> = mems.iter().map(|mem| mem.raw()).collect();
        queue.enqueue_turn(name, (&uses, begins), wait, |queue, n, list| {
            let mut event = ptr::null_mut();
            // SAFETY: the objects are live, and so is what `enqueue_turn` passes; one event is written. The driver refuses
            // objects of other contexts and kinds.
            let code = unsafe { function(queue, objects.len() as u32, objects.as_ptr(), n, list, &raw mut event) };
            if code == 0 { Ok(event) } else { Err(code) }
        })
    }
}
