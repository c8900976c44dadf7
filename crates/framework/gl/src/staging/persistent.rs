//! Blocks that stay mapped: `GL_ARB_buffer_storage` or `GL_EXT_buffer_storage`, coherent.

use super::Block;
use crate::context::context_state::ContextState;
use crate::objects::buffer_object::create_name;
use crate::objects::state_guards::BoundBuffer;
use glow::HasContext as _;
use interop_core::{HostBlock, Result};
use std::ptr::NonNull;
use std::sync::Arc;

/// Readable as well: backends copy parts of earlier frames, and OpenCL maps imported memory for reading.
const ACCESS: u32 = glow::MAP_READ_BIT | glow::MAP_WRITE_BIT | glow::MAP_PERSISTENT_BIT | glow::MAP_COHERENT_BIT;

/// Creates the block and its mapped memory; the memory keeps the block alive.
pub(super) fn create(shared: &Arc<ContextState>, bytes: usize) -> Result<(Arc<Block>, HostBlock)> {
    const CALL: &str = "glBufferStorage";
    if !shared.features.buffer_storage {
        return Err(shared.unsupported(shared.features.needed_to_map().into()));
    }
    shared.drain_errors(CALL);
    let buffer = create_name(shared)?;
    // SAFETY: the context is current, buffer storage was gated, and `bytes` fits in 31 bits.
    let address = unsafe {
        let _bound = BoundBuffer::write(shared, buffer.get());
        let (target, raw) = (glow::COPY_WRITE_BUFFER, &shared.raw);
        if !raw.suffixed.buffer_storage(&shared.features, target, bytes as isize, ACCESS) {
            shared.gl.buffer_storage(target, bytes as i32, None, ACCESS);
        }
        shared.check(CALL)?;
        shared.gl.map_buffer_range(glow::COPY_WRITE_BUFFER, 0, bytes as i32, ACCESS)
    };
    shared.check("glMapBufferRange")?;
    let Some(address) = NonNull::new(address) else {
        return Err(shared.failure(
            "glMapBufferRange",
            0,
            "null",
            "The driver returned no address; use another kind of staging block.",
        ));
    };
    let block = Block::new(shared, buffer, bytes);
    // SAFETY: deleting a buffer unmaps it; until then, and so while the block lives, the mapping stays valid.
    let host = unsafe { HostBlock::from_raw(address, bytes, Arc::<Block>::clone(&block)) };
    Ok((block, host))
}
