//! [`Buffer`]: memory of a context; [`HostBuffer`]: host memory as one.

use super::{Context, MemFlags, Queue};
use crate::Element;
use crate::ffi::{HostMem, Mapped, Mem};
use cl3::memory as m;
use interop_core::{Error, HostBlock, Result};
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Linear memory (OpenCL 3.0 API, 5.2; `clCreateBuffer`), or a part of it. Cheap to clone: clones are the same memory. Any
/// thread may use it. Its content is undefined until it is written.
#[derive(Clone)]
pub struct Buffer {
    pub(crate) raw: Arc<Mem>,
    pub(crate) context: Context,
    flags: MemFlags,
    offset: usize,
    len: usize,
    /// Buffer that it is a part of.
    parent: Option<Arc<Buffer>>,
}

impl Buffer {
    /// `bytes` of memory (`clCreateBuffer`).
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for 0 bytes, [`Error::Unsupported`] above the largest allocation of a device.
    pub fn new(context: &Context, flags: MemFlags, bytes: usize) -> Result<Self> {
        check_size(context, bytes)?;
        let raw = Mem::buffer(context, flags.bits(), bytes, None).map_err(|f| context.error(f))?;
        Ok(Self::of(raw, context, flags, bytes))
    }

    /// Memory with a copy of `data` (`CL_MEM_COPY_HOST_PTR`).
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

    /// A buffer of which nothing is known but that it is one.
    pub(crate) fn of_mem(raw: Arc<Mem>, context: &Context) -> Result<Self> {
        let kind = raw.kind().map_err(|f| context.error(f))?;
        if kind != m::CL_MEM_OBJECT_BUFFER {
            return Err(Error::invalid("clGetMemObjectInfo", format!("CL_MEM_TYPE {kind:#x} is no buffer")));
        }
        let parent = raw.parent().map(|parent| Self::of_mem(parent.clone(), context)).transpose()?;
        let number = |param| raw.info(param).map(usize::from_ne_bytes).map_err(|f| context.error(f));
        let (len, offset) = (number(m::CL_MEM_SIZE)?, number(m::CL_MEM_OFFSET)?);
        let flags = raw.info(m::CL_MEM_FLAGS).map(u64::from_ne_bytes).map_err(|f| context.error(f))?;
        let flags = MemFlags::of_object(flags);
        Ok(Self { raw, context: context.clone(), flags, offset, len, parent: parent.map(Arc::new) })
    }

    /// The bytes `range` of this buffer as a buffer (`clCreateSubBuffer`); it keeps this one.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the range is empty, outside, or does not begin at a multiple of
    /// [`Buffer::part_alignment`], or this is itself a part.
    pub fn part(&self, flags: MemFlags, range: Range<usize>) -> Result<Self> {
        const OP: &str = "clCreateSubBuffer";
        self.check_range(&range, OP)?;
        if self.raw.parent().is_some() {
            return Err(Error::invalid(OP, "this buffer is itself a part; take the part from the whole buffer"));
        }
        let alignment = self.part_alignment()?;
        if !range.start.is_multiple_of(alignment) {
            let problem = format!("a part cannot begin at byte {}; take a multiple of {alignment}", range.start);
            return Err(Error::invalid(OP, problem));
        }
        let raw = self.raw.part(flags.bits(), range.clone()).map_err(|f| self.context.error(f))?;
        let flags = if flags == MemFlags::NONE { self.flags } else { flags };
        let parent = Some(Arc::new(self.clone()));
        Ok(Self { raw, context: self.context.clone(), flags, offset: range.start, len: range.len(), parent })
    }

    /// Bytes that the beginning of a part must be a multiple of: the largest `CL_DEVICE_MEM_BASE_ADDR_ALIGN` of the
    /// context's devices.
    pub fn part_alignment(&self) -> Result<usize> {
        let bits = self.context.devices().iter().map(super::Device::mem_base_addr_align);
        let bits = bits.collect::<Result<Vec<_>>>()?.into_iter().max().unwrap_or(8);
        Ok((bits as usize / 8).max(1))
    }

