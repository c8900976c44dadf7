//! The sharing functions of a device.

use crate::sharing::failure;
use crate::sharing::memory_host::MemoryHost;
use crate::sharing::os::{MEMORY_EXTENSION, MemoryFns, SEMAPHORE_EXTENSION, SemaphoreFns};
use ash::vk;
use interop_core::{Error, Result, Support};
use std::ffi::CStr;

/// Functions of one device, which belongs to other code.
pub struct SharingDevice {
    pub(crate) device: ash::Device,
    pub(crate) instance: ash::Instance,
    pub(crate) physical: vk::PhysicalDevice,
    /// `Some` if the device was created with the extension.
    pub(crate) memory: Option<MemoryFns>,
    pub(crate) semaphore: Option<SemaphoreFns>,
    pub(crate) memory_host: Option<MemoryHost>,
    pub(crate) timeline: bool,
    /// Queue families that use the created objects; empty if only one family uses them.
    pub(crate) families: Vec<u32>,
    name: String,
}

impl SharingDevice {
    /// Loads the functions. `has` reports which extensions the device was created with, `timeline` whether it has
    /// timeline semaphores. Errors name the device `name`.
    ///
    /// # Safety
    /// The device belongs to the physical device and that to the instance, both of Vulkan 1.1 or later. They outlive
    /// this and all its objects. The statements about the device are true.
    pub unsafe fn new(
        instance: ash::Instance,
        physical: vk::PhysicalDevice,
        device: ash::Device,
        has: impl Fn(&CStr) -> bool,
        timeline: bool,
        name: String,
    ) -> Self {
        let memory = has(MEMORY_EXTENSION).then(|| MemoryFns::new(&instance, &device));
        let semaphore = has(SEMAPHORE_EXTENSION).then(|| SemaphoreFns::new(&instance, &device));
        // SAFETY: the caller's promise.
        let memory_host = unsafe { MemoryHost::of(&instance, physical, &device, has) };
        Self { device, instance, physical, memory, semaphore, memory_host, timeline, families: Vec::new(), name }
    }

    /// Shares the created objects between these families, which are different families of the device.
    #[must_use]
    pub fn for_families(self, families: Vec<u32>) -> Self {
        Self { families, ..self }
    }

    /// Returns the sharing mode and the families for Vulkan's structures: exclusive for one family or none.
    pub(crate) fn shared_by(&self) -> (vk::SharingMode, &[u32]) {
        match self.families.as_slice() {
            all @ [_, _, ..] => (vk::SharingMode::CONCURRENT, all),
            _ => (vk::SharingMode::EXCLUSIVE, &[]),
        }
    }

    /// Returns true where the device was created with timeline semaphores.
    pub fn counts(&self) -> bool {
        self.timeline
    }

    /// Returns the limits of the physical device.
    pub fn limits(&self) -> vk::PhysicalDeviceLimits {
        // SAFETY: the physical device is of this instance.
        unsafe { self.instance.get_physical_device_properties(self.physical) }.limits
    }

    pub(crate) fn runs_on_the_cpu(&self) -> bool {
        // SAFETY: the physical device is of this instance.
        let about = unsafe { self.instance.get_physical_device_properties(self.physical) };
        about.device_type == vk::PhysicalDeviceType::CPU
    }

    /// Returns the device.
    pub fn device(&self) -> &ash::Device {
        &self.device
    }

    /// Maps the code of a failed call to an error.
    pub fn failed(&self, operation: &'static str) -> impl FnOnce(vk::Result) -> Error + use<> {
        failure(operation, &self.name)
    }

    /// Returns an error for something that the device does not support.
    pub fn unsupported(&self, reason: impl Into<String>) -> Error {
        Error::unsupported(&self.name, reason)
    }

    /// Reports whether the device shares memory by handles of the operating system.
    pub fn shares_memory(&self) -> Support {
        enabled(self.memory.is_some(), MEMORY_EXTENSION)
    }

    pub(crate) fn memory_functions(&self) -> Result<&MemoryFns> {
        self.memory.as_ref().ok_or_else(|| self.unsupported(missing(MEMORY_EXTENSION)))
    }

    /// Returns an error for an object of another device.
    pub(crate) fn check_own(&self, device: &ash::Device, object: &'static str) -> Result<()> {
        match device.handle() == self.device.handle() {
            true => Ok(()),
            false => Err(Error::Foreign { operation: "", object, device: self.name.clone() }),
        }
    }

    /// Returns the first memory type that fits and satisfies `wanted`. The driver lists the best types first.
    pub fn memory_type(&self, fits: u32, wanted: impl Fn(vk::MemoryPropertyFlags) -> bool) -> Option<u32> {
        // SAFETY: the physical device is of this instance.
        let types = unsafe { self.instance.get_physical_device_memory_properties(self.physical) };
        let mut listed = (0u32..).zip(types.memory_types_as_slice());
        listed.find_map(|(i, kind)| (fits & (1 << i) != 0 && wanted(kind.property_flags)).then_some(i))
    }
}

/// Reports whether a device has an extension: only those that were enabled at its creation count.
pub fn enabled(is: bool, extension: &CStr) -> Support {
    Support::when(is, missing(extension))
}

pub(crate) fn missing(extension: &CStr) -> String {
    let name = extension.to_string_lossy();
    format!("the device was made without {name}: the driver does not list it, or the engine did not enable it")
}
