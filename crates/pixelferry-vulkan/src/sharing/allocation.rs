//! A buffer or image with memory of its own.

use crate::sharing::Sharing;
use crate::sharing::os::{self, MEMORY_HANDLE};
use ash::vk;
use interop_core::devices::os_handle::{self, ImportedHandle};
use interop_core::{Error, MemoryHandle, Result};

/// Object that the memory is for.
#[derive(Debug, Clone, Copy)]
pub enum Object {
    /// A buffer.
    Buffer(vk::Buffer),
    /// An image.
    Image(vk::Image),
}

/// Destroyed when dropped, while its device exists. Those who opened a handle of the memory keep it after that.
pub struct Allocation {
    device: ash::Device,
    object: Object,
    memory: vk::DeviceMemory,
    bytes: u64,
}

impl Allocation {
    /// Takes the object, which is destroyed with this even if it gets no memory.
    ///
    /// # Safety
    /// The object is of this device, has no memory, and is the caller's to give. Nothing uses it when this is dropped.
    pub unsafe fn without_memory(sharing: &Sharing, object: Object) -> Self {
        // Freeing memory that is null does nothing.
        Self { device: sharing.device.clone(), object, memory: vk::DeviceMemory::null(), bytes: 0 }
    }

    /// Returns what the object asks of memory.
    pub fn needs(&self) -> vk::MemoryRequirements {
        // SAFETY: the object is of this device.
        unsafe {
            match self.object {
                Object::Buffer(buffer) => self.device.get_buffer_memory_requirements(buffer),
                Object::Image(image) => self.device.get_image_memory_requirements(image),
            }
        }
    }

    /// For an allocation for the object alone.
    fn dedicated(&self) -> vk::MemoryDedicatedAllocateInfo<'static> {
        let info = vk::MemoryDedicatedAllocateInfo::default();
        match self.object {
            Object::Buffer(buffer) => info.buffer(buffer),
            Object::Image(image) => info.image(image),
        }
    }

    /// Allocates as `info` says, and binds.
    ///
    /// # Safety
    /// `sharing` is what the object was made with. There is no memory yet; size and type are such as the object asks for, and what the list names is as it says.
    pub unsafe fn allocate(&mut self, sharing: &Sharing, info: &vk::MemoryAllocateInfo<'_>) -> Result<()> {
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

    /// Allocates of the GPU's own memory.
    pub(crate) fn allocate_local(&mut self, sharing: &Sharing) -> Result<()> {
        let needs = self.needs();
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let index = sharing
            .memory_type(needs.memory_type_bits, |f| f.contains(local))
            .ok_or_else(|| sharing.unsupported("no memory of the GPU's own holds it"))?;
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
        // SAFETY: size and type are those that the object asked for, which has no memory yet.
        unsafe { self.allocate(sharing, &info) }
    }

    /// Allocates of the GPU's own memory, for the object alone, what others can open.
    pub(crate) fn allocate_exported(&mut self, sharing: &Sharing) -> Result<()> {
        let needs = self.needs();
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let index = sharing
            .memory_type(needs.memory_type_bits, |f| f.contains(local))
            .ok_or_else(|| sharing.unsupported("no memory of the GPU's own holds it"))?;
        let mut dedicated = self.dedicated();
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(MEMORY_HANDLE);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(index)
            .push_next(&mut dedicated)
            .push_next(&mut export);
        // SAFETY: size and type are those that the object asked for, which was made to be exported and has no memory.
        unsafe { self.allocate(sharing, &info) }
    }

    /// Opens memory of others.
    ///
    /// # Safety
    /// `sharing` is what the object was made with. It was made to lie in memory of others and has none yet.
    pub unsafe fn import(&mut self, sharing: &Sharing, memory: MemoryHandle) -> Result<()> {
        let (whole, dedicated) = (memory.bytes(), memory.is_dedicated());
        let needs = self.needs();
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let index = sharing
            .memory_type(needs.memory_type_bits, |f| f.contains(local))
            .filter(|_| needs.size <= whole)
            .ok_or_else(|| {
                let reason = format!("what takes {} bytes does not lie in {whole} bytes", needs.size);
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
            // Taken along with the memory, where it was only the binding that failed.
            if self.memory == vk::DeviceMemory::null() {
                to_driver.close_if_left();
            }
            return Err(error);
        }
        Ok(())
    }

    /// A new handle of memory that was made to be exported.
    ///
    /// # Errors
    /// `Unsupported` where the device was made without the extension.
    pub fn export(&self, sharing: &Sharing) -> Result<MemoryHandle> {
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

    /// Returns what the memory is for.
    pub fn object(&self) -> Object {
        self.object
    }

    /// The buffer that the memory is for.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where it is for an image.
    pub fn buffer(&self) -> Result<vk::Buffer> {
        match self.object {
            Object::Buffer(buffer) => Ok(buffer),
            Object::Image(_) => Err(Error::refused("an image is no buffer")),
        }
    }

    /// The memory; null before there is any.
    pub fn memory(&self) -> vk::DeviceMemory {
        self.memory
    }

    /// Bytes of the whole allocation.
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
