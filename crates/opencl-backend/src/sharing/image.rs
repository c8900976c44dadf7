//! Images that another API has, too: opaque memory, see [`interop_core::ComputeBackend::import_surface`].

use crate::backend_state::BackendState;
use crate::sharing::gl_sync::gl_sync;
use interop_core::compute::MemoryDriver;
use interop_core::compute::{OpaqueImage, Placement};
use interop_core::{Error, ImageDesc, Region, Result, SyncKind, View};
use pixelferry_opencl::base::{ImageBox, Memory, SharedImage};
use std::ops::Range;
use std::sync::Arc;

/// An image that kernels write.
pub struct OpenClImage {
    /// Linear copy of a part, for kernels that cannot write images.
    scratch: Option<Memory>,
    pub image: SharedImage,
    rows: OpaqueImage,
    pub shared: Arc<BackendState>,
}

fn part(region: Region) -> ImageBox {
    let [x, y, width, height] = [region.x, region.y, region.width, region.height].map(|n| n as usize);
    ImageBox { origin: [x, y, 0], region: [width, height, 1] }
}

interop_core::owned!(OpenClImage: BackendState, "memory", |memory| &memory.shared);

impl OpenClImage {
    pub fn new(shared: &Arc<BackendState>, image: SharedImage, desc: ImageDesc) -> Result<Self> {
        let rows = OpaqueImage::new(desc)?;
        Ok(Self { scratch: None, image, rows, shared: shared.clone() })
    }

    pub fn desc(&self) -> &ImageDesc {
        self.rows.desc()
    }

    /// Tells where `view` lies.
    pub fn place(&self, view: &View) -> Result<Placement> {
        self.rows.place(view)
    }

    /// Gives `f` a linear copy of a part (tight rows in the image's order), then copies it back. These are two copies
    /// on the device around a kernel that needs linear memory.
    pub fn through_linear(&mut self, at: &Placement, f: impl FnOnce(&Memory) -> Result<()>) -> Result<()> {
        let at = part(at.region);
        let len = at.region[0] * at.region[1] * self.desc().format.bytes_per_pixel();
        if self.scratch.as_ref().is_none_or(|scratch| scratch.len() < len) {
            self.scratch = None;
            self.scratch = Some(Memory::allocate(&self.shared.session, len, false)?);
        }
        let Some(scratch) = &self.scratch else { return Ok(()) };
        self.image.copy_to_buffer(&at, scratch, 0)?;
        f(scratch)?;
        self.image.copy_from_buffer(&at, scratch, 0).and_then(|()| self.flush())
    }

    /// Queues a copy of `range` to the same bytes of linear memory, or from there.
    pub fn copy_linear(&self, range: &Range<usize>, linear: &Memory, to_linear: bool) -> Result<()> {
        for (start, region) in self.rows.rectangles(range)? {
            let (at, offset) = (part(region), range.start + start);
            let copied = match to_linear {
                true => self.image.copy_to_buffer(&at, linear, offset),
                false => self.image.copy_from_buffer(&at, linear, offset),
            };
            copied?;
        }
        self.flush()
    }

    /// Queues a copy of `range` to an image with the same rows.
    pub fn copy_image(&self, to: &Self, range: &Range<usize>) -> Result<()> {
        let rectangles = self.rows.rectangles(range)?;
        if to.rows.rectangles(range)? != rectangles || self.image.pixels().format != to.image.pixels().format {
            return Err(Error::refused("the two images differ in their format or the length of a row"));
        }
        for (_, region) in rectangles {
            self.image.copy_to_image(&part(region), &to.image)?;
        }
        self.flush()
    }

    fn flush(&self) -> Result<()> {
        self.shared.session.flush()
    }
}

impl MemoryDriver for OpenClImage {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        for (start, region) in self.rows.rectangles(&(offset..offset + into.len()))? {
            let len = region.width as usize * region.height as usize * self.desc().format.bytes_per_pixel();
            self.image.read(&part(region), &mut into[start..start + len])?;
        }
        Ok(())
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        for (start, region) in self.rows.rectangles(&(offset..offset + from.len()))? {
            let len = region.width as usize * region.height as usize * self.desc().format.bytes_per_pixel();
            self.image.write(&part(region), &from[start..start + len])?;
        }
        Ok(())
    }

    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut bytes = vec![0; range.len()];
        MemoryDriver::read(self, range.start, &mut bytes)?;
        f(&bytes)
    }

    fn map_write(&mut self, range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        let mut bytes = vec![0; range.len()];
        f(&mut bytes)?;
        MemoryDriver::write(self, range.start, &bytes)
    }

    fn set_sync(&mut self, kind: SyncKind) -> Result<()> {
        let sync = gl_sync(&self.shared, kind)?;
        self.image.turns_mut().set_gl_sync(sync);
        Ok(())
    }

    fn acquire(&mut self) -> Result<()> {
        self.image.acquire()
    }

    fn submit(&mut self) -> Result<()> {
        self.image.release()
    }

    fn release(&mut self) -> Result<()> {
        self.image.release().and_then(|()| self.image.wait_released())
    }

    fn release_in_queue(&mut self) -> Result<()> {
        MemoryDriver::submit(self)
    }
}
