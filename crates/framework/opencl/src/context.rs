//! [`Context`].

use super::copy_kernels::CopyKernels;
use super::{ContextOptions, ContextProperty, Device, DeviceType, Platform};
use crate::ffi::gl_context::session_properties;
use crate::ffi::handle::{ContextKind, Handle};
use crate::ffi::may_fail::MayFail;
use crate::ffi::notify::{ListenerSlot, report};
use crate::ffi::{Failure, GlShare};
use cl3::context::{CL_CONTEXT_INTEROP_USER_SYNC, CL_CONTEXT_PROPERTIES, create_context};
use cl3::error_codes::{CL_INVALID_PROPERTY, CL_INVALID_VALUE};
use interop_core::describe::threads::SignalMaskGuard;
use interop_core::{Error, Result};
use std::fmt;
use std::sync::Arc;

/// One or more devices of a platform that share memory, programs and events (OpenCL 3.0 API, 4.4; `clCreateContext`).
/// Cheap to clone; any thread may use it. Errors that the driver reports for the context are logged by `tracing`, at
/// level warn, target `pixelferry_opencl::context`.
#[derive(Clone)]
pub struct Context(Arc<Parts>);

struct Parts {
    // Its kernels are released before the driver's context.
    copies: CopyKernels,
    // Released before the sub-devices from which it was created, and before its listener.
    handle: Handle<ContextKind>,
    _listening: ListenerSlot,
    devices: Vec<Device>,
    /// "The CL context and corresponding command-queues are dependent on the existence of the GL share group"
    /// (`cl_khr_gl_sharing`, Lifetime of Shared Objects).
    gl: Option<Arc<GlShare>>,
    may_fail: MayFail,
    name: String,
}

impl Context {
    /// Creates a context of these devices (`clCreateContext`).
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for no device, a device twice, or devices of several platforms.
    pub fn new(devices: &[Device]) -> Result<Self> {
        Self::with_options(devices, ContextOptions::new())
    }

    /// Creates a context of a platform's devices of some types (`clGetDeviceIDs`, `clCreateContext`, the equivalent of
    /// `clCreateContextFromType`).
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the platform has no such device; else those of [`Context::with_options`].
    pub fn of_type(platform: Platform, types: DeviceType, options: ContextOptions) -> Result<Self> {
        let devices = platform.devices_of(types)?;
        if devices.is_empty() {
            let reason = format!("clGetDeviceIDs finds no device of type {types}");
            return Err(Error::Unsupported { operation: "clCreateContext", device: platform.name()?, reason });
        }
        Self::with_options(&devices, options)
    }

    /// Creates a context of these devices with properties, or a callback for errors (`clCreateContext`).
    ///
    /// # Errors
    /// Those of [`Context::new`]; [`Error::Driver`] where the driver does not support a property given by number;
    /// [`Error::Unsupported`] where it does not support `CL_CONTEXT_INTEROP_USER_SYNC`.
    pub fn with_options(devices: &[Device], options: ContextOptions) -> Result<Self> {
        const OP: &str = "clCreateContext";
        let Some(first) = devices.first() else {
            return Err(Error::invalid(OP, "no device was given; give at least one"));
        };
        if let Some(other) = devices.iter().find(|device| device.platform() != first.platform()) {
            let problem =
                format!("{} and {} are of different platforms; create a context for each", first.name(), other.name());
            return Err(Error::invalid(OP, problem));
        }
        if devices.iter().enumerate().any(|(i, device)| devices[..i].iter().any(|other| other.is(device))) {
            return Err(Error::invalid(OP, "a device was given twice"));
        }
        let ContextOptions { pairs, on_error, gl } = options;
        if let Some(gl) = &gl {
            devices.iter().try_for_each(|device| device.check_shares(gl.as_ref())).map_err(|error| error.of(OP))?;
        }
        let only_user_sync = matches!(pairs[..], [[CL_CONTEXT_INTEROP_USER_SYNC, _]]);
        let error = |failure: Failure| match failure.code {
            CL_INVALID_PROPERTY | CL_INVALID_VALUE if only_user_sync => {
                let reason = "the driver does not support CL_CONTEXT_INTEROP_USER_SYNC; omit it".to_owned();
                Error::Unsupported { operation: OP, device: first.name().to_owned(), reason }
            }
            _ => failure.on(first.name()),
        };
        let (platform, _) = first.ids();
        let properties = session_properties(platform, gl.as_deref(), &pairs);
        let ids: Vec<_> = devices.iter().map(Device::raw).collect();
        let listening = ListenerSlot::new(on_error);
        let _blocked = SignalMaskGuard::new();
        let gl_events = devices.iter().all(|device| device.has_extension("cl_khr_gl_event"));
        let gl = gl.map(|gl| GlShare::new(platform, gl, gl_events).map(Arc::new)).transpose().map_err(error)?;
        let raw = create_context(&ids, properties.as_ptr(), Some(report), listening.user_data());
        // SAFETY: a context that was just created, whose one reference is ours.
        let handle = unsafe { Handle::own(OP, raw) }.map_err(error)?;
        Ok(Self::of(handle, listening, devices.to_vec(), gl))
    }

