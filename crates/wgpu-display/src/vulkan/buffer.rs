//! Buffers in memory that the host or another API writes.

use super::allocation::{Allocation, Exported, Object};
use super::{Api, OPAQUE_MEMORY, Vulkan};
use crate::format::{WORD, whole_words};
use crate::shared::Shared;
use ash::vk;
use interop_core::lent::Lent;
use interop_core::{Error, HostBlock, Result};
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;

const OP: &str = "create_staging";

impl Vulkan {
    /// A buffer that stays mapped, coherent, zero at first, and its address.
    pub(crate) fn mapped(&self, shared: &Shared, bytes: usize) -> Result<(wgpu::Buffer, HostBlock)> {
        use vk::MemoryPropertyFlags as Flags;
        let size = whole_words(bytes as u64);
        let mut made = self.bare(shared, size, None, None)?;
        let needs = made.needs();
        let coherent = Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
        let cached = coherent | Flags::HOST_CACHED;
        // Compute devices read there, too, and do so slowly where the host's caches are not used.
        let index = self
            .memory_type(needs.memory_type_bits, |f| f.contains(cached))
            .or_else(|| self.memory_type(needs.memory_type_bits, |f| f.contains(coherent)))
            .ok_or_else(|| self.unsupported(OP, "no coherent memory of the host holds a buffer"))?;
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
        made.allocate(self, &info)?;
        // SAFETY: the memory is of a type that the host sees, is not mapped yet, and is unmapped when it is freed.
        let address = unsafe { self.device.map_memory(made.memory(), 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) };
        let address = address.map_err(self.failed("vkMapMemory"))?;
        let address = NonNull::new(address.cast::<u8>())
            .ok_or_else(|| shared.failure("vkMapMemory", "a null address".into(), ""))?;
        // SAFETY: `needs.size`, at least `size`, bytes are mapped there, which nobody else knows of yet.
        unsafe { address.write_bytes(0, size as usize) };
        let made = Arc::new(made);
        let buffer = self.wrap(shared, &made, size)?;
        // The memory before the device that it is of.
        let owner = Rc::new((made, shared.device.clone()));
        // SAFETY: the allocation, which stays mapped, lives as long as `owner`; wgpu never maps it.
        let block = unsafe { HostBlock::from_raw(address, bytes, owner) };
        Ok((buffer, block))
    }

    /// Pages of the host as a buffer.
    pub(crate) fn imported_host(&self, shared: &Shared, block: &HostBlock, bytes: usize) -> Result<wgpu::Buffer> {
        const POINTER: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;
        let Some(host) = &self.memory_host else {
            return Err(self.unsupported(OP, "the device was made without VK_EXT_external_memory_host"));
        };
        let address = block.address().as_ptr();
        let (len, alignment) = (block.len(), host.alignment);
        if bytes > len || !len.is_multiple_of(alignment) || !address.addr().is_multiple_of(alignment) {
            let problem =
                format!("{bytes} bytes at {address:p} of {len} cannot be imported: both go in {alignment} bytes");
            return Err(Error::invalid(OP, problem));
        }
        let mut pages = vk::MemoryHostPointerPropertiesEXT::default();
        let asked = {
            let get = host.functions.fp().get_memory_host_pointer_properties_ext;
            // SAFETY: the address is of pages that the block keeps alive; the structure lives through the call.
            unsafe { get(self.device.handle(), POINTER, address.cast(), &raw mut pages) }
        };
        asked.result().map_err(self.failed("vkGetMemoryHostPointerPropertiesEXT"))?;
        let reader = Arc::new(());
        shared.lend(block.clone(), &reader);
        let mut made = self.bare(shared, len as u64, Some(POINTER), Some(reader))?;
        let needs = made.needs();
        let index = self
            .memory_type(needs.memory_type_bits & pages.memory_type_bits, |_| true)
            .filter(|_| needs.size <= len as u64)
            .ok_or_else(|| self.unsupported(OP, "no buffer lies in memory of that kind"))?;
        let mut import =
            vk::ImportMemoryHostPointerInfoEXT::default().handle_type(POINTER).host_pointer(address.cast());
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(len as u64)
            .memory_type_index(index)
            .push_next(&mut import);
        made.allocate(self, &info)?;
        self.wrap(shared, &Arc::new(made), whole_words(bytes as u64))
    }

