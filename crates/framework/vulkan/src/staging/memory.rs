//! Buffers and images of the display, which are destroyed when the queue no longer uses them.

use crate::context::device_state::{BUFFER_USAGE, DeviceState};
use crate::context::stores::IMAGE_USAGE;
use crate::queue::commands::{self, CopyImage, READ};
use crate::sharing::{Allocation, vk_format};
use ash::vk;
use interop_core::{HostBlock, ImageDesc, MemoryHandle, Result, SharedHandle};
use std::any::Any;
use std::sync::Arc;

/// Rounds up to whole words, as `vkCmdFillBuffer` requires.
pub(crate) const fn whole_words(bytes: u64) -> u64 {
    bytes.next_multiple_of(4)
}

/// An allocation with shared ownership.
type SharedAllocation = Arc<Allocation>;

/// A buffer.
pub(crate) struct Buffer {
    raw: vk::Buffer,
    len: usize,
    made: SharedAllocation,
    /// Dropped after the allocation.
    pages: Option<HostBlock>,
    pub shared: Arc<DeviceState>,
}

impl Buffer {
    fn new(shared: &Arc<DeviceState>, len: usize, made: Allocation, pages: Option<HostBlock>) -> Result<Self> {
        let (raw, len) = (made.buffer()?, whole_words(len as u64) as usize);
        Ok(Self { raw, len, made: Arc::new(made), pages, shared: Arc::clone(shared) })
    }

    /// Creates a buffer in device-local memory, initially zero.
    pub(crate) fn zeroed(shared: &Arc<DeviceState>, len: usize) -> Result<Self> {
        let made = shared.sharing.local_buffer(whole_words(len as u64), BUFFER_USAGE)?;
        let made = Self::new(shared, len, made, None)?;
        let raw = made.raw;
        // SAFETY: the buffer is new and is in whole words; it is retired when it goes.
        unsafe {
            shared.submissions.record(|device, commands| {
                device.cmd_fill_buffer(commands, raw, 0, vk::WHOLE_SIZE, 0);
            })
        }?;
        Ok(made)
    }

    /// Creates a buffer that stays mapped, and returns it with its host block.
    pub(crate) fn mapped(shared: &Arc<DeviceState>, len: usize) -> Result<(Self, HostBlock)> {
        let (made, address) = shared.sharing.mapped_buffer(whole_words(len as u64), BUFFER_USAGE)?;
        let made = Self::new(shared, len, made, None)?;
        // The memory is dropped before its device.
        let owner = Arc::new((Arc::clone(&made.made), Arc::clone(shared)));
        // SAFETY: the allocation, which stays mapped and was zeroed, lives as long as `owner`; nobody else maps it.
        let block = unsafe { HostBlock::from_raw(address, len, owner) };
        Ok((made, block))
    }

    /// Imports host pages in place.
    pub(crate) fn of_pages(shared: &Arc<DeviceState>, block: HostBlock, len: usize) -> Result<Self> {
        // SAFETY: the buffer keeps the block, which goes after the allocation.
        let made = unsafe { shared.sharing.imported_host_buffer(&block, len, BUFFER_USAGE) }?;
        Self::new(shared, len, made, Some(block))
    }

    /// Imports memory of another device or API.
    pub(crate) fn imported(shared: &Arc<DeviceState>, memory: MemoryHandle, len: usize) -> Result<Self> {
        let made = shared.sharing.imported_buffer(memory, whole_words(len as u64), BUFFER_USAGE)?;
        Self::new(shared, len, made, None)
    }

    /// Creates a buffer in exportable memory. The content is undefined.
    pub(crate) fn exported(shared: &Arc<DeviceState>, len: usize) -> Result<Self> {
        let made = shared.sharing.exported_buffer(whole_words(len as u64), BUFFER_USAGE)?;
        Self::new(shared, len, made, None)
    }

    pub(crate) fn raw(&self) -> vk::Buffer {
        self.raw
    }

    /// Returns the number of bytes, in whole words.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns a new handle of its memory, which was allocated for export.
    pub(crate) fn export(&self) -> Result<SharedHandle> {
        Ok(SharedHandle::Memory(self.made.export(&self.shared.sharing)?))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        let gone: Box<dyn Any + Send + Sync> = Box::new((Arc::clone(&self.made), self.pages.take()));
        self.shared.submissions.retire(gone);
    }
}

/// An image of one level, ready to be read.
pub(crate) struct Image {
    raw: vk::Image,
    desc: ImageDesc,
    made: SharedAllocation,
    pub shared: Arc<DeviceState>,
}

impl Image {
    /// Creates an image in device-local memory, initially zero.
    pub(crate) fn zeroed(shared: &Arc<DeviceState>, desc: &ImageDesc) -> Result<Self> {
        let (raw, made) = shared.sharing.local_image(desc, shared.stores.usage(desc.format))?;
        let made = Self { raw, desc: *desc, made: Arc::new(made), shared: Arc::clone(shared) };
        // SAFETY: the image is new; it is retired when it is dropped.
        unsafe { shared.submissions.record(|device, commands| commands::clear(device, commands, raw)) }?;
        Ok(made)
    }

    /// Creates an image in exportable memory.
    pub(crate) fn exported(shared: &Arc<DeviceState>, desc: &ImageDesc) -> Result<Self> {
        let (raw, made) = shared.sharing.exported_image(desc, IMAGE_USAGE)?;
        let made = Self { raw, desc: *desc, made: Arc::new(made), shared: Arc::clone(shared) };
        // SAFETY: as above. This happens before others write, because a transition from an undefined layout may discard
        // pixels.
        let number = unsafe { shared.submissions.record(|device, commands| commands::clear(device, commands, raw)) }?;
        // Other devices write it next, and do not wait for this queue.
        shared.submissions.wait(number)?;
        Ok(made)
    }

    pub(crate) fn place(&self) -> CopyImage {
        CopyImage { image: self.raw, format: vk_format(self.desc.format), layout: READ }
    }

    pub(crate) fn desc(&self) -> &ImageDesc {
        &self.desc
    }

    pub(crate) fn export(&self) -> Result<SharedHandle> {
        Ok(SharedHandle::Memory(self.made.export(&self.shared.sharing)?))
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        self.shared.submissions.retire(Box::new(Arc::clone(&self.made)));
    }
}
