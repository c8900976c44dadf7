//! Host pages that Vulkan imports in place: `VK_EXT_external_memory_host`.

use crate::sharing::{Allocation, SharingDevice};
use ash::vk;
use interop_core::{Error, HostBlock, Result};

const POINTER: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;

impl SharingDevice {
    /// Imports the pages of a host block as a buffer over the whole block, of which `bytes` are needed.
    ///
    /// # Errors
    /// `Unsupported` where the device was made without [`crate::sharing::HOST_EXTENSION`] or cannot import these pages;
    /// `InvalidInput` where the block is smaller or lacks the alignment that the device requires.
    ///
    /// # Safety
    /// The block, or a clone of it, lives as long as the allocation.
    pub unsafe fn imported_host_buffer(
        &self,
        block: &HostBlock,
        bytes: usize,
        usage: vk::BufferUsageFlags,
    ) -> Result<Allocation> {
        let Some(host) = &self.memory_host else {
            return Err(self.unsupported("the device was made without VK_EXT_external_memory_host"));
        };
        let address = block.address().as_ptr();
        let (len, alignment) = (block.len(), host.alignment);
        if bytes > len || !len.is_multiple_of(alignment) || !address.addr().is_multiple_of(alignment) {
            let problem =
                format!("{bytes} bytes at {address:p} of {len} cannot be imported: the alignment is {alignment}");
            return Err(Error::refused(problem));
        }
        let mut pages = vk::MemoryHostPointerPropertiesEXT::default();
        let get = host.functions.fp().get_memory_host_pointer_properties_ext;
        // SAFETY: the address belongs to pages that the block keeps alive; the structure lives through the call.
        let asked = unsafe { get(self.device.handle(), POINTER, address.cast(), &raw mut pages) };
        asked.result().map_err(self.failed("vkGetMemoryHostPointerPropertiesEXT"))?;
        let mut made = self.buffer(len as u64, usage, Some(POINTER))?;
        let needs = made.needs();
        let index = self
            .memory_type(needs.memory_type_bits & pages.memory_type_bits, |_| true)
            .filter(|_| needs.size <= len as u64)
            .ok_or_else(|| self.unsupported("no memory type of these pages supports a buffer"))?;
        let mut import =
            vk::ImportMemoryHostPointerInfoEXT::default().handle_type(POINTER).host_pointer(address.cast());
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(len as u64)
            .memory_type_index(index)
            .push_next(&mut import);
        // SAFETY: the driver named the types for these pages, which live as long as the allocation by the caller's promise;
        // the buffer was made for them and has no memory yet.
        unsafe { made.allocate(self, &info) }?;
        Ok(made)
    }
}
