//! [`Device`] and its basic properties. All its properties are in `device_info`.

use crate::Platform;
use crate::ffi::handle::{Handle, SubDeviceKind};
use crate::ffi::{DeviceId, PlatformId};
use cl3::device as d;
use interop_core::{Error, Result};
use std::fmt;
use std::sync::Arc;

/// A device, or a part of one created by [`Device::partition`] (OpenCL 3.0 API, 4.2 and 4.3). Cheap to clone; any
/// thread may use it. A part lives until its last clone and all objects created from it are dropped.
#[derive(Clone)]
pub struct Device {
    id: DeviceId,
    platform: PlatformId,
    /// The reference that keeps a sub-device alive.
    _owner: Option<Arc<Handle<SubDeviceKind>>>,
    known: Arc<DeviceFacts>,
    parent: Option<Box<Device>>,
}

/// Properties that are queried once.
struct DeviceFacts {
    name: String,
    driver: String,
    version: (u32, u32),
    extensions: String,
}

impl Device {
    pub(crate) fn root(platform: PlatformId, id: DeviceId) -> Result<Self> {
        Self::new(platform, id, None)
    }

    pub(crate) fn part(owner: Handle<SubDeviceKind>, parent: &Self) -> Result<Self> {
        let part = Self::new(parent.platform, DeviceId(owner.raw()), Some(Box::new(parent.clone())))?;
        Ok(Self { _owner: Some(Arc::new(owner)), ..part })
    }

    fn new(platform: PlatformId, id: DeviceId, parent: Option<Box<Self>>) -> Result<Self> {
        let text = |param| id.text(param).map_err(|f| f.on("an OpenCL device"));
        let version = text(d::CL_DEVICE_VERSION)?;
        let known = DeviceFacts {
            name: text(d::CL_DEVICE_NAME)?,
            driver: text(d::CL_DRIVER_VERSION)?,
            version: crate::answers::parse_version(&version).unwrap_or((1, 0)),
            extensions: text(d::CL_DEVICE_EXTENSIONS)?,
        };
        Ok(Self { id, platform, _owner: None, known: Arc::new(known), parent })
    }

    /// Returns its platform and itself, for queries.
    pub(crate) fn ids(&self) -> (PlatformId, DeviceId) {
        (self.platform, self.id)
    }

    /// Returns its name, `CL_DEVICE_NAME`.
    pub fn name(&self) -> &str {
        &self.known.name
    }

    /// Returns the version of its driver, `CL_DRIVER_VERSION`.
    pub fn driver_version(&self) -> &str {
        &self.known.driver
    }

    /// Returns the OpenCL version of the device, major and minor, from `CL_DEVICE_VERSION`.
    pub fn cl_version(&self) -> (u32, u32) {
        self.known.version
    }

    /// Returns true where `CL_DEVICE_EXTENSIONS` lists `name`.
    pub fn has_extension(&self, name: &str) -> bool {
        self.known.extensions.split_ascii_whitespace().any(|e| e == name)
    }

    /// Returns its extensions (`CL_DEVICE_EXTENSIONS`), in the driver's order.
    pub fn extensions(&self) -> impl Iterator<Item = &str> {
        self.known.extensions.split_ascii_whitespace()
    }

    /// Returns its platform, `CL_DEVICE_PLATFORM`.
    pub fn platform(&self) -> Platform {
        Platform(self.platform)
    }

    /// Returns the device of which this is a part, `CL_DEVICE_PARENT_DEVICE`.
    pub fn parent(&self) -> Option<&Self> {
        self.parent.as_deref()
    }

    /// Returns true where both values are one device (`cl_device_id`).
    pub fn is(&self, other: &Self) -> bool {
        self.id == other.id
    }

    /// Returns [`Error::Unsupported`] where the device's OpenCL is older.
    pub(crate) fn require_version(&self, version: (u32, u32), operation: &'static str) -> Result<()> {
        let ((major, minor), (has_major, has_minor)) = (version, self.known.version);
        if self.known.version >= version {
            return Ok(());
        }
        Err(self.unsupported(
            operation,
            format!("it needs OpenCL {major}.{minor}, CL_DEVICE_VERSION says {has_major}.{has_minor}"),
        ))
    }

    /// Returns [`Error::Unsupported`] where the device does not list the extension.
    pub(crate) fn require_extension(&self, extension: &str, operation: &'static str) -> Result<()> {
        if self.has_extension(extension) {
            return Ok(());
        }
        Err(self.unsupported(operation, format!("CL_DEVICE_EXTENSIONS does not list {extension}")))
    }

    pub(crate) fn unsupported(&self, operation: &'static str, reason: impl Into<String>) -> Error {
        Error::Unsupported { operation, device: self.known.name.clone(), reason: reason.into() }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({:?}{})", self.known.name, if self.parent.is_some() { ", a part" } else { "" })
    }
}
