//! Vulkan objects of a wgpu device: memory and semaphores that wgpu itself does not share.
//!
//! All of wgpu-hal's and ash's `unsafe` for Vulkan is in this module. wgpu receives the objects as its own buffers and
//! textures, and reports when nothing reads them any more.

mod buffer;
mod create;
mod exported_memory;
mod image;
mod open;
#[cfg(feature = "compute")]
mod opener;
mod pending_frees;
mod semaphore;

pub(crate) use exported_memory::ExportedMemory;
pub use open::add_device_extensions;
pub(crate) use open::{extensions, ids, open};
#[cfg(feature = "compute")]
pub(crate) use opener::Opener;
pub(crate) use semaphore::QueueSemaphore;

use crate::context::caps::SharingCaps as Shares;
use interop_core::{DeviceIdentity, RawMemory, Result, Support};
use pending_frees::PendingFrees;
use pixelferry_vulkan::sharing::SharingDevice;
use std::ffi::CStr;

/// The API type of wgpu-hal.
pub(crate) type Api = wgpu::hal::api::Vulkan;

/// Returns the raw Vulkan handles of a buffer; `None` if the device's API is not Vulkan.
#[cfg_attr(not(feature = "compute"), allow(dead_code, reason = "the backend alone calls some of it"))]
pub(crate) fn raw_buffer(device: &wgpu::Device, buffer: &wgpu::Buffer) -> Option<RawMemory> {
    use ash::vk::Handle as _;
    // SAFETY: the guards destroy nothing, and only numbers leave them; what is done with those is the caller's.
    unsafe {
        let (device, buffer) = (device.as_hal::<Api>()?, buffer.as_hal::<Api>()?);
        Some(RawMemory::Vulkan {
            buffer: buffer.raw_handle().as_raw(),
            device: device.raw_device().handle().as_raw(),
            queue: device.raw_queue().as_raw(),
        })
    }
}

/// Functions of one device, which lives as long as the `wgpu::Device` that is kept with this.
pub(crate) struct Vulkan {
    pub(crate) sharing: SharingDevice,
    pending_frees: PendingFrees,
}

/// Returns a device's sharing functions; `None` if its API is not Vulkan. They must be used only while the device is
/// kept.
fn sharing_of(device: &wgpu::Device, identity: &DeviceIdentity) -> Option<SharingDevice> {
    // SAFETY: nothing of the guard's is destroyed; the copies of function tables are used while the device is kept.
    let hal = unsafe { device.as_hal::<Api>() }?;
    let raw = hal.raw_device().clone();
    let instance = hal.shared_instance().raw_instance().clone();
    let physical = hal.raw_physical_device();
    let enabled = hal.enabled_device_extensions();
    let has = |name: &CStr| enabled.contains(&name);
    // wgpu-hal enables the feature wherever it exists, because its own fences use it.
    // SAFETY: the physical device is of this instance, of Vulkan 1.1 as wgpu-hal demands.
    let timeline = unsafe { SharingDevice::timelines(&instance, physical) };
    // SAFETY: all three belong together and live as long as the `wgpu::Device`; what is made of them goes to it, or is
    // kept beside it.
    Some(unsafe { SharingDevice::new(instance, physical, raw, has, timeline, identity.to_string()) })
}

impl Vulkan {
    pub(crate) const ABSENT: &str = "the device's API is not Vulkan, which is needed for sharing memory";

    /// Opens the Vulkan objects of a device; `None` if its API is not Vulkan.
    pub(crate) fn of(device: &wgpu::Device, identity: &DeviceIdentity) -> Option<Self> {
        Some(Self { sharing: sharing_of(device, identity)?, pending_frees: PendingFrees::default() })
    }

    /// Returns the capabilities that Vulkan adds.
    pub(crate) fn sharing(&self) -> Shares {
        Shares {
            imports: self.sharing.imports(),
            exports: self.sharing.exports(),
            semaphores: self.sharing.semaphores(),
            persistent: Support::Yes,
        }
    }

    /// Records, into a new encoder, a barrier that makes earlier writes visible to the host: wgpu does so only for
    /// memory that it maps itself.
    pub(crate) fn show_host(&self, encoder: &mut wgpu::CommandEncoder) {
        use ash::vk;
        let barrier = vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::HOST_READ);
        let (from, to) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::PipelineStageFlags::HOST);
        let device = self.sharing.device();
        // SAFETY: the encoder is new, so that it records and no pass is open; its handle is used in the callback only.
        unsafe {
            encoder.as_hal_mut::<Api, _, _>(|hal| {
                if let Some(hal) = hal {
                    let none = vk::DependencyFlags::empty();
                    device.cmd_pipeline_barrier(hal.raw_handle(), from, to, none, &[barrier], &[], &[]);
                }
            });
        }
    }

    /// Frees the host pages that the device has read, once `wait` has waited for it.
    pub(crate) fn take_back(&self, wait: impl FnOnce() -> Result<()>) {
        self.pending_frees.take_back(wait);
    }
}
