//! The backend's own memory, shared with a display that draws with this backend: one queue keeps the order.

use crate::backend_state::BackendState;
use crate::cl;
use crate::memory::OpenClMemory;
use interop_core::{ComputeMemory, QueueId, Result, SharedHandle, SurfaceDesc};
use std::sync::Arc;

/// Content of [`SharedHandle::QueueBuffer`].
struct QueueBlock {
    buffer: cl::Buffer,
    bytes: usize,
    /// State of the queue's owner; its address identifies the queue.
    shared: Arc<BackendState>,
}

/// Implements [`interop_core::ComputeBackend::allocate_shared`].
pub fn allocate(shared: &Arc<BackendState>, bytes: usize) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
    let queue = QueueId::of(&shared.queues);
    let mut memory = OpenClMemory::allocate(shared, bytes)?;
    memory.is_own = false;
    let block = memory.for_others().cloned();
    let block = block.ok_or_else(|| shared.unsupported("its memory belongs to another owner".into()))?;
    let buffer = Box::new(QueueBlock { buffer: block, bytes, shared: Arc::clone(shared) });
    Ok((Box::new(memory), SharedHandle::QueueBuffer { queue, buffer }))
}

/// Opens memory from [`allocate`] again ([`interop_core::ComputeBackend::import_surface`]).
pub fn import(shared: &Arc<BackendState>, handle: &SharedHandle, desc: &SurfaceDesc) -> Result<Box<dyn ComputeMemory>> {
    let len = desc.byte_len()?;
    let block = match handle {
        SharedHandle::QueueBuffer { buffer, .. } => buffer.downcast_ref::<QueueBlock>(),
        _ => None,
    };
    let block = block.filter(|block| Arc::ptr_eq(&block.shared, shared) && block.bytes >= len);
    let block = block.ok_or_else(|| handle.names_no(&format!("{desc} of this backend")))?;
    Ok(Box::new(OpenClMemory::over(shared, &block.buffer)))
}
