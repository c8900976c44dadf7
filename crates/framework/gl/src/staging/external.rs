//! Memory that GL opens with a handle of the operating system, from the compute device or allocated here for it:
//! `GL_EXT_memory_object`.

use super::{Block, ImageBlock};
use crate::api::gl_format::gl_format;
use crate::api::memory_object::{MemoryObject, MemoryObjectFns};
use crate::api::vulkan::VulkanMemory;
use crate::context::context_state::ContextState;
use crate::context::external_objects::{buffer_size, memory_hint, open_memory};
use crate::context::owned_object::OwnedObject;
use crate::objects::buffer_object::create_name;
use crate::objects::state_guards::BoundBuffer;
use crate::objects::texture_object::{bare_texture, set_order};
use glow::HasContext as _;
use interop_core::{Error, HandleType, ImageDesc, MemoryHandle, MemoryShape, Result, Support, SurfaceDesc};
use std::sync::Arc;

const STORAGE: &str = "glTexStorageMem2DEXT";

/// Creates a memory object over the whole allocation behind `handle`, dedicated to one buffer or texture.
fn open(
    shared: &Arc<ContextState>,
    handle: MemoryHandle,
    shape: MemoryShape,
) -> Result<(OwnedObject<MemoryObject>, MemoryObjectFns)> {
    let functions = match (shared.caps.can_import(HandleType::OPAQUE, shape), &shared.raw.memory_objects) {
        (Support::Yes, Some(functions)) => functions,
        (Support::No(reason), _) => return Err(shared.unsupported(reason)),
        (_, None) => return Err(shared.unsupported("the functions of the extension were not loaded".into())),
    };
    // SAFETY: the context is current and lists the extension.
    let memory = unsafe { open_memory(functions, &shared.gl, &shared.device, handle) }?;
    Ok((OwnedObject::new(shared, memory), *functions))
}

/// Creates a buffer in memory that this crate allocates and others can open.
pub(super) fn exported_buffer(shared: &Arc<ContextState>, bytes: usize) -> Result<Arc<Block>> {
    shared.caps.can_export(HandleType::OPAQUE, MemoryShape::Linear).ok_or_else(|reason| shared.unsupported(reason))?;
    let made = VulkanMemory::buffer(shared.vulkan()?, bytes)?;
    buffer(shared, made.export()?, bytes, Some(made))
}

/// Creates the GL buffer over the first `bytes` of the allocation behind `handle`, which is that of `made` if this
/// crate allocated it.
pub(super) fn buffer(
    shared: &Arc<ContextState>,
    handle: MemoryHandle,
    bytes: usize,
    made: Option<VulkanMemory>,
) -> Result<Arc<Block>> {
    let size = buffer_size(&shared.device, &handle, bytes)?;
    let (memory, functions) = open(shared, handle, MemoryShape::Linear)?;
    let buffer = create_name(shared)?;
    {
        let _bound = BoundBuffer::write(shared, buffer.get());
        // SAFETY: the context is current and lists the extension; the buffer has no storage yet.
        unsafe { functions.buffer_storage(glow::COPY_WRITE_BUFFER, size, memory.get()) };
    }
    // Mesa reports a handle that it could not open only here, as GL_OUT_OF_MEMORY.
    shared.check_with("glBufferStorageMemEXT", memory_hint)?;
    Ok(Block::in_memory(shared, buffer, memory, made, bytes))
}

/// Creates a texture in memory that this crate allocates and others can open.
pub(super) fn exported_texture(shared: &Arc<ContextState>, image: &ImageDesc) -> Result<Arc<ImageBlock>> {
    shared.caps.can_export(HandleType::OPAQUE, MemoryShape::Image).ok_or_else(|reason| shared.unsupported(reason))?;
    let made = VulkanMemory::image(shared.vulkan()?, image)?;
    texture(shared, made.export()?, image, Some(made))
}

/// Creates the texture in the allocation behind `handle`, which is that of `made` if this crate allocated it.
pub(super) fn texture(
    shared: &Arc<ContextState>,
    handle: MemoryHandle,
    image: &ImageDesc,
    made: Option<VulkanMemory>,
) -> Result<Arc<ImageBlock>> {
    let whole = handle.bytes();
    let format = gl_format(image.format);
    let len = SurfaceDesc::Image(*image).byte_len()?;
    if len as u64 > whole {
        return Err(Error::refused(format!("an image of {len} bytes does not fit into memory of {whole} bytes")));
    }
    let (memory, functions) = open(shared, handle, MemoryShape::Image)?;
    // Checked against MAX_TEXTURE_SIZE above.
    let (width, height) = (image.extent.width as i32, image.extent.height as i32);
    let mut found = width;
    let texture = bare_texture(shared, || {
        // SAFETY: the context is current and lists the extension; the bound texture has no storage yet.
        unsafe {
            functions.texture_storage(format.internal, width, height, memory.get());
            if shared.features.level_queries {
                found = shared.gl.get_tex_level_parameter_i32(glow::TEXTURE_2D, 0, glow::TEXTURE_WIDTH);
            }
        }
    })?;
    shared.check_with(STORAGE, memory_hint)?;
    set_order(shared, texture.get(), format)?;
    if found != width {
        // Mesa reports neither a handle that it could not open nor memory that is too small for its layout.
        return Err(shared.failure(STORAGE, 0, "the texture has no storage", memory_hint(0)));
    }
    Ok(ImageBlock::new(shared, texture, memory, made))
}
