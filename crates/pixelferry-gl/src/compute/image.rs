//! Textures of the display's, which kernels in its context write.
//!
//! To calls that see bytes a texture is its rows one after the other with no gaps. They go by a copy on the device, as do kernels that
//! name words.

use crate::compute::rows::Way;
use crate::compute::session::Session;
use crate::objects::image_unit::Bound;
use crate::queue::QueueBuffer;
use crate::queue::texture::QueueTexture;
use interop_core::compute::{MemoryDriver, OpaqueImage, Placement};
use interop_core::{ImageDesc, PixelFormat, RawMemory, RawTarget, Result, SharedHandle, View};
use std::ops::Range;
use std::sync::Arc;

/// A texture that kernels write.
pub struct GlImage {
    texture: QueueTexture,
    rows: OpaqueImage,
    /// Linear copy of all of it, or of as many rows as a binding has.
    scratch: Option<QueueBuffer>,
    session: Arc<Session>,
}

interop_core::owned!(GlImage: Session, "memory", |memory| &memory.session);

impl GlImage {
    pub fn open(session: &Arc<Session>, handle: &SharedHandle, desc: ImageDesc) -> Result<Self> {
        let texture = QueueTexture::open(&session.device, handle, desc.extent)?;
        Ok(Self { texture, rows: OpaqueImage::new(desc)?, scratch: None, session: session.clone() })
    }

    pub fn format(&self) -> PixelFormat {
        self.rows.desc().format
    }

    /// Makes the linear copy's room. Rows of a texture are as tight as those of an image.
    fn scratch(&mut self) -> Result<QueueBuffer> {
        if let Some(made) = &self.scratch {
            return Ok(made.clone());
        }
        let made = QueueBuffer::new(&self.session.device, self.rows.copied_at_once(&self.session.caps)?)?;
        Ok(self.scratch.insert(made).clone())
    }

    /// Copies rectangles that make up `range` to or from `memory`, from byte `first` on.
    fn copy_rows(&self, range: &Range<usize>, (memory, first): (&QueueBuffer, usize), way: Way) -> Result<()> {
        for (at, region) in self.rows.rectangles(range)? {
            let to = (memory, [first + at, self.rows.pitch()]);
            self.session.rows.copy((&self.texture, region), to, self.format(), way)?;
        }
        Ok(())
    }

    /// Queues a copy of `range` into memory at its same bytes.
    pub fn copy_to(&self, memory: &QueueBuffer, range: &Range<usize>) -> Result<()> {
        self.copy_rows(range, (memory, range.start), Way::Load)
    }

    /// Queues a copy of `range` of memory.
    pub fn copy_from(&self, memory: &QueueBuffer, range: &Range<usize>) -> Result<()> {
        self.copy_rows(range, (memory, range.start), Way::Store)
    }

    /// Queues a copy of `range` to a texture with the same rows.
    pub fn copy_image(&self, to: &Self, range: &Range<usize>) -> Result<()> {
        self.rows.check_alike(&to.rows)?;
        self.rows.rectangles(range)?.into_iter().try_for_each(|(_, region)| to.texture.copy_from(&self.texture, region))
    }

    /// Gives `f` a linear copy of all that a view spans, then copies that back: two copies on the device around a kernel that needs
    /// words. The copy begins with the view's first byte.
    pub fn through_linear(&mut self, view: &View, f: impl FnOnce(&QueueBuffer, &View) -> Result<()>) -> Result<()> {
        self.rows.place(view)?;
        let (memory, span) = (self.scratch()?, view.span());
        self.rows.check_room(span.len(), memory.len(), self.session.device.identity(), &self.session.caps)?;
        self.copy_rows(&span, (&memory, 0), Way::Load)?;
        f(&memory, &view.from_its_start())?;
        self.copy_rows(&span, (&memory, 0), Way::Store)
    }

    /// True where kernels that name words are refused.
    pub fn stores_only(&self) -> bool {
        self.texture.stores_only()
    }

    /// Place of a view in the texture.
    pub fn place(&self, view: &View) -> Result<Placement> {
        self.rows.place(view)
    }

    /// The texture as kernels store to it.
    pub fn bound(&self) -> Result<Bound> {
        self.texture.bound(glow::WRITE_ONLY)
    }

    /// The texture's names.
    pub fn raw<'a>(&self, view: View) -> Result<RawTarget<'a>> {
        let at = self.rows.place(&view)?;
        let ((row, step), (texture, level)) = (at.first_row(), self.texture.names()?);
        // SAFETY: the target lies inside the texture, which its surface keeps for as long as the path that borrows both.
        Ok(unsafe { RawTarget::new(RawMemory::GlTexture { texture, level, first: (at.region.x, row), step }, view) })
    }
}

impl MemoryDriver for GlImage {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        let range = offset..offset + into.len();
        let memory = self.scratch()?;
        OpaqueImage::pieces(&range, memory.len()).zip(into.chunks_mut(memory.len())).try_for_each(|(piece, into)| {
            self.copy_rows(&piece, (&memory, 0), Way::Load)?;
            memory.read(0, into)
        })
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        let range = offset..offset + from.len();
        // Refused before anything changes.
        self.rows.rectangles(&range)?;
        let memory = self.scratch()?;
        OpaqueImage::pieces(&range, memory.len()).zip(from.chunks(memory.len())).try_for_each(|(piece, from)| {
            memory.write(0, from)?;
            self.copy_rows(&piece, (&memory, 0), Way::Store)
        })
    }

    fn release(&mut self) -> Result<()> {
        // The queue keeps the order.
        Ok(())
    }
}
