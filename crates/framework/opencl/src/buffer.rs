//! [`Buffer`]: memory of a context; [`HostBuffer`]: host memory as a buffer.

use super::{Context, MemFlags, Queue};
use crate::Element;
use crate::ffi::{HostMem, MappedBytes, Mem};
use cl3::memory as m;
use interop_core::{Error, HostBlock, Result};
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Linear memory (OpenCL 3.0 API, 5.2; `clCreateBuffer`), or a part of it. Cheap to clone: clones share the memory. Any
/// thread may use it. Its content is undefined until it is written.
#[derive(Clone)]
pub struct Buffer {
    pub(crate) raw: Arc<Mem>,
    pub(crate) context: Context,
    flags: MemFlags,
    offset: usize,
    len: usize,
    /// The buffer of which it is a part.
    parent: Option<Arc<Buffer>>,
}

impl Buffer {
    /// Allocates `bytes` of memory (`clCreateBuffer`).
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for 0 bytes; [`Error::Unsupported`] above the largest allocation of a device.
    pub fn new(context: &Context, flags: MemFlags, bytes: usize) -> Result<Self> {
        check_size(context, bytes)?;
        let raw = Mem::buffer(context, flags.bits(), bytes, None).map_err(|f| context.error(f))?;
        Ok(Self::of(raw, context, flags, bytes))
    }

    /// Allocates memory with a copy of `data` (`CL_MEM_COPY_HOST_PTR`).
    ///
    /// # Errors
    /// The errors of [`Buffer::new`].
    pub fn with_data<T: Element>(context: &Context, flags: MemFlags, data: &[T]) -> Result<Self> {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        check_size(context, bytes.len())?;
        let raw = Mem::buffer(context, flags.bits(), bytes.len(), Some(bytes)).map_err(|f| context.error(f))?;
        Ok(Self::of(raw, context, flags, bytes.len()))
    }

    pub(crate) fn of(raw: Arc<Mem>, context: &Context, flags: MemFlags, len: usize) -> Self {
        Self { raw, context: context.clone(), flags, offset: 0, len, parent: None }
    }

    /// Wraps a memory object of unknown origin, which must be a buffer.
    pub(crate) fn of_mem(raw: Arc<Mem>, context: &Context) -> Result<Self> {
        let kind = raw.kind().map_err(|f| context.error(f))?;
        if kind != m::CL_MEM_OBJECT_BUFFER {
            return Err(Error::invalid("clGetMemObjectInfo", format!("CL_MEM_TYPE {kind:#x} is not a buffer")));
        }
        let parent = raw.parent().map(|parent| Self::of_mem(parent.clone(), context)).transpose()?;
        let number = |param| raw.info(param).map(usize::from_ne_bytes).map_err(|f| context.error(f));
        let (len, offset) = (number(m::CL_MEM_SIZE)?, number(m::CL_MEM_OFFSET)?);
        let flags = raw.info(m::CL_MEM_FLAGS).map(u64::from_ne_bytes).map_err(|f| context.error(f))?;
        let flags = MemFlags::of_object(flags);
        Ok(Self { raw, context: context.clone(), flags, offset, len, parent: parent.map(Arc::new) })
    }

    /// Returns the bytes `range` of this buffer as a buffer (`clCreateSubBuffer`); it keeps this one.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the range is empty, outside, or does not begin at a multiple of
    /// [`Buffer::part_alignment`], or this is itself a part.
    pub fn part(&self, flags: MemFlags, range: Range<usize>) -> Result<Self> {
        const OP: &str = "clCreateSubBuffer";
        self.check_range(&range, OP)?;
        if self.raw.parent().is_some() {
            return Err(Error::invalid(OP, "this buffer is itself a part; create the part from the whole buffer"));
        }
        let alignment = self.part_alignment()?;
        if !range.start.is_multiple_of(alignment) {
            let problem = format!("a part cannot begin at byte {}; use a multiple of {alignment}", range.start);
            return Err(Error::invalid(OP, problem));
        }
        let raw = self.raw.part(flags.bits(), range.clone()).map_err(|f| self.context.error(f))?;
        let flags = if flags == MemFlags::NONE { self.flags } else { flags };
        let parent = Some(Arc::new(self.clone()));
        Ok(Self { raw, context: self.context.clone(), flags, offset: range.start, len: range.len(), parent })
    }

    /// Returns the alignment of a part's first byte: the largest `CL_DEVICE_MEM_BASE_ADDR_ALIGN` of the context's
    /// devices, in bytes.
    pub fn part_alignment(&self) -> Result<usize> {
        let bits = self.context.devices().iter().map(super::Device::mem_base_addr_align);
        let bits = bits.collect::<Result<Vec<_>>>()?.into_iter().max().unwrap_or(8);
        Ok((bits as usize / 8).max(1))
    }

    /// Returns the number of bytes (`CL_MEM_SIZE`).
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the offset of a part in its buffer, in bytes (`CL_MEM_OFFSET`).
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Returns the flags of its creation (`CL_MEM_FLAGS`), without the bit that [`Buffer::with_data`] or [`HostBuffer`]
    /// adds; a part created without flags has its buffer's.
    pub fn flags(&self) -> MemFlags {
        self.flags
    }

