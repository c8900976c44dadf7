//! [`Context`].

use super::copy_kernels::CopyKernels;
use super::{ContextOptions, ContextProperty, Device, DeviceType, ImageFormat, ImageType, MemFlags, Platform};
use crate::ffi::{self, ContextSettings, Failure};
use crate::gl_listed::{check_shares, listed_by};
use cl3::context::CL_CONTEXT_INTEROP_USER_SYNC;
use cl3::error_codes::{CL_INVALID_PROPERTY, CL_INVALID_VALUE};
use interop_core::{Error, Result};
use std::fmt;
use std::sync::Arc;

/// One or more devices of a platform that share memory, programs and events (OpenCL 3.0 API, 4.4; `clCreateContext`).
/// Cheap to clone; any thread may use it. What the driver reports of errors inside goes to `tracing`, at level warn, target
/// `opencl_backend::context`.
#[derive(Clone)]
pub struct Context {
    // Its kernels are let go of before the driver's context.
    shared: Arc<ContextParts>,
    pub(crate) raw: Arc<ffi::Context>,
}

struct ContextParts {
    devices: Vec<Device>,
    name: String,
    copies: CopyKernels,
}

impl Context {
    /// A context of these devices (`clCreateContext`).
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for no device, a device twice, or devices of several platforms.
    pub fn new(devices: &[Device]) -> Result<Self> {
        Self::with_options(devices, ContextOptions::new())
    }

    /// A context of a platform's devices of some types (`clGetDeviceIDs`, `clCreateContext`: what `clCreateContextFromType`
    /// does in one call).
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

    /// A context of these devices with properties, or a callback for errors (`clCreateContext`).
    ///
    /// # Errors
    /// Those of [`Context::new`]; [`Error::Driver`] where the driver does not know a property by number, and
    /// [`Error::Unsupported`] where it does not know `CL_CONTEXT_INTEROP_USER_SYNC`.
    pub fn with_options(devices: &[Device], options: ContextOptions) -> Result<Self> {
        const OP: &str = "clCreateContext";
        let Some(first) = devices.first() else {
            return Err(Error::invalid(OP, "no device was given; give at least one"));
        };
        if let Some(other) = devices.iter().find(|device| device.platform() != first.platform()) {
            let problem =
                format!("{} and {} are of different platforms; make a context for each", first.name(), other.name());
            return Err(Error::invalid(OP, problem));
        }
        if devices.iter().enumerate().any(|(i, device)| devices[..i].iter().any(|other| other.is(device))) {
            return Err(Error::invalid(OP, "a device was given twice"));
        }
        let raw: Vec<_> = devices.iter().map(|device| device.raw.clone()).collect();
        let ContextOptions { pairs, on_error, gl } = options;
        if let Some(gl) = &gl {
            for device in devices {
                let lists = listed_by(|name| device.has_extension(name));
                check_shares((&device.raw, device.name()), lists, gl.as_ref()).map_err(|error| error.of(OP))?;
            }
        }
        let gl_events = devices.iter().all(|device| device.has_extension("cl_khr_gl_event"));
        let only_user_sync = matches!(pairs[..], [[CL_CONTEXT_INTEROP_USER_SYNC, _]]);
        let settings = ContextSettings { gl, gl_events, pairs, on_error };
        let raw = ffi::Context::new(&raw, settings).map_err(|failure| match failure.code {
            CL_INVALID_PROPERTY | CL_INVALID_VALUE if only_user_sync => {
                let reason = "the driver does not know CL_CONTEXT_INTEROP_USER_SYNC; leave it out".to_owned();
                Error::Unsupported { operation: OP, device: first.name().to_owned(), reason }
            }
            _ => failure.on(first.name()),
        })?;
        Ok(Self::of(raw, devices.to_vec()))
    }

    #[doc(hidden)]
    pub fn of(raw: Arc<ffi::Context>, devices: Vec<Device>) -> Self {
        let name = devices.iter().map(Device::name).collect::<Vec<_>>().join(" + ");
        Self { raw, shared: Arc::new(ContextParts { devices, name, copies: CopyKernels::default() }) }
    }

    /// Its devices (`CL_CONTEXT_DEVICES`), in the order given.
    pub fn devices(&self) -> &[Device] {
        &self.shared.devices
    }

    /// Its properties (`CL_CONTEXT_PROPERTIES`): the platform, and those of [`ContextOptions`].
    pub fn properties(&self) -> Result<Vec<ContextProperty>> {
        let list = self.raw.properties().map_err(|f| self.error(f))?;
        ContextProperty::all(&list)
            .ok_or_else(|| self.error(Failure { operation: "clGetContextInfo", code: CL_INVALID_VALUE }))
    }

    /// True for two values of one context (`cl_context`).
    pub fn is(&self, other: &Self) -> bool {
        self.raw() == other.raw()
    }

    /// The formats that images of a type can have (`clGetSupportedImageFormats`); those that this crate has no name for
    /// are left out.
    pub fn image_formats(&self, flags: MemFlags, kind: ImageType) -> Result<Vec<ImageFormat>> {
        let formats = ffi::image_formats(&self.raw, flags.bits(), kind.code()).map_err(|f| self.error(f))?;
        Ok(formats.into_iter().filter_map(ImageFormat::from_codes).collect())
    }

    pub(super) fn copies(&self) -> &CopyKernels {
        &self.shared.copies
    }

    pub(crate) fn name(&self) -> &str {
        &self.shared.name
    }

    pub(crate) fn error(&self, failure: Failure) -> Error {
        failure.on(&self.shared.name)
    }

    pub(crate) fn foreign(&self, operation: &'static str, object: &'static str) -> Error {
        Error::Foreign { operation, object, device: self.shared.name.clone() }
    }

    /// [`Error::Foreign`] for an object of another context.
    #[doc(hidden)]
    pub fn check_same(&self, other: &Self, operation: &'static str, object: &'static str) -> Result<()> {
        if self.is(other) { Ok(()) } else { Err(self.foreign(operation, object)) }
    }

    /// [`Error::Foreign`] for a device that is not one of the context's.
    pub(crate) fn check_device(&self, device: &Device, operation: &'static str) -> Result<()> {
        if self.devices().iter().any(|own| own.is(device)) { Ok(()) } else { Err(self.foreign(operation, "device")) }
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Context({:?})", self.devices())
    }
}
