//! Vulkan's end of a wgpu device: memory and semaphores that wgpu itself does not share.
//!
//! All of wgpu-hal's and ash's `unsafe` is in this module. What is made here goes to wgpu as buffers and textures of its
//! own, which say when nothing reads them any more.

mod buffer;
mod create;
mod exported;
mod image;
mod open;
#[cfg(feature = "compute")]
mod opener;
mod pending_frees;
mod semaphore;

pub(crate) use exported::Exported;
pub use open::add_device_extensions;
pub(crate) use open::{extensions, ids, open};
#[cfg(feature = "compute")]
pub(crate) use opener::Opener;
pub(crate) use semaphore::QueueSemaphore;

use crate::context::caps::Sharing as Shares;
use interop_core::{DeviceIdentity, RawMemory, Result, Support};
use pending_frees::PendingFrees;
use pixelferry_vulkan::sharing::Sharing;
use std::ffi::CStr;

/// wgpu-hal's name for it.
pub(crate) type Api = wgpu::hal::api::Vulkan;

/// The buffer by Vulkan's names; `None` where another API drives the device.
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

/// Functions of one device, which lives as long as the `wgpu::Device` that is kept beside this.
pub(crate) struct Vulkan {
    pub(crate) sharing: Sharing,
    pending_frees: PendingFrees,
}

/// A device's functions for sharing; `None` where another API drives it. They are used while the device is kept.
fn sharing_of(device: &wgpu::Device, identity: &DeviceIdentity) -> Option<Sharing> {
    // SAFETY: nothing of the guard's is destroyed; the copies of function tables are used while the device is kept.
    let hal = unsafe { device.as_hal::<Api>() }?;
    let raw = hal.raw_device().clone();
    let instance = hal.shared_instance().raw_instance().clone();
    let physical = hal.raw_physical_device();
    let enabled = hal.enabled_device_extensions();
    let has = |name: &CStr| enabled.contains(&name);
    // wgpu-hal switches the feature on wherever it exists: its own fences are such semaphores.
    // SAFETY: the physical device is of this instance, of Vulkan 1.1 as wgpu-hal demands.
    let timeline = unsafe { Sharing::timelines(&instance, physical) };
    // SAFETY: all three belong together and live as long as the `wgpu::Device`; what is made of them goes to it, or is
    // kept beside it.
    Some(unsafe { Sharing::new(instance, physical, raw, has, timeline, identity.to_string()) })
}

impl Vulkan {
    pub(crate) const ABSENT: &str = "the device is not driven by Vulkan, by which memory is shared";

    /// Vulkan's end of a device; `None` where another API drives it.
    pub(crate) fn of(device: &wgpu::Device, identity: &DeviceIdentity) -> Option<Self> {
        Some(Self { sharing: sharing_of(device, identity)?, pending_frees: PendingFrees::default() })
    }

    /// Returns what it adds.
    pub(crate) fn sharing(&self) -> Shares {
        Shares {
            imports: self.sharing.imports(),
            exports: self.sharing.exports(),
            semaphores: self.sharing.semaphores(),
            persistent: Support::Yes,
        }
    }

    /// Records that the host sees what was written before, and nothing else into a new encoder: wgpu does so for memory alone that
    /// it maps itself.
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

    /// Frees the pages of the host that it read, once `wait` has waited for the device.
    pub(crate) fn take_back(&self, wait: impl FnOnce() -> Result<()>) {
        self.pending_frees.take_back(wait);
    }
}
