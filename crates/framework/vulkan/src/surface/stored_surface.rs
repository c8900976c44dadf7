//! Surfaces with storage: the display's own, or an engine's.

use crate::context::device_state::DeviceState;
use crate::queue::commands::CopyImage;
use crate::staging::block::VulkanStaging;
use crate::staging::memory::{Buffer, Image};
use crate::staging::queue_buffer::QueueBuffer;
use crate::staging::queue_image::QueueImage;
use crate::staging::transfer::{
    blit_back, copy_bytes, copy_to_image, copy_to_rows, read_buffer, read_image, rows, upload_bytes, upload_pixels,
};
use ash::vk;
use interop_core::display::checks::made_with;
use interop_core::display::{Bytes, Pixels, StoredDriver, SurfaceDriver};
use interop_core::draw::{Manner, Plan};
use interop_core::{BufferView, HandleType, ImageDesc, ImageView, Region, Result, SharedHandle, Staging};
use std::ops::Range;
use std::sync::Arc;

/// Owner of the object.
enum Owner<O, U> {
    /// Owned by the display, and kept here.
    Ours(O),
    /// Owned by an engine, with the usage that the engine states.
    Engines(U),
}

/// An image.
pub(crate) struct StoredImage {
    image: ImageDesc,
    place: CopyImage,
    owner: Owner<Arc<Image>, vk::ImageUsageFlags>,
    /// Dropped with the surface; after that an engine need not keep its image.
    alive: Arc<()>,
    shared: Arc<DeviceState>,
}

interop_core::owned!(StoredImage: DeviceState, "surface", |surface| &surface.shared);

impl StoredImage {
    pub(crate) fn new(shared: &Arc<DeviceState>, desc: &ImageDesc) -> Result<Self> {
        let image = Arc::new(Image::zeroed(shared, desc)?);
        Ok(Self::of(shared, desc, image.place(), Owner::Ours(image)))
    }

    /// Wraps an engine's image, which matches the arguments and outlives the submissions that use it.
    pub(crate) fn over(
        shared: &Arc<DeviceState>,
        desc: &ImageDesc,
        place: CopyImage,
        usage: vk::ImageUsageFlags,
    ) -> Self {
        Self::of(shared, desc, place, Owner::Engines(usage))
    }

    fn of(
        shared: &Arc<DeviceState>,
        desc: &ImageDesc,
        place: CopyImage,
        owner: Owner<Arc<Image>, vk::ImageUsageFlags>,
    ) -> Self {
        Self { image: *desc, place, owner, alive: Arc::default(), shared: Arc::clone(shared) }
    }

    pub(crate) fn place(&self) -> CopyImage {
        self.place
    }

    pub(crate) fn image(&self) -> &ImageDesc {
        &self.image
    }

    pub(crate) fn check_sampled(&self) -> Result<()> {
        self.needs(vk::ImageUsageFlags::SAMPLED, "SAMPLED")
    }

    fn needs(&self, usage: vk::ImageUsageFlags, name: &str) -> Result<()> {
        match &self.owner {
            Owner::Ours(_) => Ok(()),
            Owner::Engines(has) => made_with(has.contains(usage), name, has),
        }
    }
}

impl SurfaceDriver<Pixels> for StoredImage {
    fn read_back(&mut self, at: &Region) -> Result<Vec<u8>> {
        read_image(&self.shared, self.place, self.image.format.bytes_per_pixel(), *at)
    }

    fn draw_back(&mut self, at: &Region, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        if manner.is_some() || !plan.is_copy() { Ok(None) } else { blit_back(&self.shared, self.place, *at) }
    }
}

impl StoredDriver<Pixels> for StoredImage {
    fn check_upload(&self) -> Result<()> {
        self.needs(vk::ImageUsageFlags::TRANSFER_DST, "TRANSFER_DST")
    }

    fn check_download(&self) -> Result<()> {
        self.needs(vk::ImageUsageFlags::TRANSFER_SRC, "TRANSFER_SRC")
    }

    fn upload(&mut self, at: &Region, bytes: &[u8], view: &ImageView) -> Result<()> {
        upload_pixels(&self.shared, self.place, *at, bytes, view)
    }

    fn upload_staged(&mut self, at: &Region, staging: &mut Staging, view: &ImageView) -> Result<()> {
        let staging = VulkanStaging::of_mut(staging, &self.shared)?;
        let from = rows(staging.buffer()?, view)?;
        staging.used_until(copy_to_image(&self.shared, self.place, from, *at)?);
        Ok(())
    }

    fn downloads(&self, _: &Staging) -> bool {
        true
    }

