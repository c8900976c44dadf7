//! Buffers: linear memory.

use crate::sharing::os::MEMORY_HANDLE;
use crate::sharing::{Allocation, Object, SharingDevice};
use ash::vk;
use interop_core::{Error, MemoryHandle, Result, SharedHandle};
use std::ptr::NonNull;

/// A margin: llvmpipe's OpenGL, which opens memory of lavapipe, uses bytes behind a buffer.
const PADDING: u64 = 256;

impl SharingDevice {
    /// Creates a buffer of `bytes` (more than 0) without memory; `external` if its memory will be another device's or
    /// API's.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn buffer(
        &self,
        bytes: u64,
        usage: vk::BufferUsageFlags,
        external: Option<vk::ExternalMemoryHandleTypeFlags>,
    ) -> Result<Allocation> {
        let mut kind = vk::ExternalMemoryBufferCreateInfo::default().handle_types(external.unwrap_or_default());
        let (mode, families) = self.shared_by();
        let mut info =
            vk::BufferCreateInfo::default().size(bytes).usage(usage).sharing_mode(mode).queue_family_indices(families);
        if external.is_some() {
            info = info.push_next(&mut kind);
        }
        // SAFETY: the structures live through the call.
        let buffer = unsafe { self.device.create_buffer(&info, None) }.map_err(self.failed("vkCreateBuffer"))?;
        // SAFETY: the buffer is new, of this device, and has no memory.
        Ok(unsafe { Allocation::without_memory(self, Object::Buffer(buffer)) })
    }

    /// Returns the driver's features for such buffers in memory that is shared by handle.
    pub(crate) fn buffer_features(&self, usage: vk::BufferUsageFlags) -> vk::ExternalMemoryFeatureFlags {
        let question = vk::PhysicalDeviceExternalBufferInfo::default().usage(usage).handle_type(MEMORY_HANDLE);
        let mut answer = vk::ExternalBufferProperties::default();
        // SAFETY: the physical device is of this instance and of Vulkan 1.1; the structures live through the call.
        unsafe {
            self.instance.get_physical_device_external_buffer_properties(self.physical, &question, &mut answer);
        }
        answer.external_memory_properties.external_memory_features
    }

    /// Creates a buffer of `bytes` (more than 0) with a dedicated, exportable allocation. The content is undefined.
    ///
    /// # Errors
    /// `Unsupported` where the driver cannot export buffers.
    pub fn exported_buffer(&self, bytes: u64, usage: vk::BufferUsageFlags) -> Result<Allocation> {
        self.memory_functions()?;
        let features = self.buffer_features(usage);
        if !features.contains(vk::ExternalMemoryFeatureFlags::EXPORTABLE) {
            return Err(self.unsupported("the driver cannot export buffers by handle"));
        }
        let room = if self.runs_on_the_cpu() { bytes.saturating_add(PADDING) } else { bytes };
        let mut made = self.buffer(room, usage, Some(MEMORY_HANDLE))?;
        made.allocate_exported(self)?;
        Ok(made)
    }

    /// Creates a buffer of `bytes` (more than 0) in device-local memory, for this device alone. The content is
    /// undefined.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn local_buffer(&self, bytes: u64, usage: vk::BufferUsageFlags) -> Result<Allocation> {
        let mut made = self.buffer(bytes, usage, None)?;
        made.allocate_local(self)?;
        Ok(made)
    }

    /// Creates a buffer of `bytes` (more than 0) that stays mapped, coherent and initially zero. Also returns its
    /// address, which is valid as long as the allocation.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn mapped_buffer(&self, bytes: u64, usage: vk::BufferUsageFlags) -> Result<(Allocation, NonNull<u8>)> {
        use vk::MemoryPropertyFlags as Flags;
        let len = usize::try_from(bytes).map_err(|_| Error::refused(format!("{bytes} bytes cannot be addressed")))?;
        let mut made = self.buffer(bytes, usage, None)?;
        let needs = made.needs();
        let coherent = Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
        let cached = coherent | Flags::HOST_CACHED;
        // Compute devices read there too, and are slow where the memory is not cached.
        let index = self
            .memory_type(needs.memory_type_bits, |f| f.contains(cached))
            .or_else(|| self.memory_type(needs.memory_type_bits, |f| f.contains(coherent)))
            .ok_or_else(|| self.unsupported("no host-coherent memory type supports a buffer"))?;
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
        // SAFETY: size and type are those that the buffer asked for, which has no memory yet.
        unsafe { made.allocate(self, &info) }?;
        // SAFETY: the memory is of a type that the host sees, and is not mapped yet.
        let address = unsafe { made.map(self) }?;
        // SAFETY: `needs.size`, at least `bytes`, are mapped there, which nobody else knows of yet.
        unsafe { address.write_bytes(0, len) };
        Ok((made, address))
    }

    /// Imports the first `bytes` (more than 0) of another device's or API's memory as a buffer. If the memory is
    /// dedicated to one buffer, the buffer covers all of it, in words of four bytes.
    ///
    /// # Errors
    /// `Unsupported` where the device was made without the extension; `InvalidInput` where the memory is smaller.
    pub fn imported_buffer(&self, memory: MemoryHandle, bytes: u64, usage: vk::BufferUsageFlags) -> Result<Allocation> {
        self.shares_memory().ok_or_else(|reason| self.unsupported(reason))?;
        let whole = memory.bytes();
        SharedHandle::check_room(whole, bytes)?;
        let size = if memory.is_dedicated() { (whole / 4 * 4).max(bytes) } else { bytes };
        let mut made = self.buffer(size, usage, Some(MEMORY_HANDLE))?;
        // SAFETY: the buffer was made for memory of others and has none yet.
        unsafe { made.import(self, memory) }?;
        Ok(made)
    }
}
