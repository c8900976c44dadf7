//! Memory that GL opens by a handle of the operating system, of the compute device or made here for it:
//! `GL_EXT_memory_object`.

use super::{Block, ImageBlock};
use crate::api::gl_format::gl_format;
use crate::api::memory_object::{MemoryObject, MemoryObjectFns};
use crate::api::os;
use crate::api::vulkan::VulkanMemory;
use crate::context::context_state::ContextState;
use crate::context::owned::Owned;
use crate::objects::buffer_object::create_name;
use crate::objects::state::BoundBuffer;
use crate::objects::texture_object::{bare_texture, set_order};
use glow::HasContext as _;
use interop_core::devices::os_handle::ImportedHandle;
use interop_core::{Error, HandleType, ImageDesc, MemoryHandle, MemoryShape, Result, Support, SurfaceDesc};
use std::rc::Rc;

const IMPORT: &str = os::name(os::IMPORT_MEMORY);
const STORAGE: &str = "glTexStorageMem2DEXT";

/// More than llvmpipe takes for itself behind a buffer.
const PADDING: usize = 256;

/// A memory object over the whole allocation behind `handle`, for one buffer or texture alone.
///
/// A buffer over a part of the memory came out unmapped in about one of 50 imports on NVIDIA (580.159): GL read zero and
/// its writes were lost, with no error. One over all of it, and dedicated to it, never did. Textures that are not
/// dedicated show other memory there now and then.
fn open(
    shared: &Rc<ContextState>,
    handle: MemoryHandle,
    shape: MemoryShape,
) -> Result<(Owned<MemoryObject>, MemoryObjectFns)> {
    let functions = match (shared.caps.can_import(HandleType::OPAQUE, shape), &shared.raw.memory_objects) {
        (Support::Yes, Some(functions)) => functions,
        (Support::No(reason), _) => return Err(shared.unsupported(reason)),
        (_, None) => return Err(shared.unsupported("the functions of the extension were not loaded".into())),
    };
    if shared.device.vendor.contains("NVIDIA") && !os::may_be_nvidias(handle.handle()) {
        return Err(Error::refused("the handle is of no memory of an NVIDIA GPU: its file is not NVIDIA's device"));
    }
    shared.drain_errors(IMPORT);
    // SAFETY: the context is current and lists the extension.
    let memory = unsafe { functions.create() }.ok_or_else(|| shared.no_name("glCreateMemoryObjectsEXT", ""))?;
    let memory = Owned::new(shared, memory);
    let (whole, to_driver) = (handle.bytes(), ImportedHandle::new(handle.into_handle()));
    // SAFETY: as above; the memory object is new, the handle open and of memory of so many bytes.
    unsafe {
        functions.set_dedicated(memory.get());
        functions.import(memory.get(), whole, to_driver.number());
    }
    if let Err(error) = shared.check_with(IMPORT, hint) {
        to_driver.close_if_left();
        return Err(error);
    }
    Ok((memory, *functions))
}

/// A buffer in memory that we make, and that others can open.
pub(super) fn exported_buffer(shared: &Rc<ContextState>, bytes: usize) -> Result<Rc<Block>> {
    if let Support::No(reason) = shared.caps.can_export(HandleType::OPAQUE, MemoryShape::Linear) {
        return Err(shared.unsupported(reason));
    }
    // llvmpipe's padding, see below.
    let room = if shared.device.software { bytes.saturating_add(PADDING) } else { bytes };
    let made = VulkanMemory::buffer(shared.vulkan()?, room)?;
    buffer(shared, made.export()?, bytes, Some(made))
}

/// The GL buffer over the first `bytes` of the allocation behind `handle`, which is that of `made` where we made it.
pub(super) fn buffer(
    shared: &Rc<ContextState>,
    handle: MemoryHandle,
    bytes: usize,
    made: Option<VulkanMemory>,
) -> Result<Rc<Block>> {
    let whole = handle.bytes();
    if bytes as u64 > whole {
        return Err(Error::refused(format!("{bytes} bytes were asked for of memory that has {whole}")));
    }
    // llvmpipe counts padding of its own, so that there the whole does not fit into itself.
    let size = if shared.device.software { bytes } else { usize::try_from(whole).unwrap_or(usize::MAX) };
    let size = isize::try_from(size).map_err(|_| Error::refused(format!("no memory has {whole} bytes")))?;
    let (memory, functions) = open(shared, handle, MemoryShape::Linear)?;
    let buffer = create_name(shared)?;
    {
        let _bound = BoundBuffer::write(shared, buffer.get());
        // SAFETY: the context is current and lists the extension; the buffer has no storage yet.
        unsafe { functions.buffer_storage(glow::COPY_WRITE_BUFFER, size, memory.get()) };
    }
    // Only here Mesa reports a handle that it could not open, as GL_OUT_OF_MEMORY.
    shared.check_with("glBufferStorageMemEXT", hint)?;
    Ok(Block::in_memory(shared, buffer, memory, made, bytes))
}

/// A texture in memory that we make, and that others can open.
pub(super) fn exported_texture(shared: &Rc<ContextState>, image: &ImageDesc) -> Result<Rc<ImageBlock>> {
    if let Support::No(reason) = shared.caps.can_export(HandleType::OPAQUE, MemoryShape::Image) {
        return Err(shared.unsupported(reason));
    }
    let made = VulkanMemory::image(shared.vulkan()?, image)?;
    texture(shared, made.export()?, image, Some(made))
}

/// The texture in the allocation behind `handle`, which is that of `made` where we made it.
pub(super) fn texture(
    shared: &Rc<ContextState>,
    handle: MemoryHandle,
    image: &ImageDesc,
    made: Option<VulkanMemory>,
) -> Result<Rc<ImageBlock>> {
    let whole = handle.bytes();
    let format = gl_format(image.format);
    let len = SurfaceDesc::Image(*image).byte_len()?;
    if len as u64 > whole {
        return Err(Error::refused(format!("an image of {len} bytes does not fit into memory that has {whole}")));
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
    shared.check_with(STORAGE, hint)?;
    set_order(shared, texture.get(), format)?;
    if found != width {
        // Mesa reports neither a handle that it could not open nor memory that is too small for its layout.
        return Err(shared.failure(STORAGE, 0, "the texture got no storage", hint(0)));
    }
    Ok(ImageBlock::new(shared, texture, memory, made))
}

fn hint(code: u32) -> &'static str {
    match code {
        glow::CONTEXT_LOST => crate::api::error_codes::hint(code),
        _ => {
            "The handle must be of memory that the compute side exported on this very GPU, and come with the size \
             of the whole; use another path otherwise."
        }
    }
}
