//! An engine's Vulkan objects, as arguments of the display.

use crate::queue::queue_lock::QueueLock;
use ash::vk;
use std::any::Any;
use std::ffi::{CStr, CString, c_void};
use std::mem::transmute;

/// An engine's objects, for [`crate::VulkanDisplay::from_engine`]: handles of ash, or raw handles of any other binding.
pub struct VulkanEngine {
    pub(crate) get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
    pub(crate) instance: vk::Instance,
    pub(crate) physical: vk::PhysicalDevice,
    pub(crate) device: vk::Device,
    pub(crate) queue: vk::Queue,
    pub(crate) family: u32,
    pub(crate) lock: Box<dyn QueueLock>,
    pub(crate) extensions: Vec<CString>,
    pub(crate) timeline_semaphore: bool,
    pub(crate) storage_formats: bool,
    pub(crate) readers: Vec<u32>,
    pub(crate) keep: Option<Box<dyn Any + Send + Sync>>,
}

impl std::fmt::Debug for VulkanEngine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("VulkanEngine");
        shown.field("device", &self.device).field("queue", &self.queue).field("family", &self.family);
        shown.field("extensions", &self.extensions).field("timeline_semaphore", &self.timeline_semaphore);
        shown.finish_non_exhaustive()
    }
}

/// An engine's objects as numbers and pointers, for engines whose binding is not ash 0.38. The fields have the names
/// and values of C.
#[derive(Debug, Clone, Copy)]
pub struct RawVulkan {
    /// `PFN_vkGetInstanceProcAddr`.
    pub get_instance_proc_addr: *const c_void,
    /// `VkInstance`.
    pub instance: *mut c_void,
    /// `VkPhysicalDevice`.
    pub physical_device: *mut c_void,
    /// `VkDevice`.
    pub device: *mut c_void,
    /// `VkQueue`.
    pub queue: *mut c_void,
    /// The queue's family index.
    pub family: u32,
}

impl VulkanEngine {
    /// Wraps objects of ash 0.38. The queue belongs to the family `family`, and `lock` is held while the display
    /// submits.
    pub fn new(
        entry: &ash::Entry,
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        device: &ash::Device,
        (queue, family): (vk::Queue, u32),
        lock: impl QueueLock + 'static,
    ) -> Self {
        let get_instance_proc_addr = entry.static_fn().get_instance_proc_addr;
        Self::of(get_instance_proc_addr, (instance.handle(), physical, device.handle()), (queue, family), lock)
    }

    /// Wraps objects of another binding. Returns `None` where the function is null.
    ///
    /// # Safety
    /// The function is `vkGetInstanceProcAddr` of a loader or a driver, or null.
    pub unsafe fn from_raw(raw: &RawVulkan, lock: impl QueueLock + 'static) -> Option<Self> {
        // SAFETY: the caller's promise.
        let get_instance_proc_addr = unsafe { raw.function() }?;
        let device = (handle(raw.instance), handle(raw.physical_device), handle(raw.device));
        Some(Self::of(get_instance_proc_addr, device, (handle(raw.queue), raw.family), lock))
    }

    fn of(
        get_instance_proc_addr: vk::PFN_vkGetInstanceProcAddr,
        (instance, physical, device): (vk::Instance, vk::PhysicalDevice, vk::Device),
        (queue, family): (vk::Queue, u32),
        lock: impl QueueLock + 'static,
    ) -> Self {
        Self {
            get_instance_proc_addr,
            instance,
            physical,
            device,
            queue,
            family,
            lock: Box::new(lock),
            extensions: Vec::new(),
            timeline_semaphore: false,
            storage_formats: false,
            readers: Vec::new(),
            keep: None,
        }
    }

    /// Names the extensions that the device was created with. Extensions other than those of
    /// [`crate::device_extensions`] are ignored.
    #[must_use]
    pub fn with_extensions<'n>(mut self, names: impl IntoIterator<Item = &'n CStr>) -> Self {
        self.extensions.extend(names.into_iter().map(CStr::to_owned));
        self
    }

    /// States that the device was created with the feature `timelineSemaphore`.
    #[must_use]
    pub fn with_timeline_semaphores(self) -> Self {
        Self { timeline_semaphore: true, ..self }
    }

    /// States that the device was created with the feature `shaderStorageImageExtendedFormats`. Kernels then store to
    /// images of every format, and otherwise only to RGBA8, BGRA8, RGBA16F, R32F and RGBA32F.
    #[must_use]
    pub fn with_extended_storage_formats(self) -> Self {
        Self { storage_formats: true, ..self }
    }
}

interop_core::setters!(VulkanEngine {
    /// States that queues of these families read frames too. By default only the display's queue reads them.
    read_by(readers: impl IntoIterator<Item = u32> => readers.into_iter().collect());
    /// Hands over an owner that keeps the device alive; it is dropped after the display and all its objects.
    keeping(keep: impl Any + Send + Sync => Some(Box::new(keep)));
});

/// Makes a dispatchable handle, which is a pointer in C.
fn handle<H: vk::Handle>(pointer: *mut c_void) -> H {
    H::from_raw(pointer.expose_provenance() as u64)
}

impl RawVulkan {
    /// # Safety
    /// The promises of [`VulkanEngine::from_raw`].
    unsafe fn function(&self) -> Option<vk::PFN_vkGetInstanceProcAddr> {
        let pointer = self.get_instance_proc_addr;
        // SAFETY: the caller's promise; it is not null.
        (!pointer.is_null()).then(|| unsafe { transmute::<*const c_void, vk::PFN_vkGetInstanceProcAddr>(pointer) })
    }

    /// Loads the functions of the instance. Returns `None` where it, its function or the physical device is null.
    ///
    /// # Safety
    /// The promises of [`crate::device_extensions_raw`].
    pub(crate) unsafe fn instance_functions(&self) -> Option<(ash::Instance, vk::PhysicalDevice)> {
        if self.instance.is_null() || self.physical_device.is_null() {
            return None;
        }
        // SAFETY: the caller's promise.
        let loader = ash::StaticFn { get_instance_proc_addr: unsafe { self.function() }? };
        // SAFETY: as above.
        let instance = unsafe { ash::Instance::load(&loader, handle(self.instance)) };
        Some((instance, handle(self.physical_device)))
    }
}
