//! Native CUDA handles of targets.

use crate::image::CudaImage;
use crate::memory::CudaMemory;
use crate::session::Session;
use interop_core::compute::Access;
use interop_core::devices::maker_object::{own, own_mut};
use interop_core::{RawMemory, RawTarget, Result, Target};
use std::sync::Arc;

/// Returns the native handle of the target's memory; the default stream is ordered after the operations of queues on
/// it.
pub fn raw<'a>(session: &Arc<Session>, target: Target<'a>) -> Result<RawTarget<'a>> {
    let (memory, view) = target.into_parts();
    let queue = &session.queue;
    // The caller may wait for the stream, so held-back work is released.
    drop(queue.enter().map_err(session.failed())?);
    let (stream, context) = (queue.raw().cast(), queue.context().cast());
    if !memory.is::<CudaImage>() {
        let memory = own::<CudaMemory>(memory, session)?;
        memory.part(&view.span(), Access::Write)?;
        let address = memory.span()?.address();
        // SAFETY: the target lies inside the memory, which keeps its object for as long as it is borrowed.
        return Ok(unsafe { RawTarget::new(RawMemory::Cuda { address, stream, context }, view) });
    }
    let image = own_mut::<CudaImage>(memory, session)?;
    let at = image.place(&view)?;
    let (row, step) = at.first_row();
    let (surface, array) = (image.surface_object()?, image.array()?.raw().cast());
    let first = (at.region.x, row);
    // SAFETY: the target lies inside the memory, which keeps its object for as long as it is borrowed.
    Ok(unsafe { RawTarget::new(RawMemory::CudaArray { surface, array, first, step, stream, context }, view) })
}
