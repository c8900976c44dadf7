//! Images shared with another API: opaque memory, see [`interop_core::ComputeBackend::import_surface`].

use crate::backend_state::BackendState;
use crate::cl::{Buffer, Image, ImageBox, MemFlags};
use crate::sharing::gl_sync::gl_sync;
use crate::sharing::turns::{CommandTurn, Turns};
use interop_core::compute::MemoryDriver;
use interop_core::compute::{OpaqueImage, Placement};
use interop_core::{ImageDesc, Region, Result, SyncKind, View};
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

/// An image that kernels write.
pub struct OpenClImage {
    /// Linear copy of a part, for kernels that cannot write images.
    scratch: Option<Buffer>,
    pub image: Image,
    turns: Turns,
    rows: OpaqueImage,
    pub shared: Arc<BackendState>,
}

fn part(region: Region) -> ImageBox {
    let [x, y, width, height] = [region.x, region.y, region.width, region.height].map(|n| n as usize);
    ImageBox { origin: [x, y, 0], region: [width, height, 1] }
}

interop_core::owned!(OpenClImage: BackendState, "memory", |memory| &memory.shared);

impl OpenClImage {
    pub fn new(shared: &Arc<BackendState>, image: Image, turns: Turns, desc: ImageDesc) -> Result<Self> {
        let rows = OpaqueImage::new(desc)?;
        Ok(Self { scratch: None, image, turns, rows, shared: shared.clone() })
    }

    /// Takes the turn for commands that are queued while the returned value lives, unless it is already taken.
    pub fn turn(&self) -> Result<Option<CommandTurn<'_>>> {
        self.turns.enter(&self.shared, (&self.image).into())
    }

    /// Returns the object for foreign commands in the backend's queue, while OpenCL has it.
    pub fn lent_out(&self) -> Result<*mut c_void> {
        self.turns.lent_out((&self.image).into())
    }

    pub fn desc(&self) -> &ImageDesc {
        self.rows.desc()
    }

    /// Returns the position of `view` in the image.
    pub fn place(&self, view: &View) -> Result<Placement> {
        self.rows.place(view)
    }

    /// Passes a linear copy of a part to `f` (tight rows in the image's order), then copies it back. This costs two
    /// copies on the device for a kernel that needs linear memory.
    pub fn through_linear(&mut self, at: &Placement, f: impl FnOnce(&Buffer) -> Result<()>) -> Result<()> {
        let at = part(at.region);
        let len = at.region[0] * at.region[1] * self.desc().format.bytes_per_pixel();
        if self.scratch.as_ref().is_none_or(|scratch| scratch.len() < len) {
            self.scratch = None;
            self.scratch = Some(Buffer::new(self.shared.context(), MemFlags::READ_WRITE, len)?);
        }
        let Some(scratch) = &self.scratch else { return Ok(()) };
        let _turn = self.turn()?;
        let queue = self.shared.queue();
        queue.copy_image_to_buffer((&self.image, &at), (scratch, 0), &[])?;
        f(scratch)?;
        queue.copy_buffer_to_image((scratch, 0), (&self.image, &at), &[])?;
        queue.flush()
    }

    /// Queues a copy of `range` to or from the same bytes of linear memory.
    pub fn copy_linear(&self, range: &Range<usize>, linear: &Buffer, to_linear: bool) -> Result<()> {
        let _turn = self.turn()?;
        let queue = self.shared.queue();
        for (start, region) in self.rows.rectangles(range)? {
            let (image, at) = (&self.image, part(region));
            let linear = (linear, range.start + start);
            match to_linear {
                true => queue.copy_image_to_buffer((image, &at), linear, &[])?,
                false => queue.copy_buffer_to_image(linear, (image, &at), &[])?,
            };
        }
        queue.flush()
    }

    /// Queues a copy of `range` to an image with the same rows.
    pub fn copy_image(&self, to: &Self, range: &Range<usize>) -> Result<()> {
        self.rows.check_alike(&to.rows)?;
        let rectangles = self.rows.rectangles(range)?;
        let _turns = (self.turn()?, to.turn()?);
        let queue = self.shared.queue();
        for (_, region) in rectangles {
            let at = part(region);
            queue.copy_image((&self.image, &at), (&to.image, at.origin), &[])?;
        }
        queue.flush()
    }
}

impl Drop for OpenClImage {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // The other API may reuse the memory next.
        let released = self.turns.release(&self.shared, (&self.image).into());
        if let Err(error) = released.and_then(|()| self.shared.finish()) {
            tracing::warn!(%error, "cannot release a dropped image");
        }
    }
}

impl MemoryDriver for OpenClImage {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        for (start, region) in self.rows.rectangles(&(offset..offset + into.len()))? {
            let len = region.width as usize * region.height as usize * self.desc().format.bytes_per_pixel();
            let _turn = self.turn()?;
            let into = &mut into[start..start + len];
            self.shared.queue().read_image_into(&self.image, &part(region), into, &[])?;
        }
        Ok(())
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        for (start, region) in self.rows.rectangles(&(offset..offset + from.len()))? {
            let len = region.width as usize * region.height as usize * self.desc().format.bytes_per_pixel();
            let _turn = self.turn()?;
            let from = &from[start..start + len];
            self.shared.queue().write_image_from(&self.image, &part(region), from, &[])?;
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
        self.turns.set_gl_sync(sync);
        Ok(())
    }

    fn acquire(&mut self) -> Result<()> {
        self.turns.acquire(&self.shared, (&self.image).into())
    }

    fn submit(&mut self) -> Result<()> {
        self.turns.release(&self.shared, (&self.image).into())
    }

    fn release(&mut self) -> Result<()> {
        MemoryDriver::submit(self)?;
        self.turns.wait(&self.shared)
    }

    fn release_in_queue(&mut self) -> Result<()> {
        MemoryDriver::submit(self)
    }
}