    /// Memory of the device's own that others can open, as a buffer.
    pub(crate) fn exported_buffer(&self, shared: &Shared, bytes: usize) -> Result<(wgpu::Buffer, Exported)> {
        if self.memory_fd.is_none() {
            return Err(self.unsupported(OP, "the device was made without VK_KHR_external_memory_fd"));
        }
        let size = whole_words(bytes as u64);
        let mut made = self.bare(shared, size, Some(OPAQUE_MEMORY), None)?;
        made.allocate_exported(self)?;
        let made = Arc::new(made);
        Ok((self.wrap(shared, &made, size)?, Exported(made)))
    }

    /// Memory of another device's or API's, opened by its descriptor, as a buffer.
    pub(crate) fn imported_fd(
        &self,
        shared: &Shared,
        fd: OwnedFd,
        whole: u64,
        dedicated: bool,
        bytes: usize,
    ) -> Result<wgpu::Buffer> {
        if self.memory_fd.is_none() {
            return Err(self.unsupported(OP, "the device was made without VK_KHR_external_memory_fd"));
        }
        let size = whole_words(bytes as u64);
        if size > whole {
            return Err(Error::invalid(OP, format!("{bytes} bytes were asked for of memory that has {whole}")));
        }
        // Over all of it where it was made for one buffer alone.
        let size = if dedicated { whole / WORD * WORD } else { size };
        let mut made = self.bare(shared, size, Some(OPAQUE_MEMORY), None)?;
        let needs = made.needs();
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let index = self
            .memory_type(needs.memory_type_bits, |f| f.contains(local))
            .filter(|_| needs.size <= whole)
            .ok_or_else(|| self.unsupported(OP, format!("a buffer of {size} bytes does not lie in {whole} bytes")))?;
        let mut alone = made.dedicated();
        let descriptor = Lent::new(fd);
        let mut import = vk::ImportMemoryFdInfoKHR::default().handle_type(OPAQUE_MEMORY).fd(descriptor.number());
        let mut info =
            vk::MemoryAllocateInfo::default().allocation_size(whole).memory_type_index(index).push_next(&mut import);
        if dedicated {
            info = info.push_next(&mut alone);
        }
        if let Err(error) = made.allocate(self, &info) {
            // Taken along with the memory, where it was only the binding that failed.
            if made.memory() == vk::DeviceMemory::null() {
                descriptor.close_if_left();
            }
            return Err(error);
        }
        self.wrap(shared, &Arc::new(made), size)
    }

    /// A buffer without memory; `external` where its memory will be another's.
    fn bare(
        &self,
        shared: &Shared,
        size: u64,
        external: Option<vk::ExternalMemoryHandleTypeFlags>,
        reader: Option<Arc<()>>,
    ) -> Result<Allocation> {
        use vk::BufferUsageFlags as Usage;
        let index = if shared.index_buffers { Usage::INDEX_BUFFER } else { Usage::empty() };
        let mut kind = vk::ExternalMemoryBufferCreateInfo::default().handle_types(external.unwrap_or_default());
        let mut info = vk::BufferCreateInfo::default()
            .size(size)
            .usage(Usage::STORAGE_BUFFER | Usage::VERTEX_BUFFER | Usage::TRANSFER_SRC | index)
            .sharing_mode(vk::SharingMode::EXCLUSIVE);
        if external.is_some() {
            info = info.push_next(&mut kind);
        }
        // SAFETY: the structures live through the call; the size is not 0.
        let buffer = unsafe { self.device.create_buffer(&info, None) }.map_err(self.failed("vkCreateBuffer"))?;
        Ok(Allocation::without_memory(self, Object::Buffer(buffer), reader))
    }

    /// The first bytes of an allocation as a buffer of wgpu's, which keeps it.
    fn wrap(&self, shared: &Shared, made: &Arc<Allocation>, size: u64) -> Result<wgpu::Buffer> {
        use wgpu::BufferUsages as Usage;
        let index = if shared.index_buffers { Usage::INDEX } else { Usage::empty() };
        let descriptor = wgpu::BufferDescriptor {
            label: Some("pixelferry shared memory"),
            size,
            usage: Usage::STORAGE | Usage::VERTEX | Usage::COPY_SRC | index,
            mapped_at_creation: false,
        };
        let Object::Buffer(raw) = made.object() else {
            return Err(Error::invalid(OP, "an image is no buffer"));
        };
        let kept = Arc::clone(made);
        shared.scoped(OP, || {
            // SAFETY: the buffer was made of this device with these usages, at least so large and with memory bound; it
            // lives until wgpu lets go of `kept`, and wgpu does not map it.
            unsafe {
                let hal = wgpu::hal::vulkan::Buffer::from_raw_externally_owned(raw, Box::new(move || drop(kept)));
                shared.device.create_buffer_from_hal::<Api>(hal, &descriptor)
            }
        })
    }
}
