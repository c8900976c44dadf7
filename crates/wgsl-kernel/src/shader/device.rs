//! [`ShaderDevice`].

use crate::launch::Launch;
use crate::limits::Limits;
use crate::text::KernelText;
use interop_core::devices::owned::Maker;
use interop_core::{
    ComputeCaps, ComputeMemory, ComputeSemaphore, DeviceIdentity, Error, ImageDesc, KernelSource, PixelFormat, Region,
    Result, SharedHandle,
};
use std::ops::Range;
use std::sync::Arc;

/// Facts of a device that every object of one backend asks for. Its address tells backends apart.
#[derive(Debug)]
pub struct Session {
    /// The device, as messages name it.
    pub identity: DeviceIdentity,
    /// Memory that it gives and takes.
    pub caps: ComputeCaps,
    /// Limits of its kernels.
    pub limits: Limits,
}

impl Maker for Session {
    fn name(&self) -> String {
        self.identity.to_string()
    }
}

/// Kind of target that a pipeline is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    /// Words of linear memory.
    Memory,
    /// Pixels of a texture.
    Texture,
}

/// Direction of a copy between a texture and memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CopyWay {
    /// From the texture to memory.
    Load,
    /// From memory to the texture.
    Store,
}

/// Rectangles of a texture, each with its first byte in linear memory.
pub type Regions = [(usize, Region)];

/// A source that was read: what is known of its text, the kernel's own objects, and a pipeline for [`PixelFormat::Rgba8`], where reading
/// makes one.
pub type ReadSource<D> = (KernelText, <D as ShaderDevice>::Kernel, Option<<D as ShaderDevice>::Pipeline>);

/// Target of one launch.
pub enum Target<'a, D: ShaderDevice> {
    /// A buffer, from its first byte.
    Memory(&'a D::Buffer),
    /// A texture that stores reach.
    Texture(&'a D::Texture),
}

/// One launch that was checked: its numbers and memories are those that the text reads. It is made here alone.
#[non_exhaustive]
pub struct ShaderWork<'a, D: ShaderDevice> {
    /// The kernel's own objects.
    pub kernel: &'a D::Kernel,
    /// The pipeline for this target.
    pub pipeline: &'a D::Pipeline,
    /// What it writes.
    pub target: Target<'a, D>,
    /// Memories among the arguments: as many as the text has, each as large as it declares, and none of them the target.
    pub reads: &'a [&'a D::Buffer],
    /// Grid and numbers, of which the grid is not empty.
    pub launch: Launch,
}

