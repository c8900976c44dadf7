//! `pixelferry.vulkan`: memory, semaphores and images of the program's own Vulkan.

mod memory;
mod semaphore;
mod texture;

use crate::failure::{Failure, answer};
use crate::raw::vulkan::Device;
use pixelferry::driver::DeviceUuid;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyInt;

/// A number from Python: a handle, or flags.
struct Number(u64);

impl<'py> FromPyObject<'_, 'py> for Number {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if !object.is_instance_of::<PyInt>() {
            let what = object.get_type().name()?;
            let hint = "for a handle of the package vulkan, use int(vulkan.ffi.cast('uintptr_t', x))";
            return Err(Failure::Dtype(format!("'{what}' is not a number; {hint}")).into());
        }
        let number =
            object.extract().map_err(|_| Failure::Shape("a handle must be an unsigned 64-bit number".into()))?;
        Ok(Self(number))
    }
}

impl Number {
    fn small<T: TryFrom<u64>>(&self, name: &str) -> Result<T, Failure> {
        T::try_from(self.0).map_err(|_| Failure::Shape(format!("{name}={} exceeds Vulkan's range", self.0)))
    }
}

/// The UUID of a device: 16 bytes, or an object that has them as `bytes`.
struct Uuid(DeviceUuid);

impl<'py> FromPyObject<'_, 'py> for Uuid {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let bytes = match object.getattr_opt(intern!(object.py(), "bytes"))? {
            Some(bytes) => bytes.extract::<Vec<u8>>(),
            None => object.extract::<Vec<u8>>(),
        };
        let uuid = answer(object.py(), bytes)?.ok().and_then(|bytes| <[u8; 16]>::try_from(bytes).ok());
        let uuid = uuid.ok_or_else(|| {
            Failure::Shape("uuid= must be 16 bytes: VkPhysicalDeviceIDProperties.deviceUUID of the device".into())
        })?;
        Ok(Self(DeviceUuid(uuid)))
    }
}

/// Extensions to enable when a device is made, and whether to enable timelineSemaphore.
#[pyfunction]
fn device_extensions(py: Python<'_>, instance: Number, physical_device: Number) -> PyResult<(Vec<String>, bool)> {
    let (instance, physical) = (instance.0, physical_device.0);
    let device = Device { instance, physical, device: 0, queue: 0, family: 0, extensions: Vec::new(), timeline: false };
    Ok(py.detach(|| device.needs())?)
}

/// Adds everything to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("_VulkanMemory", py.get_type::<memory::VulkanMemory>())?;
    module.add("_VulkanSemaphore", py.get_type::<semaphore::VulkanSemaphore>())?;
    module.add("_VulkanTexture", py.get_type::<texture::VulkanTexture>())?;
    module.add_function(wrap_pyfunction!(device_extensions, module)?)
}
