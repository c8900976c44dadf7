//! Memory of the compute device that GL opens by a descriptor: `GL_EXT_memory_object_fd`.

use super::Block;
use crate::buffer::create_name;
use crate::names::Owned;
use crate::shared::Shared;
use crate::state::BoundBuffer;
use interop_core::{Error, HandleType, Result, Support};
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::rc::Rc;

/// The GL buffer over the first `bytes` of the allocation of `whole` bytes behind `fd`.
pub(super) fn create(shared: &Rc<Shared>, fd: OwnedFd, whole: u64, bytes: usize) -> Result<Rc<Block>> {
    const OP: &str = "create_staging";
    const IMPORT: &str = "glImportMemoryFdEXT";
    let functions = match (shared.caps.can_import(HandleType::OpaqueFd), &shared.raw.memory_objects) {
        (Support::Yes, Some(functions)) => functions,
        (Support::No(reason), _) => return Err(shared.unsupported(OP, reason)),
        (_, None) => return Err(shared.unsupported(OP, "the functions of the extension were not loaded".into())),
    };
    if bytes as u64 > whole {
        return Err(Error::invalid(OP, format!("{bytes} bytes were asked for of memory that has {whole}")));
    }
    shared.drain_errors(IMPORT);
    // SAFETY: the context is current and lists the extension.
    let memory = unsafe { functions.create() }.ok_or_else(|| shared.no_name("glCreateMemoryObjectsEXT", ""))?;
    let memory = Owned::new(shared, memory);
    // SAFETY: as above; the memory object is new and the descriptor open.
    unsafe { functions.import_fd(memory.get(), whole, fd.as_raw_fd()) };
    shared.check_with(IMPORT, hint)?;
    // It belongs to the driver now, which closes it.
    let _ = fd.into_raw_fd();
    let buffer = create_name(shared)?;
    {
        let _bound = BoundBuffer::write(shared, buffer.get());
        // SAFETY: as above; the buffer has no storage yet, and `bytes` fits in 31 bits.
        unsafe { functions.buffer_storage(glow::COPY_WRITE_BUFFER, bytes as isize, memory.get()) };
    }
    // Only here Mesa reports a descriptor that it could not open, as GL_OUT_OF_MEMORY.
    shared.check_with("glBufferStorageMemEXT", hint)?;
    Ok(Block::new(shared, buffer, Some(memory), bytes))
}

fn hint(code: u32) -> &'static str {
    match code {
        glow::CONTEXT_LOST => crate::error::hint(code),
        _ => {
            "The descriptor must be of memory that the compute side exported on this very GPU, and come with the size \
             of the whole; use another path otherwise."
        }
    }
}