    /// Number of bytes (`CL_MEM_SIZE`).
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.len
    }

    /// Tells where a part begins in its buffer, bytes (`CL_MEM_OFFSET`).
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Tells how it was made (`CL_MEM_FLAGS`), without the bit that [`Buffer::with_data`] or [`HostBuffer`] adds; a part made
    /// with none has its buffer's.
    pub fn flags(&self) -> MemFlags {
        self.flags
    }

    /// Its context (`CL_MEM_CONTEXT`).
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// True where this is a part of another buffer (`CL_MEM_ASSOCIATED_MEMOBJECT`).
    pub fn is_part(&self) -> bool {
        self.raw.parent().is_some()
    }

    /// The buffer that this is a part of (`CL_MEM_ASSOCIATED_MEMOBJECT`).
    pub fn parent(&self) -> Option<&Self> {
        self.parent.as_deref()
    }

    /// Returns what the driver says of the number of bytes (`clGetMemObjectInfo`).
    pub fn driver_size(&self) -> Result<usize> {
        self.raw.info(m::CL_MEM_SIZE).map(usize::from_ne_bytes).map_err(|f| self.context.error(f))
    }

    /// Number of maps that the driver counts (`CL_MEM_MAP_COUNT`).
    pub fn map_count(&self) -> Result<u32> {
        self.raw.info(m::CL_MEM_MAP_COUNT).map(u32::from_ne_bytes).map_err(|f| self.context.error(f))
    }

    /// Calls `f` once when the driver has deleted the memory, after the last clone and the last command
    /// (`clSetMemObjectDestructorCallback`). Several are called in reverse order. `f` runs on any thread, must be quick and
    /// call no OpenCL; a panic in it is logged.
    pub fn on_delete(&self, f: impl FnOnce() + Send + 'static) -> Result<()> {
        self.raw.on_delete(Box::new(move |()| f())).map_err(|f| self.context.error(f))
    }

    /// [`Error::InvalidInput`] for an empty range, or one that reaches outside.
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
        return Err(Error::invalid(OP, "0 bytes asked for; give at least 1"));
    }
    for device in context.devices() {
        let most = device.max_mem_alloc_size()?;
        if bytes as u64 > most {
            return Err(device.unsupported(OP, format!("{bytes} bytes are above CL_DEVICE_MAX_MEM_ALLOC_SIZE, {most}")));
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
/// It holds current bytes for the host only while it is mapped. Others may have the block, too. A map waits for their
/// commands. Nobody has a slice of bytes that another has mapped, or uses them by a command
/// ([`interop_core::devices::borrows`]). The block is released when the driver has deleted the buffer. Dropping this
/// waits for the commands that use it. Where the buffer or a part of it lives on (a clone), the block is kept forever,
/// and a log says so. Stays on its thread, as blocks do.
pub struct HostBuffer {
    // Let go of before what holds the host memory.
    buffer: Buffer,
    _memory: HostMem,
}

impl HostBuffer {
    /// The whole block as a buffer (`clCreateBuffer`, `CL_MEM_USE_HOST_PTR`).
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an empty block, [`Error::Unsupported`] above the largest allocation of a device.
    pub fn new(context: &Context, flags: MemFlags, block: &HostBlock) -> Result<Self> {
        check_size(context, block.len())?;
        let (memory, raw) = HostMem::new(context, flags.bits(), block).map_err(|f| context.error(f))?;
        Ok(Self { buffer: Buffer::of(raw, context, flags, block.len()), _memory: memory })
    }
}

/// Host memory of a [`HostBuffer`] that is with its block's other owners; unmapped on drop (`clEnqueueUnmapMemObject`).
pub struct Lent(Mapped);

impl HostBuffer {
    /// Maps all of it for the block's other owners, who use it by its address (`clEnqueueMapBuffer`). Blocks: waits for every
    /// command that uses it. What commands do with it before [`Lent::take_back`] is undefined, as in OpenCL.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where somebody has a slice of it.
    pub fn lend(&self, queue: &Queue) -> Result<Lent> {
        queue.context().check_same(&self.context, "clEnqueueMapBuffer", "buffer")?;
        Mapped::lent(queue, &self.raw, self.len).map(Lent)
    }
}

impl Lent {
    /// Unmaps it, for commands that are enqueued from now on (`clEnqueueUnmapMemObject`). Nothing happens where that was done.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where somebody writes a slice of it; then it stays with them.
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
