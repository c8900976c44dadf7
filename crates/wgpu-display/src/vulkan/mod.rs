//! Vulkan's end of a wgpu device: memory and semaphores that wgpu itself does not share.
//!
//! All of wgpu-hal's and ash's `unsafe` is in this module. What is made here goes to wgpu as buffers and textures of its
//! own, which say when nothing reads them any more.

mod allocation;
mod buffer;
mod image;
mod open;
mod semaphore;

pub(crate) use allocation::Exported;
pub(crate) use open::{open, uuid};
pub(crate) use semaphore::WgpuSemaphore;

use ash::{ext, khr, vk};
use interop_core::{
    DeviceIdentity, DriverError, Error, HandleType, MemoryCap, MemoryShape, SemaphoreCap, Support, SyncKind,
};
use std::ffi::CStr;

/// wgpu-hal's name for it.
pub(crate) type Api = wgpu::hal::api::Vulkan;

/// The handle types of descriptors.
const OPAQUE_MEMORY: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
const OPAQUE_SEMAPHORE: vk::ExternalSemaphoreHandleTypeFlags = vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD;

/// Functions of one device, which lives as long as the `wgpu::Device` that is kept beside this.
pub(crate) struct Vulkan {
    device: ash::Device,
    instance: ash::Instance,
    physical: vk::PhysicalDevice,
    /// Each where the device was made with its extension.
    memory_fd: Option<khr::external_memory_fd::Device>,
    memory_host: Option<MemoryHost>,
    semaphore_fd: Option<khr::external_semaphore_fd::Device>,
    timeline: bool,
    identity: DeviceIdentity,
}

/// `VK_EXT_external_memory_host`.
struct MemoryHost {
    functions: ext::external_memory_host::Device,
    /// Addresses and sizes are multiples of this.
    alignment: usize,
}

impl Vulkan {
    pub(crate) const ABSENT: &str = "the device is not driven by Vulkan, by which memory is shared";

    /// Vulkan's end of a device; `None` where another API drives it.
    pub(crate) fn of(device: &wgpu::Device, identity: &DeviceIdentity) -> Option<Self> {
        // SAFETY: nothing of the guard's is destroyed; the copies of function tables are used while the device is kept.
        let hal = unsafe { device.as_hal::<Api>() }?;
        let raw = hal.raw_device().clone();
        let instance = hal.shared_instance().raw_instance().clone();
        let physical = hal.raw_physical_device();
        let enabled = hal.enabled_device_extensions();
        let has = |name: &CStr| enabled.contains(&name);
        let mut counters = vk::PhysicalDeviceTimelineSemaphoreFeatures::default();
        let mut host = vk::PhysicalDeviceExternalMemoryHostPropertiesEXT::default();
        // SAFETY: the physical device is of this instance; the structures live through the calls, and a driver that does
        // not know one of them leaves it as it is.
        unsafe {
            let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut counters);
            instance.get_physical_device_features2(physical, &mut features);
            let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut host);
            instance.get_physical_device_properties2(physical, &mut properties);
        }
        let alignment = usize::try_from(host.min_imported_host_pointer_alignment).unwrap_or(usize::MAX).max(1);
        Some(Self {
            memory_fd: has(khr::external_memory_fd::NAME)
                .then(|| khr::external_memory_fd::Device::new(&instance, &raw)),
            memory_host: has(ext::external_memory_host::NAME).then(|| {
                let functions = ext::external_memory_host::Device::new(&instance, &raw);
                MemoryHost { functions, alignment }
            }),
            semaphore_fd: has(khr::external_semaphore_fd::NAME)
                .then(|| khr::external_semaphore_fd::Device::new(&instance, &raw)),
            // wgpu-hal switches the feature on wherever it exists: its own fences are such semaphores.
            timeline: counters.timeline_semaphore == vk::TRUE,
            device: raw,
            instance,
            physical,
            identity: identity.clone(),
        })
    }

    /// Memory of others that it can read.
    pub(crate) fn imports(&self) -> Vec<MemoryCap> {
        let alignment = self.memory_host.as_ref().map_or(1, |host| host.alignment);
        let host = enabled(self.memory_host.is_some(), ext::external_memory_host::NAME);
        vec![
            MemoryCap::new(HandleType::HostPointer, MemoryShape::Linear, host).aligned(alignment, alignment),
            MemoryCap::new(HandleType::OpaqueFd, MemoryShape::Linear, self.descriptors()),
            MemoryCap::new(
                HandleType::OpaqueFd,
                MemoryShape::Image,
                Support::No("how another API lays an image out is not known; it makes images that others open".into()),
            ),
        ]
    }

    /// Memory of its own that others can open.
    pub(crate) fn exports(&self) -> Vec<MemoryCap> {
        vec![
            // What `vkMapMemory` gives is aligned at least so (`minMemoryMapAlignment`, required limits).
            MemoryCap::new(HandleType::HostPointer, MemoryShape::Linear, Support::Yes).aligned(64, 1),
            MemoryCap::new(HandleType::OpaqueFd, MemoryShape::Linear, self.descriptors()),
            MemoryCap::new(HandleType::OpaqueFd, MemoryShape::Image, self.descriptors()),
        ]
    }

    pub(crate) fn semaphores(&self) -> Vec<SemaphoreCap> {
        let support = |kind| SemaphoreCap { kind, support: self.can_make(kind) };
        vec![support(SyncKind::BinarySemaphore), support(SyncKind::TimelineSemaphore)]
    }

    fn descriptors(&self) -> Support {
        enabled(self.memory_fd.is_some(), khr::external_memory_fd::NAME)
    }

    /// A failed call as an error.
    fn failed(&self, operation: &'static str) -> impl FnOnce(vk::Result) -> Error {
        failure(operation, &self.identity)
    }

    fn unsupported(&self, operation: &'static str, reason: impl Into<String>) -> Error {
        Error::Unsupported { operation, device: self.identity.to_string(), reason: reason.into() }
    }

    /// The first type of memory that fits and has `wanted`, in the driver's order, which is the best first.
    fn memory_type(&self, fits: u32, wanted: impl Fn(vk::MemoryPropertyFlags) -> bool) -> Option<u32> {
        // SAFETY: the physical device is of this instance.
        let types = unsafe { self.instance.get_physical_device_memory_properties(self.physical) };
        let mut listed = (0u32..).zip(types.memory_types_as_slice());
        listed.find_map(|(i, kind)| (fits & (1 << i) != 0 && wanted(kind.property_flags)).then_some(i))
    }
}

/// An engine's device has only what the engine switched on.
fn enabled(is: bool, extension: &CStr) -> Support {
    let name = extension.to_string_lossy();
    Support::when(
        is,
        format!("the device was made without {name}: the driver does not list it, or the engine did not ask"),
    )
}

fn failure(operation: &'static str, identity: &DeviceIdentity) -> impl FnOnce(vk::Result) -> Error {
    let device = identity.to_string();
    move |code| {
        let hint = match code {
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
                "Use a smaller surface or fewer slots, or close other programs that use the GPU."
            }
            vk::Result::ERROR_INVALID_EXTERNAL_HANDLE => {
                "The handle must be of memory that this very GPU can open; use another path otherwise."
            }
            vk::Result::ERROR_DEVICE_LOST => "The driver was reset; make a new device, display and links.",
            _ => "",
        };
        let (code, code_name) = (i64::from(code.as_raw()), format!("VK_{code:?}"));
        DriverError { operation, device, code, code_name, hint: hint.to_owned() }.into()
    }
}
