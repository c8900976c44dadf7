//! Contexts over one or more devices of a platform.

use super::gl_context::session_properties;
use super::handle::{ContextKind, Handle, SubDeviceKind};
use super::may_fail::MayFail;
use super::notify::{Listening, OnError, report};
use super::{DeviceId, Failure, GlShare, PlatformId};
use cl3::context::{CL_CONTEXT_PROPERTIES, create_context};
use interop_core::GlContext;
use std::ffi::c_void;
use std::fmt;
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

    pub(crate) fn part(platform: PlatformId, owner: Handle<SubDeviceKind>) -> Self {
        Self { id: DeviceId(owner.raw()), platform, owner: Some(Arc::new(owner)) }
    }

    pub fn is_part(&self) -> bool {
        self.owner.is_some()
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} of {:?}{}", self.id, self.platform, if self.is_part() { ", a part" } else { "" })
    }
}

/// A context and its devices.
pub struct Context {
    // Released before the sub-devices that it was made of, and before its listener goes.
    handle: Handle<ContextKind>,
    _listening: Listening,
    _devices: Vec<Device>,
    /// "The CL context and corresponding command-queues are dependent on the existence of the GL share group"
    /// (`cl_khr_gl_sharing`, Lifetime of Shared Objects).
    gl: Option<Arc<GlShare>>,
    may_fail: Arc<MayFail>,
}

/// Settings of a new context.
#[derive(Default)]
pub struct ContextSettings {
    /// Only for devices that list the extension: GL properties make some drivers that do not end the process later.
    pub gl: Option<Arc<dyn GlContext>>,
    /// The devices list `cl_khr_gl_event`, too.
    pub gl_events: bool,
    /// Properties besides platform and GL.
    pub pairs: Vec<[isize; 2]>,
    pub on_error: Option<OnError>,
}

impl Context {
    /// `devices` must be of one platform, and not empty.
    pub fn new(devices: &[Device], settings: ContextSettings) -> Result<Arc<Self>, Failure> {
        const CALL: &str = "clCreateContext";
        let platform =
            devices.first().ok_or(Failure { operation: CALL, code: cl3::error_codes::CL_INVALID_VALUE })?.platform;
        let properties = session_properties(platform, settings.gl.as_deref(), &settings.pairs);
        let ids: Vec<_> = devices.iter().map(|device| device.id.0).collect();
        let listening = Listening::new(settings.on_error);
        let gl = settings.gl.map(|gl| GlShare::new(platform, gl, settings.gl_events).map(Arc::new)).transpose()?;
        let raw = create_context(&ids, properties.as_ptr(), Some(report), listening.user_data());
        // SAFETY: a context that was just created, whose one reference is ours.
        let handle = unsafe { Handle::own(CALL, raw) }?;
        Ok(Arc::new(Self { gl, ..Self::of(handle, listening, devices.to_vec()) }))
    }

    pub(crate) fn of(handle: Handle<ContextKind>, listening: Listening, devices: Vec<Device>) -> Self {
        Self { handle, _listening: listening, _devices: devices, gl: None, may_fail: Arc::default() }
    }

    pub(crate) fn may_fail(&self) -> &Arc<MayFail> {
        &self.may_fail
    }

    /// `CL_CONTEXT_PROPERTIES`: a list of pairs of `isize`.
    pub fn properties(&self) -> Result<Vec<u8>, Failure> {
        self.handle.info(CL_CONTEXT_PROPERTIES)
    }

    /// The GL context that it shares with.
    pub fn gl(&self) -> Option<&Arc<GlShare>> {
        self.gl.as_ref()
    }

    pub fn references(&self) -> Result<u32, Failure> {
        self.handle.references()
    }

    pub fn raw(&self) -> *mut c_void {
        self.handle.raw()
    }
}
