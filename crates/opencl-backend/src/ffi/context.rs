//! Contexts over one or more devices of a platform.

use super::callback::contained;
use super::gl::session_properties;
use super::gl_context::GlContext;
use super::handle::{ContextKind, Handle, SubDeviceKind};
use super::{DeviceId, Failure, PlatformId};
use cl3::context::create_context;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::Arc;

/// A root device, or a part of one, which lives as long as its last clone.
#[derive(Clone)]
pub struct Device {
    pub id: DeviceId,
    pub platform: PlatformId,
    /// The reference that keeps a sub-device.
    owner: Option<Arc<Handle<SubDeviceKind>>>,
}

impl Device {
    pub fn root(platform: PlatformId, id: DeviceId) -> Self {
        Self { id, platform, owner: None }
    }

    pub(super) fn part(platform: PlatformId, owner: Handle<SubDeviceKind>) -> Self {
        Self { id: DeviceId(owner.raw()), platform, owner: Some(Arc::new(owner)) }
    }

    pub fn is_part(&self) -> bool {
        self.owner.is_some()
    }
}

/// A context and its devices.
pub struct Context {
    // Released before the sub-devices that it was made of.
    handle: Handle<ContextKind>,
    _devices: Vec<Device>,
}

impl Context {
    /// `devices` must be of one platform, and not empty.
    pub fn new(devices: &[Device]) -> Result<Arc<Self>, Failure> {
        Self::sharing(devices, None)
    }

    /// The same, sharing with a GL context where the devices list the extension: GL properties make some drivers that do
    /// not end the process later.
    pub fn sharing(devices: &[Device], gl: Option<GlContext>) -> Result<Arc<Self>, Failure> {
        const OP: &str = "clCreateContext";
        let platform =
            devices.first().ok_or(Failure { operation: OP, code: cl3::error_codes::CL_INVALID_VALUE })?.platform;
        let properties = session_properties(platform, gl);
        let ids: Vec<_> = devices.iter().map(|device| device.id.0).collect();
        let raw = create_context(&ids, properties.as_ptr(), Some(report), ptr::null_mut());
        // SAFETY: a context that was just created, whose one reference is ours.
        let handle = unsafe { Handle::own(OP, raw) }?;
        Ok(Arc::new(Self { handle, _devices: devices.to_vec() }))
    }

    pub(super) fn raw(&self) -> *mut c_void {
        self.handle.raw()
    }
}

/// What the driver tells of errors in the context, from any thread.
unsafe extern "C" fn report(text: *const c_char, _: *const c_void, _: usize, _: *mut c_void) {
    contained("log of an OpenCL context", || {
        if !text.is_null() {
            // SAFETY: the driver gives a string with a NUL, valid during the call (OpenCL 3.0 API, 4.4).
            let text = unsafe { CStr::from_ptr(text) };
            tracing::warn!(target: "opencl_backend::context", "the OpenCL driver reports: {}", text.to_string_lossy());
        }
    });
}
