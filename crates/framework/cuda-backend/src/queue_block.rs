//! The backend's own memory, shared with a display that draws with this backend: one stream keeps the order.

use crate::ffi::DeviceBlock;
use crate::memory::{CudaMemory, Store};
use crate::session::Session;
use interop_core::{ComputeMemory, QueueId, Result, SharedHandle, SurfaceDesc};
use std::sync::Arc;

/// Content of [`SharedHandle::QueueBuffer`]. The block keeps its queue alive, whose address identifies the queue.
struct QueueBlock(Arc<DeviceBlock>);

/// Implements [`interop_core::ComputeBackend::allocate_shared`].
pub fn allocate(session: &Arc<Session>, bytes: usize) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
    let block = Arc::new(DeviceBlock::new(&session.queue, bytes).map_err(session.failed())?);
    let memory = CudaMemory::new(session, Store::QueueBlock(Arc::clone(&block)), bytes);
    let queue = QueueId::of(&session.queue);
    Ok((Box::new(memory), SharedHandle::QueueBuffer { queue, buffer: Box::new(QueueBlock(block)) }))
}

/// Opens memory from [`allocate`] again ([`interop_core::ComputeBackend::import_surface`]). The caller has checked the
/// capabilities, and so the owner of the queue.
pub fn import(session: &Arc<Session>, handle: &SharedHandle, desc: &SurfaceDesc) -> Result<Box<dyn ComputeMemory>> {
    let len = desc.byte_len()?;
    let QueueBlock(block) = handle.in_queue("block")?;
    SharedHandle::check_room(block.span().len() as u64, len as u64)?;
    Ok(Box::new(CudaMemory::new(session, Store::QueueBlock(Arc::clone(block)), len)))
}
