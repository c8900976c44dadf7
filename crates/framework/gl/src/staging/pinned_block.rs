//! Host memory that GL reads in place: `GL_AMD_pinned_memory`.

use super::Block;
use crate::api::features::EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD;
use crate::context::context_state::ContextState;
use crate::objects::buffer_object::create_name;
use glow::HasContext as _;
use interop_core::devices::borrows::Holder;
use interop_core::{Error, HostBlock, Result};
use std::sync::Arc;

/// Creates the GL buffer over the first `bytes` of `host`. It keeps the memory alive until GL no longer uses it.
pub(super) fn create(shared: &Arc<ContextState>, host: &HostBlock, bytes: usize) -> Result<Arc<Block>> {
    if !shared.features.pinned_memory {
        return Err(shared.unsupported("the driver does not list GL_AMD_pinned_memory".into()));
    }
    let page = HostBlock::PAGE;
    let whole = bytes.next_multiple_of(page);
    let fits = i32::try_from(whole).is_ok() && whole <= host.len();
    if !host.address().addr().get().is_multiple_of(page) || !fits {
        return Err(Error::refused(format!(
            "{bytes} bytes of imported memory need {whole} bytes at a multiple of {page}; the block has {} \
                 bytes at {:?}",
            host.len(),
            host.address()
        )));
    }
    let mut buffer = create_name(shared)?;
    let gl = &shared.gl;
    let pages = host.read(0..whole, Holder::Staging)?;
    shared.checked("glBufferData", || {
        // SAFETY: the context is current and lists the extension, so the target exists; GL uses the memory in place and
        // copies nothing. The target has no query, so it is left unbound.
        unsafe {
            gl.bind_buffer(EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD, Some(buffer.get()));
            gl.buffer_data_u8_slice(EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD, &pages, glow::STREAM_DRAW);
            gl.bind_buffer(EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD, None);
        }
    })?;
    buffer.keep(host.clone());
    Ok(Block::new(shared, buffer, bytes))
}
