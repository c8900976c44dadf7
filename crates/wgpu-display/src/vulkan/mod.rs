//! Vulkan's end of a wgpu device: memory and semaphores that wgpu itself does not share.
//!
//! All of wgpu-hal's and ash's `unsafe` is in this module. What is made here goes to wgpu as buffers and textures of its
//! own, which say when nothing reads them any more.

mod buffer;
mod create;
mod exported;
mod image;
mod open;
mod pending_frees;
mod ptx;
mod semaphore;

pub(crate) use exported::Exported;
pub(crate) use open::{ids, open};
pub(crate) use ptx::{Loaded, PtxSide};

use crate::caps::Sharing as Shares;
use ash::{ext, vk};
use interop_core::{DeviceIdentity, HandleType, MemoryCap, MemoryShape, Result, SemaphoreCap, Support, SyncKind};
use pending_frees::PendingFrees;
use std::ffi::CStr;
use vulkan_sharing::{Sharing, enabled};

/// wgpu-hal's name for it.
pub(crate) type Api = wgpu::hal::api::Vulkan;

/// Functions of one device, which lives as long as the `wgpu::Device` that is kept beside this.
pub(crate) struct Vulkan {
    sharing: Sharing,
    /// Where the device was made with the extension.
    memory_host: Option<MemoryHost>,
    pending_frees: PendingFrees,
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
        let memory_host = has(ext::external_memory_host::NAME).then(|| {
            let functions = ext::external_memory_host::Device::new(&instance, &raw);
            MemoryHost { functions, alignment }
        });
        // wgpu-hal switches the feature on wherever it exists: its own fences are such semaphores.
        let timeline = counters.timeline_semaphore == vk::TRUE;
        // SAFETY: all three belong together and live as long as the `wgpu::Device`; what is made of them goes to it, or is
        // kept beside it.
        let sharing = unsafe { Sharing::new(instance, physical, raw, has, timeline, identity.to_string()) };
        Some(Self { sharing, memory_host, pending_frees: PendingFrees::default() })
    }

    /// What it adds.
    pub(crate) fn sharing(&self) -> Shares {
        Shares {
            imports: self.imports(),
            exports: self.exports(),
            semaphores: self.semaphores(),
            persistent: Support::Yes,
        }
    }

    /// Frees the pages of the host that it read, once `wait` has waited for the device.
    pub(crate) fn take_back(&self, wait: impl FnOnce() -> Result<()>) {
        self.pending_frees.take_back(wait);
    }

    /// Memory of others that it can read.
    fn imports(&self) -> Vec<MemoryCap> {
        let alignment = self.memory_host.as_ref().map_or(1, |host| host.alignment);
        let host = enabled(self.memory_host.is_some(), ext::external_memory_host::NAME);
        vec![
            MemoryCap::new(HandleType::HostPointer, MemoryShape::Linear, host).aligned(alignment, alignment),
            MemoryCap::new(HandleType::OPAQUE, MemoryShape::Linear, self.sharing.shares_memory()),
            MemoryCap::new(
                HandleType::OPAQUE,
                MemoryShape::Image,
                Support::No("how another API lays an image out is not known; it makes images that others open".into()),
            ),
        ]
    }

    /// Memory of its own that others can open.
    fn exports(&self) -> Vec<MemoryCap> {
        vec![
            // What `vkMapMemory` gives is aligned at least so (`minMemoryMapAlignment`, required limits).
            MemoryCap::new(HandleType::HostPointer, MemoryShape::Linear, Support::Yes).aligned(64, 1),
            MemoryCap::new(HandleType::OPAQUE, MemoryShape::Linear, self.sharing.shares_memory()),
            MemoryCap::new(HandleType::OPAQUE, MemoryShape::Image, self.sharing.shares_memory()),
        ]
    }

    fn semaphores(&self) -> Vec<SemaphoreCap> {
        let support = |kind| SemaphoreCap { kind, support: self.sharing.exports_semaphores(kind) };
        vec![support(SyncKind::BinarySemaphore), support(SyncKind::TimelineSemaphore)]
    }
}
