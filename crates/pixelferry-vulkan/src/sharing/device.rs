//! A device's functions for sharing.

use crate::sharing::failure;
use crate::sharing::memory_host::MemoryHost;
use crate::sharing::os::{MEMORY_EXTENSION, MemoryFns, SEMAPHORE_EXTENSION, SemaphoreFns};
use ash::vk;
use interop_core::{Error, Result, Support};
use std::ffi::CStr;

/// Functions of one device, which is somebody else's.
pub struct Sharing {
    pub(crate) device: ash::Device,
    pub(crate) instance: ash::Instance,
    pub(crate) physical: vk::PhysicalDevice,
    /// Each where the device was made with its extension.
    pub(crate) memory: Option<MemoryFns>,
    pub(crate) semaphore: Option<SemaphoreFns>,
    pub(crate) memory_host: Option<MemoryHost>,
    pub(crate) timeline: bool,
    /// Families of queues that use what is made; none where whoever uses it keeps to one.
    pub(crate) families: Vec<u32>,
    name: String,
}

impl Sharing {
    /// `has` says which extensions the device was made with, `timeline` whether with semaphores that count. Errors are of
    /// the device `name`.
    ///
    /// # Safety
    /// The device is of the physical device and that of the instance, both of Vulkan 1.1 or later. They outlive this and
    /// all that it makes. What is said of the device is so.
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

    /// For queues of all these families, which are different ones of the device.
    #[must_use]
    pub fn for_families(self, families: Vec<u32>) -> Self {
        Self { families, ..self }
    }

    /// Returns what says so to Vulkan: one family, or none that is named, needs no word.
    pub(crate) fn shared_by(&self) -> (vk::SharingMode, &[u32]) {
        match self.families.as_slice() {
            all @ [_, _, ..] => (vk::SharingMode::CONCURRENT, all),
            _ => (vk::SharingMode::EXCLUSIVE, &[]),
        }
    }

    /// True where the device was made with semaphores that count.
    pub fn counts(&self) -> bool {
        self.timeline
    }

    /// Limits of the physical device.
    pub fn limits(&self) -> vk::PhysicalDeviceLimits {
        // SAFETY: the physical device is of this instance.
        unsafe { self.instance.get_physical_device_properties(self.physical) }.limits
    }

    pub(crate) fn runs_on_the_cpu(&self) -> bool {
        // SAFETY: the physical device is of this instance.
        let about = unsafe { self.instance.get_physical_device_properties(self.physical) };
        about.device_type == vk::PhysicalDeviceType::CPU
    }

    /// The device.
    pub fn device(&self) -> &ash::Device {
        &self.device
    }

    /// A failed call as an error.
    pub fn failed(&self, operation: &'static str) -> impl FnOnce(vk::Result) -> Error + use<> {
        failure(operation, &self.name)
    }

    /// Returns what the device cannot do.
    pub fn unsupported(&self, reason: impl Into<String>) -> Error {
        Error::unsupported(&self.name, reason)
    }

    /// Tells whether memory crosses by handles of the operating system.
    pub fn shares_memory(&self) -> Support {
        enabled(self.memory.is_some(), MEMORY_EXTENSION)
    }

    pub(crate) fn memory_functions(&self) -> Result<&MemoryFns> {
        self.memory.as_ref().ok_or_else(|| self.unsupported(missing(MEMORY_EXTENSION)))
    }

    /// Refuses what was made of another device.
    pub(crate) fn check_own(&self, device: &ash::Device, object: &'static str) -> Result<()> {
        match device.handle() == self.device.handle() {
            true => Ok(()),
            false => Err(Error::Foreign { operation: "", object, device: self.name.clone() }),
        }
    }

    /// The first type of memory that fits and has `wanted`, in the driver's order, which is the best first.
    pub fn memory_type(&self, fits: u32, wanted: impl Fn(vk::MemoryPropertyFlags) -> bool) -> Option<u32> {
        // SAFETY: the physical device is of this instance.
        let types = unsafe { self.instance.get_physical_device_memory_properties(self.physical) };
        let mut listed = (0u32..).zip(types.memory_types_as_slice());
        listed.find_map(|(i, kind)| (fits & (1 << i) != 0 && wanted(kind.property_flags)).then_some(i))
    }
}

/// Tells whether a device has an extension: only those that were switched on when it was made.
pub fn enabled(is: bool, extension: &CStr) -> Support {
    Support::when(is, missing(extension))
}

pub(crate) fn missing(extension: &CStr) -> String {
    let name = extension.to_string_lossy();
    format!("the device was made without {name}: the driver does not list it, or the engine did not ask")
}
