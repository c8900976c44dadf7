//! Devices of one [`Platform`], and devices of all platforms.

use super::{Device, DeviceType, Platform};
use interop_core::describe::process::enter;
use interop_core::{Error, Result};

impl Platform {
    /// Returns all its devices (`clGetDeviceIDs`, `CL_DEVICE_TYPE_ALL`); an empty result is not an error.
    pub fn devices(self) -> Result<Vec<Device>> {
        self.devices_of(DeviceType::ALL)
    }

    /// Returns its devices of these types (`clGetDeviceIDs`), e.g. `DeviceType::GPU | DeviceType::ACCELERATOR`; an
    /// empty result is not an error.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for [`DeviceType::NONE`].
    pub fn devices_of(self, types: DeviceType) -> Result<Vec<Device>> {
        if types == DeviceType::NONE {
            return Err(Error::invalid("clGetDeviceIDs", "no type of device was given; DeviceType::ALL selects all"));
        }
        self.each_of(types)?.into_iter().collect()
    }

    /// Returns each of its devices (`clGetDeviceIDs`, `CL_DEVICE_TYPE_ALL`), or the error of a device whose queries
    /// fail.
    pub fn each_device(self) -> Result<Vec<Result<Device>>> {
        self.each_of(DeviceType::ALL)
    }

    fn each_of(self, types: DeviceType) -> Result<Vec<Result<Device>>> {
        let _entered = enter("OpenCL")?;
        let ids = self.0.devices(types.bits()).map_err(|f| f.on("an OpenCL platform"))?;
        Ok(ids.into_iter().map(|id| Device::root(self.0, id)).collect())
    }
}

impl Device {
    /// Returns all devices of all platforms (`clGetPlatformIDs`, `clGetDeviceIDs`). A platform whose queries fail is
    /// skipped and logged.
    ///
    /// # Errors
    /// Those of [`Platform::all`].
    pub fn all() -> Result<Vec<Self>> {
        Self::all_of(DeviceType::ALL)
    }

    /// Returns the devices of these types of all platforms (`clGetPlatformIDs`, `clGetDeviceIDs`). A platform whose
    /// queries fail is skipped and logged; an empty result is not an error.
    ///
    /// # Errors
    /// Those of [`Platform::all`]; [`Error::InvalidInput`] for [`DeviceType::NONE`].
    pub fn all_of(types: DeviceType) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        for platform in Platform::all()? {
            match platform.devices_of(types) {
                Ok(devices) => all.extend(devices),
                Err(error @ Error::InvalidInput { .. }) => return Err(error),
                Err(error) => tracing::debug!("skipped an OpenCL platform: {error}"),
            }
        }
        Ok(all)
    }
}