/// What one API is different in: its buffers, textures and pipelines, and what it puts into a queue.
///
/// Calls come from here alone, with ranges, regions and views that lie inside.
pub trait ShaderDevice: Send + Sync + Sized + 'static {
    /// Storage of whole words.
    type Buffer: 'static;
    /// A display's texture.
    type Texture: 'static;
    /// Objects that the pipelines of one kernel share.
    type Kernel: Send + Sync + 'static;
    /// A kernel for one format and kind of target.
    type Pipeline: Send + Sync + 'static;
    /// A mark in the queue.
    type Mark: 'static;

    /// Bytes that rows of a linear copy of a texture are a multiple of.
    const ROW_ALIGN: usize = 1;

    /// The facts that all objects share.
    fn session(&self) -> &Session;

    /// Implements [`interop_core::ComputeBackend::import_semaphore`].
    fn semaphore(self: &Arc<Self>, handle: &SharedHandle) -> Result<Box<dyn ComputeSemaphore>>;

    /// Implements [`interop_core::ComputeBackend::finish`].
    fn finish(&self) -> Result<()>;

    /// Reads a source in a language that comes before WGSL, if it has one.
    fn read_source(&self, source: &KernelSource) -> Result<Option<ReadSource<Self>>> {
        let _ = source;
        Ok(None)
    }

    /// Makes what the pipelines of a kernel in WGSL share.
    fn kernel(&self, text: &KernelText) -> Result<Self::Kernel>;

    /// Compiles a kernel for targets of this format.
    fn pipeline(
        &self,
        text: &KernelText,
        kernel: &Self::Kernel,
        format: PixelFormat,
        writes: Writes,
    ) -> Result<Self::Pipeline>;

    /// Queues a launch.
    fn launch(&self, work: &ShaderWork<'_, Self>) -> Result<()>;

    /// Allocates at least so many bytes, in whole words.
    fn allocate(&self, bytes: usize) -> Result<Self::Buffer>;

    /// Implements [`interop_core::ComputeBackend::allocate_send`].
    fn allocate_send(self: &Arc<Self>, bytes: usize) -> Result<Box<dyn ComputeMemory + Send>> {
        let reason = format!("its memory stays on one thread; {bytes} bytes were asked for another");
        Err(Error::unsupported(&self.session().identity, reason))
    }

    /// Opens memory of at least so many bytes.
    fn open(&self, handle: &SharedHandle, bytes: usize) -> Result<Self::Buffer>;

    /// A handle by which the display opens a buffer.
    fn share(&self, buffer: &Self::Buffer) -> Result<SharedHandle>;

    /// Copies a range to the host, after all that was queued before.
    fn bytes(&self, buffer: &Self::Buffer, range: Range<usize>) -> Result<Vec<u8>>;

    /// [`ShaderDevice::bytes`] to where the caller has room.
    fn read(&self, buffer: &Self::Buffer, offset: usize, into: &mut [u8]) -> Result<()> {
        into.copy_from_slice(&self.bytes(buffer, offset..offset + into.len())?);
        Ok(())
    }

    /// Copies bytes of the host's to a buffer, after all that was queued before.
    fn write(&self, buffer: &Self::Buffer, offset: usize, from: &[u8]) -> Result<()>;

    /// Queues a copy of a range to the same place of another buffer.
    fn copy(&self, from: &Self::Buffer, to: &Self::Buffer, range: Range<usize>) -> Result<()>;

    /// Implements [`ComputeMemory::submit`]: the end of what uses the buffer so far, where the device marks it.
    fn mark(&self, buffer: &Self::Buffer) -> Result<Option<Self::Mark>> {
        let _ = buffer;
        Ok(None)
    }

    /// Implements [`ComputeMemory::release`]: waits for the mark, or for what uses the buffer so far.
    fn release(&self, buffer: &Self::Buffer, mark: Option<Self::Mark>) -> Result<()>;

    /// Implements [`ComputeMemory::release_in_queue`].
    fn release_in_queue(&self, buffer: &Self::Buffer) -> Result<()> {
        let _ = buffer;
        Ok(())
    }

    /// Opens a display's texture for stores.
    fn texture(&self, handle: &SharedHandle, desc: &ImageDesc) -> Result<Self::Texture>;

    /// True where kernels that name words are refused.
    fn stores_only(texture: &Self::Texture) -> bool {
        let _ = texture;
        false
    }

    /// Queues a copy between a rectangle of a texture and rows that begin at a byte of a buffer and lie `pitch` bytes apart.
    fn copy_rows(
        &self,
        way: CopyWay,
        texture: (&Self::Texture, Region, PixelFormat),
        rows: (&Self::Buffer, usize, usize),
    ) -> Result<()>;

    /// Queues copies of rectangles to the same places of another texture with the same rows; false where memory is to stand between.
    fn copy_image(&self, from: &Self::Texture, to: &Self::Texture, regions: &Regions) -> Result<bool> {
        let _ = (from, to, regions);
        Ok(false)
    }

    /// Copies rectangles to the host, each to its first byte there; false where memory is to stand between.
    fn read_image(&self, texture: &Self::Texture, regions: &Regions, pixel: usize, into: &mut [u8]) -> Result<bool> {
        let _ = (texture, regions, pixel, into);
        Ok(false)
    }

    /// [`ShaderDevice::read_image`] the other way.
    fn write_image(&self, texture: &Self::Texture, regions: &Regions, pixel: usize, from: &[u8]) -> Result<bool> {
        let _ = (texture, regions, pixel, from);
        Ok(false)
    }

    /// Implements [`ComputeMemory::submit`] of a texture.
    fn submit_image(&self, texture: &Self::Texture) -> Result<()> {
        let _ = texture;
        Ok(())
    }
}
