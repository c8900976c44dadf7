//! Mapped buffers for copies to and from the host, used again when the queue has done with them.

use crate::device_state::{BUFFER_USAGE, DeviceState};
use ash::vk;
use interop_core::devices::borrows::Holder;
use interop_core::{Error, HostBlock, Result};
use std::cell::RefCell;
use std::rc::Rc;
use vulkan_sharing::Object;

/// As many as wait to be used again at most.
const MOST: usize = 8;

/// Sizes are multiples of this, so that frames of about one size share buffers.
const GRAIN: u64 = 4096;

/// A buffer that the host fills or reads.
pub(crate) struct Scratch {
    raw: vk::Buffer,
    /// Keeps the buffer.
    block: HostBlock,
}

/// Those that are not in use, each with the submission that used it last.
#[derive(Default)]
pub(crate) struct Pool(RefCell<Vec<(u64, Scratch)>>);

impl Scratch {
    fn new(shared: &DeviceState, len: usize) -> Result<Self> {
        let bytes = (len as u64).next_multiple_of(GRAIN);
        let (made, address) = shared.sharing.mapped_buffer(bytes, BUFFER_USAGE)?;
        let Object::Buffer(raw) = made.object() else { return Err(Error::invalid("scratch", "an image is no buffer")) };
        // SAFETY: the allocation, which stays mapped and was zeroed, goes with the block; nobody else maps it.
        let block = unsafe { HostBlock::from_raw(address, bytes as usize, Rc::new(made)) };
        Ok(Self { raw, block })
    }

    /// One of at least so many bytes that nothing uses, with any content.
    pub(crate) fn take(shared: &DeviceState, len: usize) -> Result<Self> {
        let done = shared.submissions.done();
        let mut free = shared.pool.0.borrow_mut();
        let fits = |scratch: &Scratch| scratch.block.len() >= len && scratch.block.len() / 4 <= len.max(GRAIN as usize);
        match free.iter().position(|(number, scratch)| *number <= done && fits(scratch)) {
            Some(at) => Ok(free.swap_remove(at).1),
            None => {
                drop(free);
                Self::new(shared, len)
            }
        }
    }

    /// To be used again when the submission is done.
    pub(crate) fn give_back(self, shared: &DeviceState, number: u64) {
        let mut free = shared.pool.0.borrow_mut();
        free.push((number, self));
        if free.len() > MOST {
            let (number, oldest) = free.remove(0);
            drop(free);
            shared.submissions.retire_at(number, Box::new(oldest.block));
        }
    }

    pub(crate) fn raw(&self) -> vk::Buffer {
        self.raw
    }

    /// Lets the host fill the first bytes.
    pub(crate) fn fill(&self, len: usize, f: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
        f(&mut self.block.write(0..len, Holder::Staging, "Staging::map_write")?)
    }

    /// Lets the host read the first bytes.
    pub(crate) fn read(&self, len: usize, f: impl FnOnce(&[u8])) -> Result<()> {
        f(&self.block.read(0..len, Holder::Staging, "read_back")?);
        Ok(())
    }
}