    /// Returns its context (`CL_MEM_CONTEXT`).
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Returns true where this is a part of another buffer (`CL_MEM_ASSOCIATED_MEMOBJECT`).
    pub fn is_part(&self) -> bool {
        self.raw.parent().is_some()
    }

    /// Returns the buffer of which this is a part (`CL_MEM_ASSOCIATED_MEMOBJECT`).
    pub fn parent(&self) -> Option<&Self> {
        self.parent.as_deref()
    }

    /// Returns the number of bytes that the driver reports (`clGetMemObjectInfo`).
    pub fn driver_size(&self) -> Result<usize> {
        self.raw.info(m::CL_MEM_SIZE).map(usize::from_ne_bytes).map_err(|f| self.context.error(f))
    }

    /// Returns the number of maps that the driver counts (`CL_MEM_MAP_COUNT`).
    pub fn map_count(&self) -> Result<u32> {
        self.raw.info(m::CL_MEM_MAP_COUNT).map(u32::from_ne_bytes).map_err(|f| self.context.error(f))
    }

    /// Calls `f` once when the driver has deleted the memory, after the last clone and the last command
    /// (`clSetMemObjectDestructorCallback`). Several are called in reverse order. `f` runs on any thread, must be quick and
    /// call no OpenCL; a panic in it is logged.
    pub fn on_delete(&self, f: impl FnOnce() + Send + 'static) -> Result<()> {
        self.raw.on_delete(Box::new(move |()| f())).map_err(|f| self.context.error(f))
    }

    /// Returns [`Error::InvalidInput`] for an empty range, or one that reaches outside.
    pub(crate) fn check_range(&self, range: &Range<usize>, operation: &'static str) -> Result<()> {
        if range.start >= range.end || range.end > self.len {
            let (start, end, len) = (range.start, range.end, self.len);
            return Err(Error::invalid(operation, format!("bytes {start}..{end} lie outside a buffer of {len} bytes")));
        }
        Ok(())
    }
}

fn check_size(context: &Context, bytes: usize) -> Result<()> {
    const OP: &str = "clCreateBuffer";
    if bytes == 0 {
        return Err(Error::invalid(OP, "0 bytes requested; give at least 1"));
    }
    for device in context.devices() {
        let most = device.max_mem_alloc_size()?;
        if bytes as u64 > most {
            return Err(device.unsupported(OP, format!("{bytes} bytes exceed CL_DEVICE_MAX_MEM_ALLOC_SIZE, {most}")));
        }
    }
    Ok(())
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes at {}, {})", self.len, self.offset, self.flags)
    }
}

/// Host memory that kernels use in place (`CL_MEM_USE_HOST_PTR`), as a [`Buffer`].
///
/// It holds current bytes for the host only while it is mapped. Other code may also own the block. A map waits for that
/// code's commands. While one owner has mapped bytes, or uses them in a command, no other owner can get a slice of them
/// ([`interop_core::devices::borrows`]). The block is released when the driver has deleted the buffer. Dropping this
/// waits for the commands that use it. Where a clone or a part of the buffer is still alive, the block is released with
/// that one.
pub struct HostBuffer {
    // Released before the owner of the host memory.
    buffer: Buffer,
    _memory: HostMem,
}

impl HostBuffer {
    /// Makes the whole block a buffer (`clCreateBuffer`, `CL_MEM_USE_HOST_PTR`).
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an empty block; [`Error::Unsupported`] above the largest allocation of a device.
    pub fn new(context: &Context, flags: MemFlags, block: &HostBlock) -> Result<Self> {
        check_size(context, block.len())?;
        let (memory, raw) = HostMem::new(context, flags.bits(), block).map_err(|f| context.error(f))?;
        Ok(Self { buffer: Buffer::of(raw, context, flags, block.len()), _memory: memory })
    }
}

/// Host memory of a [`HostBuffer`] that its block's other owners hold; unmapped on drop (`clEnqueueUnmapMemObject`).
pub struct LentMemory(MappedBytes);

impl HostBuffer {
    /// Maps all of it for the block's other owners, who access it by its address (`clEnqueueMapBuffer`). Blocks until
    /// every command that uses it has completed. Commands that use it before [`LentMemory::take_back`] have undefined
    /// results, as in OpenCL.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] while another owner has a slice of it.
    pub fn lend(&self, queue: &Queue) -> Result<LentMemory> {
        queue.context().check_same(&self.context, "clEnqueueMapBuffer", "buffer")?;
        MappedBytes::lent(queue, &self.raw, self.len).map(LentMemory)
    }
}

impl LentMemory {
    /// Unmaps it for commands that are enqueued from now on (`clEnqueueUnmapMemObject`). No effect if it was already
    /// unmapped.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] while another owner writes a slice of it; it then stays mapped.
    pub fn take_back(&mut self) -> Result<()> {
        self.0.take_back()
    }
}

impl Deref for HostBuffer {
    type Target = Buffer;

    fn deref(&self) -> &Buffer {
        &self.buffer
    }
}
