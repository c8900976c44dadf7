//! Buffers in memory that the host or another API writes.

use super::{Api, Exported, Vulkan};
use crate::device_state::DeviceState;
use crate::format::{WORD, whole_words};
use ash::vk;
use interop_core::{Error, HostBlock, MemoryHandle, Result, Support};
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;
use vulkan_sharing::{Allocation, MEMORY_HANDLE, Object};

const OP: &str = "create_staging";

impl Vulkan {
    /// A buffer that stays mapped, coherent, zero at first, and its address.
    pub(super) fn mapped(&self, shared: &DeviceState, bytes: usize) -> Result<(wgpu::Buffer, HostBlock)> {
        use vk::MemoryPropertyFlags as Flags;
        let size = whole_words(bytes as u64);
        let sharing = &self.sharing;
        let mut made = sharing.buffer(size, usage(shared), None)?;
        let needs = made.needs();
        let coherent = Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
        let cached = coherent | Flags::HOST_CACHED;
        // Compute devices read there, too, and do so slowly where the host's caches are not used.
        let index = sharing
            .memory_type(needs.memory_type_bits, |f| f.contains(cached))
            .or_else(|| sharing.memory_type(needs.memory_type_bits, |f| f.contains(coherent)))
            .ok_or_else(|| sharing.unsupported(OP, "no coherent memory of the host holds a buffer"))?;
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index);
        // SAFETY: size and type are those that the buffer asked for, which has no memory yet.
        unsafe { made.allocate(sharing, &info) }?;
        let device = sharing.device();
        // SAFETY: the memory is of a type that the host sees, is not mapped yet, and is unmapped when it is freed.
        let address = unsafe { device.map_memory(made.memory(), 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) };
        let address = address.map_err(sharing.failed("vkMapMemory"))?;
        let address = NonNull::new(address.cast::<u8>())
            .ok_or_else(|| shared.failure("vkMapMemory", "a null address".into(), ""))?;
        // SAFETY: `needs.size`, at least `size`, bytes are mapped there, which nobody else knows of yet.
        unsafe { address.write_bytes(0, size as usize) };
        let made = Arc::new(made);
        let buffer = wrap(shared, &made, None, size)?;
        // The memory before the device that it is of.
        let owner = Rc::new((made, shared.device.clone()));
        // SAFETY: the allocation, which stays mapped, lives as long as `owner`; wgpu never maps it.
        let block = unsafe { HostBlock::from_raw(address, bytes, owner) };
        Ok((buffer, block))
    }

    /// Pages of the host as a buffer.
    pub(super) fn imported_host(&self, shared: &DeviceState, block: &HostBlock, bytes: usize) -> Result<wgpu::Buffer> {
        const POINTER: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT;
        let sharing = &self.sharing;
        let Some(host) = &self.memory_host else {
            return Err(sharing.unsupported(OP, "the device was made without VK_EXT_external_memory_host"));
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
            unsafe { get(sharing.device().handle(), POINTER, address.cast(), &raw mut pages) }
        };
        asked.result().map_err(sharing.failed("vkGetMemoryHostPointerPropertiesEXT"))?;
        let reader = Arc::new(());
        self.pending_frees.add(block.clone(), &reader);
        let mut made = sharing.buffer(len as u64, usage(shared), Some(POINTER))?;
        let needs = made.needs();
        let index = sharing
            .memory_type(needs.memory_type_bits & pages.memory_type_bits, |_| true)
            .filter(|_| needs.size <= len as u64)
            .ok_or_else(|| sharing.unsupported(OP, "no buffer lies in memory of that kind"))?;
        let mut import =
            vk::ImportMemoryHostPointerInfoEXT::default().handle_type(POINTER).host_pointer(address.cast());
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(len as u64)
            .memory_type_index(index)
            .push_next(&mut import);
        // SAFETY: the driver named the types for these pages, which `shared` keeps until `reader` goes; the buffer was made
        // for them and has no memory yet.
        unsafe { made.allocate(sharing, &info) }?;
        wrap(shared, &Arc::new(made), Some(reader), whole_words(bytes as u64))
    }

    /// Memory of the device's own that others can open, as a buffer.
    pub(super) fn exported_buffer(&self, shared: &DeviceState, bytes: usize) -> Result<(wgpu::Buffer, Exported)> {
        let size = whole_words(bytes as u64);
        let made = Arc::new(self.sharing.exported_buffer(size, usage(shared))?);
        Ok((wrap(shared, &made, None, size)?, Exported(made)))
    }

    /// Memory of another device's or API's, opened by its handle, as a buffer.
    pub(super) fn imported(&self, shared: &DeviceState, memory: MemoryHandle, bytes: usize) -> Result<wgpu::Buffer> {
        let (sharing, whole) = (&self.sharing, memory.bytes());
        if let Support::No(reason) = sharing.shares_memory() {
            return Err(sharing.unsupported(OP, reason));
        }
        let size = whole_words(bytes as u64);
        if size > whole {
            return Err(Error::invalid(OP, format!("{bytes} bytes were asked for of memory that has {whole}")));
        }
        // Over all of it where it was made for one buffer alone.
        let size = if memory.is_dedicated() { whole / WORD * WORD } else { size };
        let mut made = sharing.buffer(size, usage(shared), Some(MEMORY_HANDLE))?;
        // SAFETY: the buffer was made for memory of others and has none yet.
        unsafe { made.import(sharing, memory) }?;
        wrap(shared, &Arc::new(made), None, size)
    }
}

/// What wgpu's buffers over shared memory are for.
fn usage(shared: &DeviceState) -> vk::BufferUsageFlags {
    use vk::BufferUsageFlags as Usage;
    let index = if shared.index_buffers { Usage::INDEX_BUFFER } else { Usage::empty() };
    Usage::STORAGE_BUFFER | Usage::VERTEX_BUFFER | Usage::TRANSFER_SRC | index
}

/// The first bytes of an allocation as a buffer of wgpu's, which keeps it. `reader` goes after it.
fn wrap(shared: &DeviceState, made: &Arc<Allocation>, reader: Option<Arc<()>>, size: u64) -> Result<wgpu::Buffer> {
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
    let let_go = Box::new(move || {
        drop(kept);
        drop(reader);
    });
    shared.scoped(OP, || {
        // SAFETY: the buffer was made of this device with these usages, at least so large and with memory bound; it
        // lives until wgpu lets go of `kept`, and wgpu does not map it.
        unsafe {
            let hal = wgpu::hal::vulkan::Buffer::from_raw_externally_owned(raw, let_go);
            shared.device.create_buffer_from_hal::<Api>(hal, &descriptor)
        }
    })
}
