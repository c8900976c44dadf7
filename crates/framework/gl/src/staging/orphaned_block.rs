//! Blocks that are mapped for each frame; the driver provides new memory while the old one is being read.

use super::Block;
use crate::context::context_state::ContextState;
use crate::objects::buffer_object::create_buffer;
use crate::objects::state_guards::BoundBuffer;
use glow::HasContext as _;
use interop_core::Result;
use std::sync::Arc;

const TARGET: u32 = glow::COPY_WRITE_BUFFER;

pub(super) fn create(shared: &Arc<ContextState>, bytes: usize) -> Result<Arc<Block>> {
    let buffer = create_buffer(shared, bytes, glow::STREAM_DRAW)?;
    Ok(Block::new(shared, buffer, bytes))
}

/// A mapping that is undone when this is dropped, even if the caller's closure panics.
struct BlockMapping<'a> {
    block: &'a Block,
    intact: &'a mut bool,
}

impl Drop for BlockMapping<'_> {
    fn drop(&mut self) {
        let shared = self.block.shared();
        // SAFETY: the context is current. The buffer is bound again, since `f` may have called GL itself.
        unsafe {
            shared.gl.bind_buffer(TARGET, Some(self.block.buffer()));
            // Without the loader, glow's call does the same and discards the result.
            *self.intact = shared.raw.unmap_buffer(TARGET).unwrap_or_else(|| {
                shared.gl.unmap_buffer(TARGET);
                true
            });
        }
    }
}

/// Maps new memory, lets `f` write it, and unmaps it. `f` is called again where the driver lost the first content.
pub(super) fn map_write(block: &Block, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
    let shared = block.shared();
    shared.enter()?;
    let _bound = BoundBuffer::write(shared, block.buffer());
    for _ in 0..2 {
        let mut intact = true;
        map_once(block, f, &mut intact)?;
        if intact {
            return Ok(());
        }
        tracing::debug!("glUnmapBuffer lost the content; filling again");
    }
    Err(shared.failure("glUnmapBuffer", 0, "GL_FALSE", "The content was lost twice while mapped; try again."))
}

fn map_once(block: &Block, f: &mut dyn FnMut(&mut [u8]) -> Result<()>, intact: &mut bool) -> Result<()> {
    const CALL: &str = "glMapBufferRange";
    let (shared, len) = (block.shared(), block.len());
    let access = glow::MAP_WRITE_BIT | glow::MAP_INVALIDATE_BUFFER_BIT;
    // SAFETY: the context is current, the buffer is bound and `len` bytes long.
    let address = unsafe {
        shared.gl.bind_buffer(TARGET, Some(block.buffer()));
        shared.gl.map_buffer_range(TARGET, 0, len as i32, access)
    };
    if address.is_null() {
        let unknown = || shared.failure(CALL, 0, "null", "The driver has too little address space or memory.");
        return Err(shared.check(CALL).err().unwrap_or_else(unknown));
    }
    let _mapping = BlockMapping { block, intact };
    // SAFETY: the mapping is `len` bytes, writable, ours alone until `_mapping` goes.
    f(unsafe { std::slice::from_raw_parts_mut(address, len) })
}