    fn download(&mut self, at: &Region, staging: &mut Staging, view: &ImageView) -> Result<()> {
        let staging = VulkanStaging::of_mut(staging, &self.shared)?;
        let to = rows(staging.buffer()?, view)?;
        staging.used_until(copy_to_rows(&self.shared, self.place, *at, to)?);
        Ok(())
    }

    fn export(&self, handle: HandleType) -> Result<Option<SharedHandle>> {
        if handle != HandleType::QueueBuffer(self.shared.queue_id()) {
            return Ok(None);
        }
        let lent = match &self.owner {
            Owner::Ours(image) => QueueImage::of(&self.shared, image),
            Owner::Engines(usage) => QueueImage::of_engine(&self.shared, (self.place, &self.alive), self.image, *usage),
        };
        lent.map(|lent| lent.into_handle(&self.shared)).transpose()
    }
}

/// A buffer.
pub(crate) struct StoredBuffer {
    len: usize,
    raw: vk::Buffer,
    owner: Owner<Arc<Buffer>, vk::BufferUsageFlags>,
    shared: Arc<DeviceState>,
}

interop_core::owned!(StoredBuffer: DeviceState, "surface", |surface| &surface.shared);

impl StoredBuffer {
    pub(crate) fn new(shared: &Arc<DeviceState>, len: usize) -> Result<Self> {
        let buffer = Arc::new(Buffer::zeroed(shared, len)?);
        Ok(Self { len, raw: buffer.raw(), owner: Owner::Ours(buffer), shared: Arc::clone(shared) })
    }

    /// Wraps the first bytes of an engine's buffer, which matches the arguments and outlives the submissions that use
    /// it.
    pub(crate) fn over(shared: &Arc<DeviceState>, len: usize, raw: vk::Buffer, usage: vk::BufferUsageFlags) -> Self {
        Self { len, raw, owner: Owner::Engines(usage), shared: Arc::clone(shared) }
    }

    pub(crate) fn raw(&self) -> vk::Buffer {
        self.raw
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    fn needs(&self, usage: vk::BufferUsageFlags, name: &str) -> Result<()> {
        match &self.owner {
            Owner::Ours(_) => Ok(()),
            Owner::Engines(has) => made_with(has.contains(usage), name, has),
        }
    }
}

impl SurfaceDriver<Bytes> for StoredBuffer {
    fn read_back(&mut self, at: &Range<usize>) -> Result<Vec<u8>> {
        read_buffer(&self.shared, self.raw, &(at.start as u64..at.end as u64))
    }
}

impl StoredDriver<Bytes> for StoredBuffer {
    fn check_upload(&self) -> Result<()> {
        self.needs(vk::BufferUsageFlags::TRANSFER_DST, "TRANSFER_DST")
    }

    fn check_download(&self) -> Result<()> {
        self.needs(vk::BufferUsageFlags::TRANSFER_SRC, "TRANSFER_SRC")
    }

    fn upload(&mut self, at: &Range<usize>, bytes: &[u8], view: &BufferView) -> Result<()> {
        upload_bytes(&self.shared, (self.raw, at.start as u64), &bytes[view.offset..view.offset + view.len])
    }

    fn upload_staged(&mut self, at: &Range<usize>, staging: &mut Staging, view: &BufferView) -> Result<()> {
        let staging = VulkanStaging::of_mut(staging, &self.shared)?;
        let from = (staging.buffer()?, view.offset as u64);
        staging.used_until(copy_bytes(&self.shared, from, (self.raw, at.start as u64), view.len as u64)?);
        Ok(())
    }

    fn downloads(&self, _: &Staging) -> bool {
        true
    }

    fn download(&mut self, at: &Range<usize>, staging: &mut Staging, view: &BufferView) -> Result<()> {
        let staging = VulkanStaging::of_mut(staging, &self.shared)?;
        let to = (staging.buffer()?, view.offset as u64);
        staging.used_until(copy_bytes(&self.shared, (self.raw, at.start as u64), to, view.len as u64)?);
        Ok(())
    }

    fn export(&self, handle: HandleType) -> Result<Option<SharedHandle>> {
        if handle != HandleType::QueueBuffer(self.shared.queue_id()) {
            return Ok(None);
        }
        let lent = match &self.owner {
            Owner::Ours(buffer) => Some(QueueBuffer::of(buffer)),
            Owner::Engines(usage) => QueueBuffer::of_engine(self.raw, self.len, *usage),
        };
        lent.map(|lent| lent.into_handle(&self.shared)).transpose()
    }
}
