//! [`GlShare`]: an OpenGL context that OpenCL shares with (`cl_khr_gl_sharing`, `cl_khr_gl_event`).
//!
//! Several drivers accept a GL context without having the extension and end the process later. So nothing here is
//! called for a device that does not list it.

use super::extension::function;
use super::gl_fns::GlFns;
use super::{Failure, PlatformId, WRONG_CONTEXT};
use interop_core::GlContext;
use std::ffi::c_void;
use std::sync::Arc;

pub(crate) type FromSync =
    unsafe extern "system" fn(context: *mut c_void, sync: *mut c_void, code: *mut i32) -> *mut c_void;

pub(crate) type Enqueue = unsafe extern "system" fn(
    queue: *mut c_void,
    count: u32,
    objects: *const *mut c_void,
    wait_count: u32,
    wait_for: *const *mut c_void,
    event: *mut *mut c_void,
) -> i32;

/// An OpenGL context that a context shares with.
pub struct GlShare {
    context: Arc<dyn GlContext>,
    pub(crate) gl: GlFns,
    /// `clCreateEventFromGLsyncKHR`, where the device lists `cl_khr_gl_event`.
    pub(crate) from_sync: Option<FromSync>,
    /// `clEnqueueAcquireGLObjects` and `clEnqueueReleaseGLObjects`.
    pub(crate) acquire: Enqueue,
    pub(crate) release: Enqueue,
    pub(crate) platform: PlatformId,
}

impl GlShare {
    /// The context must be current; the device must list `cl_khr_gl_sharing`. `events`: it lists `cl_khr_gl_event`, too.
    pub fn new(platform: PlatformId, context: Arc<dyn GlContext>, events: bool) -> Result<Self, Failure> {
        let gl = GlFns::load(context.as_ref())?;
        let from_sync = match events {
            true => Some(function!(platform, c"clCreateEventFromGLsyncKHR" as FromSync)),
            false => None,
        };
        let acquire = function!(platform, c"clEnqueueAcquireGLObjects" as Enqueue);
        let release = function!(platform, c"clEnqueueReleaseGLObjects" as Enqueue);
        Ok(Self { context, gl, from_sync, acquire, release, platform })
    }

    /// Refuses every thread but that on which the context is current.
    pub fn check_current(&self, operation: &'static str) -> Result<(), Failure> {
        if self.context.is_current() { Ok(()) } else { Err(Failure { operation, code: WRONG_CONTEXT }) }
    }
}
