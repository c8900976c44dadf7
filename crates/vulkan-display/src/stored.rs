//! Surfaces with storage of their own.

use crate::device_state::DeviceState;
use crate::memory::{Buffer, Image};
use crate::staging::VulkanStaging;
use crate::transfer::{copy_bytes, copy_to_image, read_buffer, read_image, rows, upload_bytes, upload_pixels};
use interop_core::display::checks::{buffer_source, image_source, range, region};
use interop_core::{ImageDesc, Part, Result, Staging, Surface, SurfaceDesc, View};
use std::any::Any;
use std::rc::Rc;

/// An image.
pub(crate) struct StoredImage {
    desc: SurfaceDesc,
    pub image: Image,
}

interop_core::owned!(StoredImage: DeviceState, "surface", |surface| &surface.image.shared);

impl StoredImage {
    pub(crate) fn new(shared: &Rc<DeviceState>, desc: &ImageDesc) -> Result<Self> {
        Ok(Self { desc: SurfaceDesc::Image(*desc), image: Image::zeroed(shared, desc)? })
    }
}

impl Surface for StoredImage {
    fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    fn upload(&mut self, at: &Part, bytes: &[u8], view: &View) -> Result<()> {
        let (region, view) = image_source(&self.desc, at, view, bytes.len(), "upload")?;
        upload_pixels(&self.image, region, bytes, &view)
    }

    fn upload_staged(&mut self, at: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        const OP: &str = "upload_staged";
        let staging = VulkanStaging::of_mut(staging, &self.image.shared, OP)?;
        let (region, view) = image_source(&self.desc, at, view, staging.len(), OP)?;
        let number = copy_to_image(&self.image, rows(staging.buffer(OP)?, &view, OP)?, region)?;
        staging.read_until(number);
        Ok(())
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        read_image(&self.image, region(&self.desc, part, "read_back")?)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A buffer.
pub(crate) struct StoredBuffer {
    desc: SurfaceDesc,
    pub buffer: Buffer,
}

interop_core::owned!(StoredBuffer: DeviceState, "surface", |surface| &surface.buffer.shared);

impl StoredBuffer {
    pub(crate) fn new(shared: &Rc<DeviceState>, desc: SurfaceDesc, bytes: usize) -> Result<Self> {
        Ok(Self { desc, buffer: Buffer::zeroed(shared, bytes)? })
    }
}

impl Surface for StoredBuffer {
    fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    fn upload(&mut self, at: &Part, bytes: &[u8], view: &View) -> Result<()> {
        let (to, view) = buffer_source(&self.desc, at, view, bytes.len(), "upload")?;
        let from = &bytes[view.offset..view.offset + view.len];
        upload_bytes(&self.buffer, &(to.start as u64..to.end as u64), from)
    }

    fn upload_staged(&mut self, at: &Part, staging: &mut dyn Staging, view: &View) -> Result<()> {
        const OP: &str = "upload_staged";
        let staging = VulkanStaging::of_mut(staging, &self.buffer.shared, OP)?;
        let (to, view) = buffer_source(&self.desc, at, view, staging.len(), OP)?;
        let from = (staging.buffer(OP)?, view.offset as u64);
        let number = copy_bytes(&self.buffer.shared, from, (self.buffer.raw(), to.start as u64), view.len as u64)?;
        staging.read_until(number);
        Ok(())
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        read_buffer(&self.buffer, &range(&self.desc, part, "read_back")?)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
