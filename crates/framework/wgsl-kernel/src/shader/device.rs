//! [`ShaderDevice`].

use crate::launch::Launch;
use crate::limits::Limits;
use crate::text::KernelText;
use interop_core::devices::maker_object::Maker;
use interop_core::{
    ComputeCaps, ComputeSemaphore, DeviceIdentity, ImageDesc, KernelSource, PixelFormat, Region, Result, SharedHandle,
};
use std::ops::Range;
use std::sync::Arc;

/// Properties of a device that every object of one backend needs. Its address distinguishes backends.
#[derive(Debug)]
pub struct Session {
    /// The device's name and identity in messages.
    pub identity: DeviceIdentity,
    /// Memory that it exports and imports.
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
pub enum CopyMethod {
    /// From the texture to memory.
    Load,
    /// From memory to the texture.
    Store,
}

/// Rectangles of a texture, each with the offset of its first byte in linear memory.
pub type Regions = [(usize, Region)];

/// A source that was read: the properties of its text, the kernel's own objects, and a pipeline for
/// [`PixelFormat::Rgba8`] if reading the source creates one.
pub type ReadSource<D> = (KernelText, <D as ShaderDevice>::Kernel, Option<<D as ShaderDevice>::Pipeline>);

/// Target of one launch.
pub enum Target<'a, D: ShaderDevice> {
    /// A buffer, from its first byte.
    Memory(&'a D::Buffer),
    /// A texture for stores.
    Texture(&'a D::Texture),
}

/// A checked launch: its numbers and memories are those that the text reads. Only this crate creates it.
#[non_exhaustive]
pub struct ShaderWork<'a, D: ShaderDevice> {
    /// The kernel's own objects.
    pub kernel: &'a D::Kernel,
    /// The pipeline for this target.
    pub pipeline: &'a D::Pipeline,
    /// The target that it writes.
    pub target: Target<'a, D>,
    /// Memories among the arguments: as many as the text declares, each at least as large as it declares, and none of
    /// them the target.
    pub reads: &'a [&'a D::Buffer],
    /// The numbers and the grid, which is not empty.
    pub launch: Launch,
}

/// The part of a backend that depends on the API: buffers, textures, pipelines, and commands in a queue.
///
/// Only this crate calls it, with ranges, regions and views that lie inside.
pub trait ShaderDevice: Send + Sync + Sized + 'static {
    /// Storage of whole words.
    type Buffer: Send + Sync + 'static;
    /// A display's texture.
    type Texture: Send + Sync + 'static;
    /// Objects that the pipelines of one kernel share.
    type Kernel: Send + Sync + 'static;
    /// A kernel for one format and kind of target.
    type Pipeline: Send + Sync + 'static;
    /// A mark in the queue.
    type Mark: Send + Sync + 'static;

    /// Alignment of the rows in a linear copy of a texture, in bytes.
    const ROW_ALIGN: usize = 1;

    /// Returns the properties that all objects share.
    fn session(&self) -> &Session;

    /// Implements [`interop_core::ComputeBackend::import_semaphore`].
    fn semaphore(self: &Arc<Self>, handle: &SharedHandle) -> Result<Box<dyn ComputeSemaphore>>;

    /// Implements [`interop_core::ComputeBackend::finish`].
    fn finish(&self) -> Result<()>;

    /// Reads a source in a language that is preferred over WGSL, if it has one.
    fn read_source(&self, source: &KernelSource) -> Result<Option<ReadSource<Self>>> {
        let _ = source;
        Ok(None)
    }

    /// Creates the objects that the pipelines of a WGSL kernel share.
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

    /// Allocates at least this many bytes, in whole words.
    fn allocate(&self, bytes: usize) -> Result<Self::Buffer>;

    /// Opens memory of at least this many bytes.
    fn open(&self, handle: &SharedHandle, bytes: usize) -> Result<Self::Buffer>;

    /// Returns a handle by which the display opens a buffer.
    fn share(&self, buffer: &Self::Buffer) -> Result<SharedHandle>;

    /// Reads a range to the host, after all earlier work in the queue.
    fn bytes(&self, buffer: &Self::Buffer, range: Range<usize>) -> Result<Vec<u8>>;

    /// [`ShaderDevice::bytes`] into the caller's memory.
    fn read(&self, buffer: &Self::Buffer, offset: usize, into: &mut [u8]) -> Result<()> {
        into.copy_from_slice(&self.bytes(buffer, offset..offset + into.len())?);
        Ok(())
    }

    /// Writes bytes of the host to a buffer, after all earlier work in the queue.
    fn write(&self, buffer: &Self::Buffer, offset: usize, from: &[u8]) -> Result<()>;

    /// Queues a copy of a range to the same position in another buffer.
    fn copy(&self, from: &Self::Buffer, to: &Self::Buffer, range: Range<usize>) -> Result<()>;

    /// Implements [`interop_core::ComputeMemory::submit`]: marks the end of the buffer's use so far, if the device supports marks.
    fn mark(&self, buffer: &Self::Buffer) -> Result<Option<Self::Mark>> {
        let _ = buffer;
        Ok(None)
    }

    /// Implements [`interop_core::ComputeMemory::release`]: waits for the mark, or for all earlier use of the buffer.
    fn release(&self, buffer: &Self::Buffer, mark: Option<Self::Mark>) -> Result<()>;

    /// Implements [`interop_core::ComputeMemory::release_in_queue`].
    fn release_in_queue(&self, buffer: &Self::Buffer) -> Result<()> {
        let _ = buffer;
        Ok(())
    }

    /// Opens a display's texture for stores.
    fn texture(&self, handle: &SharedHandle, desc: &ImageDesc) -> Result<Self::Texture>;

    /// Returns true where kernels that address words are rejected.
    fn stores_only(texture: &Self::Texture) -> bool {
        let _ = texture;
        false
    }

    /// Queues a copy between a rectangle of a texture and rows that begin at a byte of a buffer and are `pitch` bytes
    /// apart.
    fn copy_rows(
        &self,
        method: CopyMethod,
        texture: (&Self::Texture, Region, PixelFormat),
        rows: (&Self::Buffer, usize, usize),
    ) -> Result<()>;

    /// Queues copies of rectangles to the same positions of another texture with the same rows. Returns false if the
    /// caller must copy through memory.
    fn copy_image(&self, from: &Self::Texture, to: &Self::Texture, regions: &Regions) -> Result<bool> {
        let _ = (from, to, regions);
        Ok(false)
    }

    /// Reads rectangles to the host, each to its offset. Returns false if the caller must copy through memory.
    fn read_image(&self, texture: &Self::Texture, regions: &Regions, pixel: usize, into: &mut [u8]) -> Result<bool> {
        let _ = (texture, regions, pixel, into);
        Ok(false)
    }

    /// The reverse of [`ShaderDevice::read_image`].
    fn write_image(&self, texture: &Self::Texture, regions: &Regions, pixel: usize, from: &[u8]) -> Result<bool> {
        let _ = (texture, regions, pixel, from);
        Ok(false)
    }

    /// Implements [`interop_core::ComputeMemory::submit`] of a texture.
    fn submit_image(&self, texture: &Self::Texture) -> Result<()> {
        let _ = texture;
        Ok(())
    }
}
