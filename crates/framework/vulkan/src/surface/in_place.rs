//! Surfaces without storage, which show staging blocks in place.

use crate::context::device_state::DeviceState;
use crate::staging::block::VulkanStaging;
use crate::staging::memory::{Buffer, Image};
use crate::staging::queue_buffer::QueueBuffer;
use crate::staging::queue_image::QueueImage;
use crate::staging::transfer::{blit_back, read_buffer, read_image, read_rows};
use interop_core::display::{Bytes, InPlaceDriver, Pixels, SurfaceDriver};
use interop_core::draw::{Manner, Plan};
use interop_core::{BufferView, Error, HandleType, ImageView, Region, Result, SharedHandle, Staging};
use std::ops::Range;
use std::sync::Arc;

/// Location of the pixels that an image surface shows.
pub(crate) enum PixelSource {
    /// In an image.
    Image(Arc<Image>),
    /// In rows of a buffer.
    Rows(Arc<Buffer>, ImageView),
}

/// An image in a staging block.
pub(crate) struct InPlaceImage {
    shown: Option<PixelSource>,
    shared: Arc<DeviceState>,
}

interop_core::owned!(InPlaceImage: DeviceState, "surface", |surface| &surface.shared);

impl InPlaceImage {
    pub(crate) fn new(shared: &Arc<DeviceState>) -> Self {
        Self { shown: None, shared: Arc::clone(shared) }
    }

    pub(crate) fn place(&self) -> Result<&PixelSource> {
        self.shown.as_ref().ok_or(Error::NothingShown)
    }
}

impl SurfaceDriver<Pixels> for InPlaceImage {
    fn read_back(&mut self, at: &Region) -> Result<Vec<u8>> {
        match self.place()? {
            PixelSource::Image(image) => {
                read_image(&self.shared, image.place(), image.desc().format.bytes_per_pixel(), *at)
            }
            PixelSource::Rows(buffer, view) => read_rows(&self.shared, buffer.raw(), view, *at),
        }
    }

    fn draw_back(&mut self, at: &Region, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        match self.place()? {
            PixelSource::Image(image) if manner.is_none() && plan.is_copy() => {
                blit_back(&self.shared, image.place(), *at)
            }
            _ => Ok(None),
        }
    }
}

impl InPlaceDriver<Pixels> for InPlaceImage {
    fn lend(&self, queue: HandleType) -> Result<Option<(SharedHandle, Option<ImageView>)>> {
        let shared = &self.shared;
        if queue != HandleType::QueueBuffer(shared.queue_id()) {
            return Ok(None);
        }
        let (handle, view) = match self.place()? {
            PixelSource::Rows(buffer, view) => (Some(QueueBuffer::of(buffer).into_handle(shared)), Some(*view)),
            PixelSource::Image(image) => (QueueImage::of(shared, image).map(|image| image.into_handle(shared)), None),
        };
        Ok(handle.transpose()?.map(|handle| (handle, view)))
    }

    fn show(&mut self, staging: &Staging, view: &ImageView) -> Result<()> {
        let staging = VulkanStaging::of(staging, &self.shared)?;
        self.shown = Some(PixelSource::Rows(Arc::clone(staging.lasting()?), *view));
        Ok(())
    }

    fn show_texture(&mut self, staging: &Staging) -> Result<bool> {
        let staging = VulkanStaging::of(staging, &self.shared)?;
        self.shown = Some(PixelSource::Image(Arc::clone(staging.image()?)));
        Ok(true)
    }
}

/// Bytes in a staging block.
pub(crate) struct InPlaceBuffer {
    shown: Option<(Arc<Buffer>, BufferView)>,
    shared: Arc<DeviceState>,
}

interop_core::owned!(InPlaceBuffer: DeviceState, "surface", |surface| &surface.shared);

impl InPlaceBuffer {
    pub(crate) fn new(shared: &Arc<DeviceState>) -> Self {
        Self { shown: None, shared: Arc::clone(shared) }
    }

    pub(crate) fn bytes(&self) -> Result<(&Arc<Buffer>, BufferView)> {
        let (buffer, view) = self.shown.as_ref().ok_or(Error::NothingShown)?;
        Ok((buffer, *view))
    }
}

impl SurfaceDriver<Bytes> for InPlaceBuffer {
    fn read_back(&mut self, at: &Range<usize>) -> Result<Vec<u8>> {
        let (buffer, view) = self.bytes()?;
        let start = view.offset + at.start;
        read_buffer(&self.shared, buffer.raw(), &(start as u64..(start + at.len()) as u64))
    }
}

impl InPlaceDriver<Bytes> for InPlaceBuffer {
    fn lend(&self, queue: HandleType) -> Result<Option<(SharedHandle, Option<BufferView>)>> {
        let (buffer, view) = self.bytes()?;
        let is_own = queue == HandleType::QueueBuffer(self.shared.queue_id());
        let handle = is_own.then(|| QueueBuffer::of(buffer).into_handle(&self.shared)).transpose()?;
        Ok(handle.map(|handle| (handle, Some(view))))
    }

    fn show(&mut self, staging: &Staging, view: &BufferView) -> Result<()> {
        let staging = VulkanStaging::of(staging, &self.shared)?;
        self.shown = Some((Arc::clone(staging.lasting()?), *view));
        Ok(())
    }
}
