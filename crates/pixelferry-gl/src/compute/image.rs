//! Textures of the display's, which kernels in its context write.
//!
//! To calls that see bytes a texture is its rows one after the other with no gaps. They go by a copy on the device, as do kernels that
//! name words.

use crate::compute::rows::Way;
use crate::compute::session::Session;
use crate::queue::QueueBuffer;
use crate::queue::texture::{BoundTexture, QueueTexture};
use interop_core::compute::{MemoryDriver, OpaqueImage, Placement, zeros};
use interop_core::{ImageDesc, PixelFormat, RawMemory, RawTarget, Region, Result, SharedHandle, View};
use std::ops::Range;
use std::sync::Arc;

/// A texture that kernels write.
pub struct GlImage {
    texture: QueueTexture,
    rows: OpaqueImage,
    /// Linear copy of all of it.
    scratch: Option<QueueBuffer>,
    session: Arc<Session>,
}

interop_core::owned!(GlImage: Session, "memory", |memory| &memory.session);

impl GlImage {
    pub fn open(session: &Arc<Session>, handle: &SharedHandle, desc: ImageDesc) -> Result<Self> {
        let texture = QueueTexture::open(&session.device, handle)?;
        texture.check(desc.extent)?;
        Ok(Self { texture, rows: OpaqueImage::new(desc)?, scratch: None, session: session.clone() })
    }

    pub fn format(&self) -> PixelFormat {
        self.rows.desc().format
    }

    /// Makes the linear copy's room. Rows of a texture are as tight as those of an image.
    fn scratch(&mut self) -> Result<QueueBuffer> {
        if self.scratch.is_none() {
            self.scratch = Some(QueueBuffer::new(&self.session.device, self.rows.len())?);
        }
        self.scratch.clone().map_or_else(|| QueueBuffer::new(&self.session.device, self.rows.len()), Ok)
    }

    /// Copies rectangles that make up `range` to or from the same bytes of `memory`, plus an offset.
    fn copy_rows(&self, range: &Range<usize>, memory: &QueueBuffer, first: usize, way: Way) -> Result<()> {
        for (at, region) in self.rows.rectangles(range)? {
            let to = (memory, [first + at, self.rows.pitch()]);
            self.session.rows.copy((&self.texture, region), to, self.format(), way)?;
        }
        Ok(())
    }

    /// Queues a copy of `range` into memory at its same bytes.
    pub fn copy_to(&self, memory: &QueueBuffer, range: &Range<usize>) -> Result<()> {
        self.copy_rows(range, memory, range.start, Way::Load)
    }

    /// Queues a copy of `range` of memory.
    pub fn copy_from(&self, memory: &QueueBuffer, range: &Range<usize>) -> Result<()> {
        self.copy_rows(range, memory, range.start, Way::Store)
    }

    /// Queues a copy of `range` to a texture with the same rows.
    pub fn copy_image(&self, to: &Self, range: &Range<usize>) -> Result<()> {
        if self.rows.desc().extent != to.rows.desc().extent || self.format() != to.format() {
            return Err(interop_core::Error::refused("the two textures differ in size or format"));
        }
        self.rows.rectangles(range)?.into_iter().try_for_each(|(_, region)| to.texture.copy_from(&self.texture, region))
    }

    /// Gives `f` a linear copy of all of it with the view of a part, then copies that part back: two copies on the device around a
    /// kernel that needs words.
    pub fn through_linear(&mut self, view: &View, f: impl FnOnce(&QueueBuffer, &View) -> Result<()>) -> Result<()> {
        let Placement { region, .. } = self.rows.place(view)?;
        let (memory, session) = (self.scratch()?, self.session.clone());
        let whole = self.rows.desc().extent.full();
        let (all, part) = ((&memory, [0, self.rows.pitch()]), self.first_byte(region));
        session.rows.copy((&self.texture, whole), all, self.format(), Way::Load)?;
        f(&memory, view)?;
        session.rows.copy((&self.texture, region), (&memory, [part, self.rows.pitch()]), self.format(), Way::Store)
    }

    fn first_byte(&self, region: Region) -> usize {
        region.y as usize * self.rows.pitch() + region.x as usize * self.format().bytes_per_pixel()
    }

    /// Where a view lies.
    pub fn place(&self, view: &View) -> Result<Placement> {
        self.rows.place(view)
    }

    /// The texture as kernels store to it.
    pub fn bound(&self) -> Result<BoundTexture> {
        self.texture.bound(glow::WRITE_ONLY)
    }

    /// The texture's names.
    pub fn raw<'a>(&self, view: View) -> Result<RawTarget<'a>> {
        let (region, (row, step)) = {
            let at = self.rows.place(&view)?;
            (at.region, at.first_row())
        };
        let (texture, level) = self.texture.names()?;
        // SAFETY: the target lies inside the texture, which its surface keeps for as long as the path that borrows both.
        Ok(unsafe { RawTarget::new(RawMemory::GlTexture { texture, level, first: (region.x, row), step }, view) })
    }
}

impl MemoryDriver for GlImage {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        let range = offset..offset + into.len();
        let memory = self.scratch()?;
        self.copy_to(&memory, &range)?;
        memory.read(offset, into)
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        let range = offset..offset + from.len();
        // Refused before anything changes.
        self.rows.rectangles(&range)?;
        let memory = self.scratch()?;
        memory.write(offset, from)?;
        self.copy_from(&memory, &range)
    }

    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut bytes = zeros(range.len())?;
        MemoryDriver::read(self, range.start, &mut bytes)?;
        f(&bytes)
    }

    fn map_write(&mut self, range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        let mut bytes = zeros(range.len())?;
        f(&mut bytes)?;
        MemoryDriver::write(self, range.start, &bytes)
    }

    fn submit(&mut self) -> Result<()> {
        Ok(())
    }

    fn release(&mut self) -> Result<()> {
        // The queue keeps the order.
        Ok(())
    }
}
