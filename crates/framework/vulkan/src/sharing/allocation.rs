//! A buffer or image with memory of its own.

use crate::sharing::SharingDevice;
use crate::sharing::os::{self, MEMORY_HANDLE};
use ash::vk;
use interop_core::devices::os_handle::{self, ImportedHandle};
use interop_core::{Error, MemoryHandle, Result};
use std::ptr::NonNull;

/// The object for which memory is allocated.
#[derive(Debug, Clone, Copy)]
pub enum Object {
    /// A buffer.
    Buffer(vk::Buffer),
    /// An image.
    Image(vk::Image),
}

/// A buffer or image and its memory, destroyed when dropped; the device must still exist. Holders of a handle of the
/// memory keep the memory alive.
pub struct Allocation {
    device: ash::Device,
    object: Object,
    memory: vk::DeviceMemory,
    bytes: u64,
}

impl Allocation {
    /// Takes ownership of an object. It is destroyed with this, even if allocating its memory fails.
    ///
    /// # Safety
    /// The object belongs to this device, has no memory, and is owned by the caller. No work uses it when this is
    /// dropped.
    pub unsafe fn without_memory(sharing: &SharingDevice, object: Object) -> Self {
        // Freeing null memory has no effect.
        Self { device: sharing.device.clone(), object, memory: vk::DeviceMemory::null(), bytes: 0 }
    }

    /// Returns the object's memory requirements.
    pub fn needs(&self) -> vk::MemoryRequirements {
        // SAFETY: the object is of this device.
        unsafe {
            match self.object {
                Object::Buffer(buffer) => self.device.get_buffer_memory_requirements(buffer),
                Object::Image(image) => self.device.get_image_memory_requirements(image),
            }
        }
    }

