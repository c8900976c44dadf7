//! Memory and semaphores shared with another API through handles of the operating system, exported or imported.

use crate::ffi::external_memory::{ExternalBuffer, ExternalImage, ExternalMemory};
use crate::ffi::semaphore::Semaphore;
use crate::ffi::shared_memory::{Physical, SharedBlock};
use crate::image::{CudaImage, Texture};
use crate::memory::{CudaMemory, Store};
use crate::session::Session;
use crate::turn::Turn;
use interop_core::describe::format::{ChannelKind, PixelFormat};
use interop_core::{
    ComputeMemory, ComputeSemaphore, DeviceIdentity, Error, ImageDesc, MemoryHandle, Result, SharedHandle, SurfaceDesc,
};
use std::sync::Arc;

/// Textures are laid out in tiles; both APIs need whole blocks of the largest tile: 64 bytes by 128 rows.
const TILE: (usize, usize) = (64, 128);

/// Rounds `bytes` up to a size of exportable memory.
fn whole(session: &Session, bytes: Option<usize>) -> Result<usize> {
    let whole = bytes.and_then(|b| b.checked_next_multiple_of(session.granularity)).filter(|whole| *whole > 0);
    whole.ok_or_else(|| Error::refused("0 bytes were requested, or more than the address space"))
}

/// Implements [`interop_core::ComputeBackend::allocate_shared`].
pub fn allocate(session: &Arc<Session>, bytes: usize, display: &DeviceIdentity) -> SharedAllocation {
    let whole = whole(session, Some(bytes))?;
    let device = session.reach(display).map_err(|reason| session.unsupported(reason))?;
    let (block, handle) = SharedBlock::new(&session.queue, device, whole).map_err(session.failed())?;
    let memory = CudaMemory::new(session, Store::Shared(block), bytes);
    Ok((Box::new(memory), SharedHandle::Memory(handle)))
}

type SharedAllocation = Result<(Box<dyn ComputeMemory>, SharedHandle)>;

/// Implements [`interop_core::ComputeBackend::allocate_shared_image`].
pub fn allocate_image(session: &Arc<Session>, image: &ImageDesc) -> SharedAllocation {
    let row = image.extent.width as usize * image.format.bytes_per_pixel();
    let rows = (image.extent.height as usize).checked_next_multiple_of(TILE.1);
    let tiled = row.checked_next_multiple_of(TILE.0).zip(rows).and_then(|(row, rows)| row.checked_mul(rows));
    let whole = whole(session, tiled)?;
    let memory = Physical::new(&session.queue, session.queue.device(), whole).map_err(session.failed())?;
    let ours = memory.export().map_err(session.failed())?;
    let handle = memory.export().map_err(session.failed())?;
    // Both handles keep the memory alive, so the allocation itself may be dropped.
    let opened = open_image(session, image, ours)?;
    Ok((Box::new(opened), SharedHandle::Memory(handle)))
}

/// Returns the `CUarray_format` and number of channels of arrays that hold the bits. Kernels store bits and no colours,
/// so a word of 10, 10, 10 and 2 bits is one integer.
fn array_format(format: PixelFormat) -> (u32, u32) {
    const UNSIGNED_INT8: u32 = 0x01;
    const UNSIGNED_INT16: u32 = 0x02;
    const UNSIGNED_INT32: u32 = 0x03;
    const HALF: u32 = 0x10;
    const FLOAT: u32 = 0x20;
    let channels = format.channels() as u32;
    match format.channel_kind() {
        ChannelKind::Unorm8 => (UNSIGNED_INT8, channels),
        ChannelKind::Unorm16 => (UNSIGNED_INT16, channels),
        ChannelKind::Float16 => (HALF, channels),
        ChannelKind::Float32 => (FLOAT, channels),
        _ => (UNSIGNED_INT32, 1),
    }
}

fn open_image(session: &Arc<Session>, image: &ImageDesc, handle: MemoryHandle) -> Result<CudaImage> {
    let memory = ExternalMemory::import(&session.queue, handle).map_err(session.failed())?;
    let (format, channels) = array_format(image.format);
    let sides = [image.extent.width as usize, image.extent.height as usize];
    let opened = ExternalImage::new(memory, sides, format, channels).map_err(session.failed())?;
    CudaImage::new(session, Texture::External(opened, Turn::default()), *image)
}

/// Opens memory behind a handle: an image, or a linear buffer.
pub fn import(session: &Arc<Session>, handle: &SharedHandle, desc: &SurfaceDesc) -> Result<Box<dyn ComputeMemory>> {
    let len = desc.byte_len()?;
    let handle = handle.duplicate_memory()?;
    Ok(match desc {
        SurfaceDesc::Image(image) => Box::new(open_image(session, image, handle)?),
        SurfaceDesc::Buffer(_) => {
            let memory = ExternalMemory::import(&session.queue, handle).map_err(session.failed())?;
            let buffer = ExternalBuffer::new(memory).map_err(session.failed())?;
            Box::new(CudaMemory::new(session, Store::External(buffer), len))
        }
    })
}

/// A display's semaphore.
pub struct CudaSemaphore {
    semaphore: Semaphore,
    session: Arc<Session>,
}

impl CudaSemaphore {
    /// Implements [`interop_core::ComputeBackend::import_semaphore`].
    pub fn import(session: &Arc<Session>, handle: &SharedHandle) -> Result<Self> {
        let handle = handle.duplicate_semaphore()?;
        let semaphore = Semaphore::import(&session.queue, handle).map_err(session.failed())?;
        Ok(Self { semaphore, session: session.clone() })
    }
}

impl ComputeSemaphore for CudaSemaphore {
    fn signal(&mut self, value: u64) -> Result<()> {
        self.semaphore.signal(value).map_err(self.session.failed())
    }

    fn wait(&mut self, value: u64) -> Result<()> {
        self.session.timed("wait for the display", || self.semaphore.wait(value)).map_err(self.session.failed())
    }
}