    pub(crate) fn of(
        handle: Handle<ContextKind>,
        listening: ListenerSlot,
        devices: Vec<Device>,
        gl: Option<Arc<GlShare>>,
    ) -> Self {
        let name = devices.iter().map(Device::name).collect::<Vec<_>>().join(" + ");
        let (copies, may_fail) = Default::default();
        Self(Arc::new(Parts { copies, handle, _listening: listening, devices, gl, may_fail, name }))
    }

    pub(crate) fn handle(&self) -> &Handle<ContextKind> {
        &self.0.handle
    }

    pub(crate) fn may_fail(&self) -> &MayFail {
        &self.0.may_fail
    }

    /// Returns the GL context with which it shares.
    pub(crate) fn gl_share(&self) -> Option<&Arc<GlShare>> {
        self.0.gl.as_ref()
    }

    /// Returns its devices (`CL_CONTEXT_DEVICES`), in the order given.
    pub fn devices(&self) -> &[Device] {
        &self.0.devices
    }

    /// Returns its properties (`CL_CONTEXT_PROPERTIES`): the platform, and those of [`ContextOptions`].
    pub fn properties(&self) -> Result<Vec<ContextProperty>> {
        let list = self.handle().info(CL_CONTEXT_PROPERTIES).map_err(|f| self.error(f))?;
        ContextProperty::all(&list)
            .ok_or_else(|| self.error(Failure { operation: "clGetContextInfo", code: CL_INVALID_VALUE }))
    }

    /// Returns true where both values are one context (`cl_context`).
    pub fn is(&self, other: &Self) -> bool {
        self.raw() == other.raw()
    }

    pub(super) fn copies(&self) -> &CopyKernels {
        &self.0.copies
    }

    pub(crate) fn name(&self) -> &str {
        &self.0.name
    }

    pub(crate) fn error(&self, failure: Failure) -> Error {
        failure.on(&self.0.name)
    }

    pub(crate) fn foreign(&self, operation: &'static str, object: &'static str) -> Error {
        Error::Foreign { operation, object, device: self.0.name.clone() }
    }

    /// Returns [`Error::Foreign`] for an object of another context.
    pub(crate) fn check_same(&self, other: &Self, operation: &'static str, object: &'static str) -> Result<()> {
        if self.is(other) { Ok(()) } else { Err(self.foreign(operation, object)) }
    }

    /// Returns [`Error::Foreign`] for a device that is not one of the context's.
    pub(crate) fn check_device(&self, device: &Device, operation: &'static str) -> Result<()> {
        if self.devices().iter().any(|own| own.is(device)) { Ok(()) } else { Err(self.foreign(operation, "device")) }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context({:?})", self.devices())
    }
}
