//! Staging blocks: memory that kernels read, or host memory where they cannot.

use crate::display_state::DisplayState;
use crate::memory::Memory;
use interop_core::devices::borrows::Holder;
use interop_core::display::{Reach, StagingDriver};
use interop_core::{HandleType, HostBlock, MemoryShape, Result, SharedHandle, StagingKind, Support, SurfaceDesc};
use std::any::Any;
use std::sync::Arc;

/// Location of a block's bytes.
pub enum BlockMemory {
    /// Memory that kernels read.
    Device(Memory),
    /// Host memory that kernels cannot read.
    Host(HostBlock),
}

/// Memory that surfaces copy from or show in place.
pub struct ComputeStaging {
    display: Arc<DisplayState>,
    place: BlockMemory,
    /// The host memory, if the block is made of it.
    block: Option<HostBlock>,
    /// Registration of the block for fast copies.
    _prepared: Option<Box<dyn Any + Send + Sync>>,
    len: usize,
    /// True where a fence follows reads that were not waited for.
    fenced: bool,
}

interop_core::owned!(ComputeStaging: DisplayState, "staging block", |block| block.display.as_ref());

impl ComputeStaging {
    pub fn new(display: &Arc<DisplayState>, kind: StagingKind, len: usize) -> Result<(Self, Reach)> {
        let (place, block, is_fixed, prepared) = match kind {
            StagingKind::Orphaned | StagingKind::Persistent => {
                // Users of an orphaned block must not rely on its address.
                let is_fixed = matches!(kind, StagingKind::Persistent);
                let block = HostBlock::allocate(len)?;
                if reads_host(display).is_yes() {
                    (BlockMemory::Device(imported(display, &block)?), Some(block), is_fixed, None)
                } else {
                    let prepared = display.backend.prepare_host(&block)?;
                    (BlockMemory::Host(block.clone()), Some(block), is_fixed, prepared)
                }
            }
            StagingKind::Imported(block) => {
                reads_host(display).ok_or_else(|reason| display.unsupported(reason))?;
                (BlockMemory::Device(imported(display, &block)?), Some(block), true, None)
            }
            StagingKind::External(handle @ SharedHandle::QueueBuffer { .. }) => {
                let memory = display.backend.import_surface(&handle, &SurfaceDesc::buffer(len as u64))?;
                (BlockMemory::Device(Memory::new(memory)), None, false, None)
            }
            other => {
                let reason = format!(
                    "it does not support staging blocks of the kind {other:?}; use memory of the host or of its queue"
                );
                return Err(display.unsupported(reason));
            }
        };
        let reach = block.clone().filter(|_| is_fixed).map_or(Reach::EachFill, Reach::Address);
        let display = Arc::clone(display);
        Ok((Self { display, place, block, _prepared: prepared, len, fenced: false }, reach))
    }

    /// True for memory that the host does not address, so that only kernels use it.
    pub fn is_of_the_device(&self) -> bool {
        self.block.is_none()
    }

    pub fn place(&self) -> &BlockMemory {
        &self.place
    }
}

/// Tells whether kernels read host memory in place.
fn reads_host(display: &DisplayState) -> Support {
    display.backend.caps().can_import(HandleType::HostPointer, MemoryShape::Linear)
}

/// Imports the block for kernels; the host has the first turn.
fn imported(display: &DisplayState, block: &HostBlock) -> Result<Memory> {
    let mut memory = display.backend.import_host(block)?;
    memory.release()?;
    Ok(Memory::new(memory))
}

impl StagingDriver for ComputeStaging {
    fn wait(&mut self) -> Result<()> {
        if let (true, BlockMemory::Device(memory)) = (self.fenced, &self.place) {
            memory.get_mut()?.release()?;
        }
        self.fenced = false;
        Ok(())
    }

    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        match (&self.block, &self.place) {
            (Some(block), _) | (None, BlockMemory::Host(block)) => f(&mut block.write(0..self.len, Holder::Staging)?),
            (None, BlockMemory::Device(memory)) => memory.get_mut()?.map_write(0..self.len, f),
        }
    }

    fn fence(&mut self, _: bool) -> Result<()> {
        if let BlockMemory::Device(memory) = &self.place {
            memory.get_mut()?.submit()?;
            self.fenced = true;
        }
        Ok(())
    }
}
