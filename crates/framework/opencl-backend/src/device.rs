//! The devices of all installed drivers.

use crate::cl;
use crate::identity::{Description, describe};
use interop_core::{DeviceIdentity, Error, Result};
use pixelferry_opencl::{Platform, no_device};
use std::sync::Arc;

/// A device (`cl_device_id`) that [`crate::OpenClBackend::open`] can open; cheap to clone. Any thread may use it.
///
/// A part of a device is a device as well: links, arrays and queues then run on some of its compute units and leave the
/// others free.
///
/// ```no_run
/// use opencl_backend::cl::{Device, Partition};
/// use opencl_backend::{OpenClBackend, OpenClDevice};
///
/// # fn main() -> interop_core::Result<()> {
/// let whole = &Device::all()?[0];
/// let parts = whole.partition(&Partition::ByCounts(vec![2]))?;
/// let backend = OpenClBackend::open(&OpenClDevice::try_from(&parts[0])?)?;
/// # let _ = backend;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct OpenClDevice {
    pub(crate) raw: cl::Device,
    pub(crate) description: Arc<Description>,
}

impl OpenClDevice {
    /// Returns the identity of the device: the results of `clGetDeviceInfo` when [`devices`] found it.
    pub fn identity(&self) -> &DeviceIdentity {
        &self.description.identity
    }

    /// Returns `CL_DEVICE_VERSION` as the driver reports it, e.g. `OpenCL 3.0 CUDA`.
    pub fn version(&self) -> &str {
        &self.description.version
    }

    /// True where the *device's* extension string (`CL_DEVICE_EXTENSIONS`) lists `name`. The platform's string says
    /// nothing about a device.
    pub fn has_extension(&self, name: &str) -> bool {
        self.raw.has_extension(name)
    }
}

impl TryFrom<&cl::Device> for OpenClDevice {
    type Error = Error;

    fn try_from(device: &cl::Device) -> Result<Self> {
        let description = describe(device)?.map_err(|reason| Error::Unsupported {
            operation: "OpenClDevice::try_from",
            device: device.name().to_owned(),
            reason,
        })?;
        Ok(Self { raw: device.clone(), description: Arc::new(description) })
    }
}

impl TryFrom<&OpenClDevice> for cl::Device {
    type Error = Error;

    fn try_from(device: &OpenClDevice) -> Result<Self> {
        Ok(device.raw.clone())
    }
}

/// Lists all usable devices of all platforms, in the drivers' order (`clGetPlatformIDs`, `clGetDeviceIDs`). A platform
/// or device that fails to answer is skipped and logged at debug level. So is an unusable device: OpenCL below 1.2, no
/// compiler, or another byte order.
///
/// # Errors
/// [`interop_core::Error::Unavailable`] where libOpenCL, a driver or a usable device is missing, with the findings and
/// what to install.
pub fn devices() -> Result<Vec<OpenClDevice>> {
    let mut found = Vec::new();
    let mut left_out = Vec::new();
    for platform in Platform::all()? {
        let name = platform.name().unwrap_or_else(|_| "a platform without a name".into());
        match platform.each_device() {
            Ok(devices) if devices.is_empty() => left_out.push(format!("{name}: no device")),
            Ok(devices) => {
                for device in devices {
                    match device.and_then(|raw| Ok((describe(&raw)?, raw))) {
                        Ok((Ok(d), raw)) => found.push(OpenClDevice { raw, description: Arc::new(d) }),
                        Ok((Err(reason), _)) => left_out.push(format!("{name}: {reason}")),
                        Err(error) => left_out.push(format!("{name}: {error}")),
                    }
                }
            }
            Err(error) => left_out.push(format!("{name}: {error}")),
        }
    }
    for reason in &left_out {
        tracing::debug!("OpenCL device left out: {reason}");
    }
    if found.is_empty() { Err(no_device(&left_out)) } else { Ok(found) }
}