    /// Returns the structure of a dedicated allocation.
    fn dedicated(&self) -> vk::MemoryDedicatedAllocateInfo<'static> {
        let info = vk::MemoryDedicatedAllocateInfo::default();
        match self.object {
            Object::Buffer(buffer) => info.buffer(buffer),
            Object::Image(image) => info.image(image),
        }
    }

    /// Allocates memory with `info`, and binds it.
    ///
    /// # Safety
    /// `sharing` is the one that the object was created with. It has no memory yet; size and type satisfy the object's
    /// requirements, and the structures chained to `info` are valid.
    pub unsafe fn allocate(&mut self, sharing: &SharingDevice, info: &vk::MemoryAllocateInfo<'_>) -> Result<()> {
        // SAFETY: the caller's promise; the caller's structures live through the call.
        self.memory = unsafe { self.device.allocate_memory(info, None) }.map_err(sharing.failed("vkAllocateMemory"))?;
        self.bytes = info.allocation_size;
        // SAFETY: both are of this device, the object has no memory yet and the allocation is large enough.
        unsafe {
            match self.object {
                Object::Buffer(buffer) => {
                    self.device.bind_buffer_memory(buffer, self.memory, 0).map_err(sharing.failed("vkBindBufferMemory"))
                }
                Object::Image(image) => {
                    self.device.bind_image_memory(image, self.memory, 0).map_err(sharing.failed("vkBindImageMemory"))
                }
            }
        }
    }

    /// Describes device-local memory for the object.
    fn local(&self, sharing: &SharingDevice) -> Result<vk::MemoryAllocateInfo<'static>> {
        let needs = self.needs();
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let index = sharing
            .memory_type(needs.memory_type_bits, |f| f.contains(local))
            .ok_or_else(|| sharing.unsupported("no device-local memory type supports it"))?;
        Ok(vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index))
    }

    /// Allocates device-local memory.
    pub(crate) fn allocate_local(&mut self, sharing: &SharingDevice) -> Result<()> {
        let info = self.local(sharing)?;
        // SAFETY: size and type are those that the object asked for, which has no memory yet.
        unsafe { self.allocate(sharing, &info) }
    }

    /// Allocates exportable device-local memory, dedicated to the object.
    pub(crate) fn allocate_exported(&mut self, sharing: &SharingDevice) -> Result<()> {
        let mut dedicated = self.dedicated();
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(MEMORY_HANDLE);
        let info = self.local(sharing)?.push_next(&mut dedicated).push_next(&mut export);
        // SAFETY: size and type are those that the object asked for, which was made to be exported and has no memory.
        unsafe { self.allocate(sharing, &info) }
    }

    /// Maps all of the memory, until it is freed.
    ///
    /// # Safety
    /// The memory is of a type that the host sees, and is not mapped yet.
    pub(crate) unsafe fn map(&self, sharing: &SharingDevice) -> Result<NonNull<u8>> {
        // SAFETY: the caller's promise.
        let address = unsafe { self.device.map_memory(self.memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) };
        let address = address.map_err(sharing.failed("vkMapMemory"))?;
        NonNull::new(address.cast::<u8>())
            .ok_or_else(|| sharing.failed("vkMapMemory")(vk::Result::ERROR_MEMORY_MAP_FAILED))
    }

    /// Imports memory of another device or API.
    ///
    /// # Safety
    /// `sharing` is the one that the object was created with. The object was created for external memory and has none
    /// yet.
    pub unsafe fn import(&mut self, sharing: &SharingDevice, memory: MemoryHandle) -> Result<()> {
        let (whole, dedicated) = (memory.bytes(), memory.is_dedicated());
        let needs = self.needs();
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let index = sharing
            .memory_type(needs.memory_type_bits, |f| f.contains(local))
            .filter(|_| needs.size <= whole)
            .ok_or_else(|| {
                let reason = format!("the object needs {} bytes, but the memory has {whole}", needs.size);
                sharing.unsupported(reason)
            })?;
        let mut alone = self.dedicated();
        let to_driver = ImportedHandle::new(memory.into_handle());
        let mut import = os::import(to_driver.number());
        let mut info =
            vk::MemoryAllocateInfo::default().allocation_size(whole).memory_type_index(index).push_next(&mut import);
        if dedicated {
            info = info.push_next(&mut alone);
        }
        // SAFETY: the handle is open, and memory of such a size is behind it ([`MemoryHandle::new`]).
        if let Err(error) = unsafe { self.allocate(sharing, &info) } {
            // The handle was consumed if only the binding failed.
            if self.memory == vk::DeviceMemory::null() {
                to_driver.close_if_left();
            }
            return Err(error);
        }
        Ok(())
    }

    /// Returns a new handle of the memory, which must have been allocated for export.
    ///
    /// # Errors
    /// `Unsupported` where the device was made without the extension.
    pub fn export(&self, sharing: &SharingDevice) -> Result<MemoryHandle> {
        sharing.check_own(&self.device, "memory")?;
        let functions = sharing.memory_functions()?;
        // SAFETY: the memory is of this device and was allocated to be exported.
        let raw = unsafe { os::memory_handle(functions, self.memory) }.map_err(sharing.failed(os::GET_MEMORY))?;
        // SAFETY: the handle is new and ours.
        let handle = unsafe { os_handle::own(raw) };
        let handle = handle.ok_or_else(|| sharing.failed(os::GET_MEMORY)(vk::Result::ERROR_UNKNOWN))?;
        // SAFETY: Vulkan made it of this allocation, which is of so many bytes and for the object alone.
        Ok(unsafe { MemoryHandle::new(handle, self.bytes, true) })
    }

    /// Returns the object of the memory.
    pub fn object(&self) -> Object {
        self.object
    }

    /// Returns the buffer of the memory.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for the memory of an image.
    pub fn buffer(&self) -> Result<vk::Buffer> {
        match self.object {
            Object::Buffer(buffer) => Ok(buffer),
            Object::Image(_) => Err(Error::refused("the object is an image, not a buffer")),
        }
    }

    /// Returns the memory; null before it is allocated.
    pub fn memory(&self) -> vk::DeviceMemory {
        self.memory
    }

    /// Returns the size of the whole allocation in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // SAFETY: both were made once of this device, which is alive; no work is left that uses them.
        unsafe {
            match self.object {
                Object::Buffer(buffer) => self.device.destroy_buffer(buffer, None),
                Object::Image(image) => self.device.destroy_image(image, None),
            }
            self.device.free_memory(self.memory, None);
        }
    }
}
