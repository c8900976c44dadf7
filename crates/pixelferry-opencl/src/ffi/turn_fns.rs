//! [`TurnFns`]: the functions that begin and end OpenCL's turn with memory of another API's.

use super::extension::function;
use super::{Failure, PlatformId};
use std::ffi::c_void;
use std::ptr;

/// `clEnqueueAcquireGLObjects` and its like; all have this signature.
pub type Enqueue = unsafe extern "system" fn(
    queue: *mut c_void,
    count: u32,
    objects: *const *mut c_void,
    wait_count: u32,
    wait_for: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32;

/// One pair of functions.
#[derive(Clone, Copy)]
pub struct TurnFns {
    pub(crate) acquire: (Enqueue, &'static str),
    pub(crate) release: (Enqueue, &'static str),
}

impl TurnFns {
    /// Those of `cl_khr_external_memory`, which the device must list.
    pub fn external(platform: PlatformId) -> Result<Self, Failure> {
        Ok(Self {
            acquire: (
                function!(platform, c"clEnqueueAcquireExternalMemObjectsKHR" as Enqueue),
                "clEnqueueAcquireExternalMemObjectsKHR",
            ),
            release: (
                function!(platform, c"clEnqueueReleaseExternalMemObjectsKHR" as Enqueue),
                "clEnqueueReleaseExternalMemObjectsKHR",
            ),
        })
    }

    /// Those of `cl_khr_gl_sharing`, which the device must list.
    pub fn gl(platform: PlatformId) -> Result<Self, Failure> {
        Ok(Self {
            acquire: (function!(platform, c"clEnqueueAcquireGLObjects" as Enqueue), "clEnqueueAcquireGLObjects"),
            release: (function!(platform, c"clEnqueueReleaseGLObjects" as Enqueue), "clEnqueueReleaseGLObjects"),
        })
    }

    /// # Safety
    /// Queue, objects and the events of the list are live; the list is as long as is said, and null where it is empty.
    pub(crate) unsafe fn call(
        function: Enqueue,
        objects: &[*mut c_void],
        (queue, wait_count, wait_for): (*mut c_void, u32, *const *mut c_void),
    ) -> Result<*mut c_void, i32> {
        let mut event = ptr::null_mut();
        // SAFETY: the caller's promise; one event is written. The driver refuses objects of other contexts and kinds.
        let code =
            unsafe { function(queue, objects.len() as u32, objects.as_ptr(), wait_count, wait_for, &raw mut event) };
        if code == 0 { Ok(event) } else { Err(code) }
    }
}
