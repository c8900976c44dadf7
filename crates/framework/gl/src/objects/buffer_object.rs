//! Buffer objects: created, written, copied and read.

use crate::context::context_state::ContextState;
use crate::context::owned_object::OwnedObject;
use crate::objects::state_guards::BoundBuffer;
use glow::HasContext as _;
use interop_core::{Error, Result, SharedHandle};
use std::ops::Range;
use std::sync::Arc;

/// Creates a name for a buffer.
pub(crate) fn create_name(shared: &Arc<ContextState>) -> Result<OwnedObject<glow::Buffer>> {
    // SAFETY: the context is current; the direct call is gated.
    let name = unsafe { if shared.features.dsa { shared.gl.create_named_buffer() } else { shared.gl.create_buffer() } };
    Ok(OwnedObject::new(shared, name.map_err(|e| shared.no_name("glCreateBuffers", &e))?))
}

/// Creates a mutable buffer of `bytes` bytes (at most 2^31 - 1, checked by the callers).
pub(crate) fn create_buffer(shared: &Arc<ContextState>, bytes: usize, usage: u32) -> Result<OwnedObject<glow::Buffer>> {
    const CALL: &str = "glBufferData";
    shared.drain_errors(CALL);
    let buffer = create_name(shared)?;
    {
        let _bound = BoundBuffer::write(shared, buffer.get());
        // SAFETY: the context is current and the buffer bound.
        unsafe { shared.gl.buffer_data_size(glow::COPY_WRITE_BUFFER, bytes as i32, usage) }
    }
    shared.check(CALL)?;
    Ok(buffer)
}

/// `glBufferSubData`, with direct state access where available. `offset + bytes.len()` lies inside the buffer.
pub(crate) fn sub_data(shared: &ContextState, buffer: glow::Buffer, offset: usize, bytes: &[u8]) {
    // SAFETY: the context is current; offsets fit in 31 bits, as sizes do.
    unsafe {
        if shared.features.dsa {
            shared.gl.named_buffer_sub_data_u8_slice(buffer, offset as i32, bytes);
        } else {
            let _bound = BoundBuffer::write(shared, buffer);
            shared.gl.buffer_sub_data_u8_slice(glow::COPY_WRITE_BUFFER, offset as i32, bytes);
        }
    }
}

/// `glCopyBufferSubData`. Both ranges lie inside their buffers, which differ.
pub(crate) fn copy(
    shared: &ContextState,
    from: glow::Buffer,
    from_offset: usize,
    to: glow::Buffer,
    to_offset: usize,
    len: usize,
) {
    let _read = BoundBuffer::read(shared, from);
    let _write = BoundBuffer::write(shared, to);
    // SAFETY: the context is current and both are bound; offsets fit in 31 bits.
    unsafe {
        shared.gl.copy_buffer_sub_data(
            glow::COPY_READ_BUFFER,
            glow::COPY_WRITE_BUFFER,
            from_offset as i32,
            to_offset as i32,
            len as i32,
        );
    }
}

/// Returns the bytes of a range of any buffer, through a copy by GL.
pub(crate) fn read_back_buffer(
    shared: &Arc<ContextState>,
    buffer: glow::Buffer,
    range: Range<usize>,
) -> Result<Vec<u8>> {
    let scratch = create_buffer(shared, range.len(), glow::STREAM_READ)?;
    let mut bytes = vec![0; range.len()];
    let is_there = shared.checked("glGetBufferSubData", || {
        copy(shared, buffer, range.start, scratch.get(), 0, range.len());
        let _bound = BoundBuffer::write(shared, scratch.get());
        // SAFETY: the context is current, and the scratch buffer is bound and as long as `bytes`.
        unsafe { read_bound(&shared.gl, shared.features.es, glow::COPY_WRITE_BUFFER, 0, &mut bytes) }
    })?;
    if is_there { Ok(bytes) } else { Err(shared.no_name("glMapBufferRange", NOT_MAPPED)) }
}

/// Reason for a driver that returned no address.
pub(crate) const NOT_MAPPED: &str = "the buffer was not mapped";

/// Reads the buffer that is bound to `target`; returns false where OpenGL ES could not map it.
///
/// # Safety
/// The context is current and `gl` belongs to it, the buffer has the bytes from `at` on, and offset and length fit in
/// 31 bits.
pub(crate) unsafe fn read_bound(gl: &glow::Context, es: bool, target: u32, at: usize, into: &mut [u8]) -> bool {
    // SAFETY: the caller's promise; what is mapped is read before it is unmapped.
    unsafe {
        if !es {
            gl.get_buffer_sub_data(target, at as i32, into);
            return true;
        }
        let mapped = gl.map_buffer_range(target, at as i32, into.len() as i32, glow::MAP_READ_BIT);
        if !mapped.is_null() {
            mapped.copy_to_nonoverlapping(into.as_mut_ptr(), into.len());
            gl.unmap_buffer(target);
        }
        !mapped.is_null()
    }
}

/// Writes the buffer that is bound to `target`; false where it could not be mapped, as OpenGL ES needs it to be: NVIDIA's
/// `glBufferSubData` loses what it writes there while a compute shader runs.
///
/// # Safety
/// The context is current and `gl` of it, the buffer has the bytes from `at` on, and offset and length fit in 31 bits.
pub(crate) unsafe fn write_bound(gl: &glow::Context, es: bool, target: u32, at: usize, bytes: &[u8]) -> bool {
    // SAFETY: the caller's promise; what is mapped is written before it is unmapped.
    unsafe {
        if !es || bytes.is_empty() {
            gl.buffer_sub_data_u8_slice(target, at as i32, bytes);
            return true;
        }
        let mapped = gl.map_buffer_range(target, at as i32, bytes.len() as i32, glow::MAP_WRITE_BIT);
        if !mapped.is_null() {
            mapped.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            gl.unmap_buffer(target);
        }
        !mapped.is_null()
    }
}

/// Checks how an invalid name is refused.
pub(crate) fn no_buffer(id: u32) -> Error {
    Error::refused(format!("there is no buffer {id} in this context"))
}

/// Rejects a name that is not a buffer of at least this many bytes. The context must be current.
pub(crate) fn check_buffer(shared: &ContextState, name: glow::Buffer, bytes: u64) -> Result<()> {
    let id = name.0.get();
    // SAFETY: the context is current, and any number may be asked for.
    if !unsafe { shared.gl.is_buffer(name) } {
        return Err(no_buffer(id));
    }
    shared.drain_errors("glGetBufferParameteriv");
    let has = {
        let _bound = BoundBuffer::read(shared, name);
        // SAFETY: the context is current and the buffer bound; the limit on surfaces is that of 31 bits.
        unsafe { shared.gl.get_buffer_parameter_i32(glow::COPY_READ_BUFFER, glow::BUFFER_SIZE) }
    };
    shared.check("glGetBufferParameteriv")?;
    SharedHandle::check_room(has as u64, bytes)
}
