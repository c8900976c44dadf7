//! Vulkan's objects, which Python represents by numbers. This code relies on what the stubs require of programs.

use crate::failure::Failure;
use pixelferry::api::cuda::CudaBackend;
use pixelferry::api::vulkan::ash::vk::{self, Handle as _};
use pixelferry::api::vulkan::sharing::loader;
use pixelferry::api::vulkan::{EngineImage, RawVulkan, VulkanDisplay, VulkanEngine, device_extensions_raw};
use pixelferry::driver::{MemoryHandle, OsHandle, SemaphoreHandle};
use pixelferry::{Display, Extent, Surface, SyncKind};
use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::Arc;

/// Memory behind a descriptor.
pub fn memory(handle: OsHandle, bytes: u64, dedicated: bool) -> MemoryHandle {
    // SAFETY: the program promises all three; drivers on the CPU check them, too.
    unsafe { MemoryHandle::new(handle, bytes, dedicated) }
}

/// A semaphore behind a descriptor.
pub fn semaphore(handle: OsHandle, kind: SyncKind) -> SemaphoreHandle {
    // SAFETY: the program promises both.
    unsafe { SemaphoreHandle::new(handle, kind) }
}

/// Makes a stream of the program wait for the backend's queued work.
pub fn lead(backend: &CudaBackend, stream: usize) -> Result<(), Failure> {
    // SAFETY: 1, 2, or a live stream of the device, as the program promises.
    Ok(unsafe { backend.lead_stream(stream) }?)
}

/// Makes the backend's stream wait for queued work of one of the program's.
pub fn follow(backend: &CudaBackend, stream: usize) -> Result<(), Failure> {
    // SAFETY: as above.
    Ok(unsafe { backend.follow_stream(stream) }?)
}

/// A device of the program, with its instance and a queue.
#[derive(Clone)]
pub struct Device {
    pub instance: u64,
    pub physical: u64,
    pub device: u64,
    pub queue: u64,
    pub family: u32,
    pub extensions: Vec<CString>,
    pub timeline: bool,
}

impl Device {
    fn raw(&self) -> Result<RawVulkan, Failure> {
        let entry = loader().map_err(|why| Failure::Device(format!("cannot load Vulkan: {why}")))?;
        let pointer = |number: u64| ptr::with_exposed_provenance_mut::<c_void>(number as usize);
        Ok(RawVulkan {
            get_instance_proc_addr: entry.static_fn().get_instance_proc_addr as *const c_void,
            instance: pointer(self.instance),
            physical_device: pointer(self.physical),
            device: pointer(self.device),
            queue: pointer(self.queue),
            family: self.family,
        })
    }

    /// Names of extensions to enable when the device is made, and whether timeline semaphores must be enabled.
    pub fn needs(&self) -> Result<(Vec<String>, bool), Failure> {
        // SAFETY: null is refused; otherwise the program promises that the handles are valid and belong together.
        let needs = unsafe { device_extensions_raw(&self.raw()?) }?;
        let names = needs.names().iter().map(|name| name.to_string_lossy().into_owned()).collect();
        Ok((names, needs.timeline_semaphore))
    }

    /// Opens a display on the device. It stays on this thread.
    pub fn display(&self) -> Result<Arc<dyn Display>, Failure> {
        // SAFETY: the function comes from the loader.
        let engine = unsafe { VulkanEngine::from_raw(&self.raw()?, ()) };
        let engine = engine.ok_or_else(|| Failure::Device("the Vulkan loader lacks vkGetInstanceProcAddr".into()))?;
        let engine = engine.with_extensions(self.extensions.iter().map(CString::as_c_str));
        let engine = if self.timeline { engine.with_timeline_semaphores() } else { engine };
        // SAFETY: as above; the program closes what it made here before it destroys its device, and uses the queue on
        // one thread at a time.
        Ok(unsafe { VulkanDisplay::from_engine(engine) }?)
    }
}

/// An image of the program.
#[derive(Clone, Copy)]
pub struct Image {
    pub image: u64,
    pub format: i32,
    pub size: (u32, u32),
    pub usage: u32,
    pub layout: i32,
}

impl Image {
    /// Opens the image as a surface of a display from [`Device::display`].
    pub fn opened(&self, display: &Arc<dyn Display>) -> Result<Surface, Failure> {
        let vulkan = display.downcast_ref::<VulkanDisplay>();
        let vulkan = vulkan.ok_or_else(|| Failure::Device("the display does not use Vulkan".into()))?;
        let image = EngineImage {
            image: vk::Image::from_raw(self.image),
            format: vk::Format::from_raw(self.format),
            extent: Extent::new(self.size.0, self.size.1),
            usage: vk::ImageUsageFlags::from_raw(self.usage),
            layout: vk::ImageLayout::from_raw(self.layout),
        };
        // SAFETY: null is refused; otherwise the program promises that the image is as described, and lives until what
        // it made here is closed.
        Ok(unsafe { vulkan.engine_image(&image) }?)
    }
}
