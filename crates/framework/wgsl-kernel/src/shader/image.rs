//! Textures of a display that kernels in its queue write.
//!
//! To byte-wise calls, a texture consists of its rows without gaps. Such calls use a copy on the device, as do kernels
//! that address words.

use super::device::{CopyMethod, Session, ShaderDevice};
use super::memory::ShaderMemory;
use crate::prelude::NAMES_WORDS;
use interop_core::compute::{MemoryDriver, OpaqueImage, Placement};
use interop_core::describe::PlainMutex;
use interop_core::devices::maker_object::{find, own};
use interop_core::{ComputeMemory, Error, ImageDesc, ImageView, PixelFormat, Region, Result, SharedHandle, View};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A texture that kernels write.
pub struct ShaderImage<D: ShaderDevice> {
    texture: D::Texture,
    rows: OpaqueImage,
    /// Linear copy of all of it, or of as many rows as a binding can hold.
    scratch: OnceLock<D::Buffer>,
    /// The rectangle that is being written in the linear copy, with its row pitch there in bytes: it is copied to the
    /// texture before the next work on that.
    lent: PlainMutex<Option<(Region, usize)>>,
    /// Held while commands are queued that go through the linear copy for a reader.
    copying: PlainMutex<()>,
    device: Arc<D>,
}

interop_core::owned!(ShaderImage<D>: Session, "memory", |memory| memory.device.session(), D: ShaderDevice);

impl<D: ShaderDevice> ShaderImage<D> {
    /// Opens a display's texture.
    ///
    /// # Errors
    /// Those of [`ShaderDevice::texture`].
    pub fn open(device: &Arc<D>, handle: &SharedHandle, desc: ImageDesc) -> Result<Self> {
        let (texture, rows) = (device.texture(handle, &desc)?, OpaqueImage::new(desc)?);
        let (scratch, lent, copying) = Default::default();
        Ok(Self { texture, rows, scratch, lent, copying, device: Arc::clone(device) })
    }

    /// Returns the API's own object.
    pub fn texture(&self) -> &D::Texture {
        &self.texture
    }

    /// Returns its rows for byte-wise calls.
    pub fn rows(&self) -> &OpaqueImage {
        &self.rows
    }

    /// Returns the format of its pixels.
    pub fn format(&self) -> PixelFormat {
        self.rows.desc().format
    }

    /// Returns the linear copy, and its size in bytes.
    fn scratch(&self) -> Result<(&D::Buffer, usize)> {
        let pitch = self.rows.pitch().next_multiple_of(D::ROW_ALIGN);
        let room = self.rows.copied_at_once(pitch, &self.device.session().caps)?;
        if let Some(made) = self.scratch.get() {
            return Ok((made, room));
        }
        let made = self.device.allocate(room)?;
        Ok((self.scratch.get_or_init(|| made), room))
    }

    fn copy_region(&self, method: CopyMethod, region: Region, rows: (&D::Buffer, usize, usize)) -> Result<()> {
        self.device.copy_rows(method, (&self.texture, region, self.format()), rows)
    }

    /// Queues a copy of `range` between the texture and memory, there starting at byte `first`.
    pub(super) fn copy_range(
        &self,
        method: CopyMethod,
        range: &Range<usize>,
        (memory, first): (&D::Buffer, usize),
    ) -> Result<()> {
        self.settle()?;
        self.rows
            .rectangles(range)?
            .into_iter()
            .try_for_each(|(at, region)| self.copy_region(method, region, (memory, first + at, self.rows.pitch())))
    }

    /// Queues a copy of `range` to a texture with the same rows.
    pub(super) fn copy_to(&self, to: &Self, range: &Range<usize>) -> Result<()> {
        self.rows.check_alike(&to.rows)?;
        self.settle().and_then(|()| to.settle())?;
        if self.device.copy_image(&self.texture, &to.texture, &self.rows.rectangles(range)?)? {
            return Ok(());
        }
        let (memory, room) = self.scratch()?;
        let _alone = self.copying.lock();
        OpaqueImage::pieces(range, room).try_for_each(|piece| {
            self.copy_range(CopyMethod::Load, &piece, (memory, 0))?;
            to.copy_range(CopyMethod::Store, &piece, (memory, 0))
        })
    }

    /// Gives `f` a linear copy of a view's pixels, then copies that back: two copies on the device around a kernel that
    /// addresses words.
    pub(super) fn through_linear(&self, view: &View, f: impl FnOnce(&D::Buffer, &View) -> Result<()>) -> Result<()> {
        let (memory, linear) = self.lend(view)?;
        // A rejected kernel has written nothing.
        f(memory, &linear).inspect_err(|_| {
            self.lent.take();
        })?;
        self.settle()
    }

    /// Returns a linear copy of a view's pixels, for code that writes there before the next work on the texture.
    fn lend(&self, view: &View) -> Result<(&D::Buffer, View)> {
        self.settle()?;
        let Placement { region, reversed } = self.rows.place(view)?;
        let linear = ImageView::packed(region.extent(), view.pixels()?.format, D::ROW_ALIGN, 0, reversed)?;
        let ((memory, room), session) = (self.scratch()?, self.device.session());
        self.rows.check_room(linear.span().len(), room, &session.identity, &session.caps)?;
        self.copy_region(CopyMethod::Load, region, (memory, 0, linear.pitch()))?;
        self.lent.replace(Some((region, linear.pitch())));
        Ok((memory, View::Image(linear)))
    }

    /// `through_linear` for code that writes the copy by other calls.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a texture that can only be written by stores.
    pub fn lent(&self, view: &View) -> Result<(&D::Buffer, View)> {
        self.check_words()?;
        self.lend(view)
    }

    /// Rejects kernels that address words if no copy is available for them.
    pub(super) fn check_words(&self) -> Result<()> {
        if !D::stores_only(&self.texture) {
            return Ok(());
        }
        Err(Error::unsupported(self.device.session().identity.to_string(), NAMES_WORDS))
    }

    /// Copies the lent rectangle back.
    pub fn settle(&self) -> Result<()> {
        let Some((region, pitch)) = self.lent.take() else { return Ok(()) };
        self.copy_region(CopyMethod::Store, region, (self.scratch()?.0, 0, pitch))
    }
}

impl<D: ShaderDevice> MemoryDriver for ShaderImage<D> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        self.settle()?;
        let (range, pixel) = (offset..offset + into.len(), self.format().bytes_per_pixel());
        if self.device.read_image(&self.texture, &self.rows.rectangles(&range)?, pixel, into)? {
            return Ok(());
        }
        let (memory, room) = self.scratch()?;
        let _alone = self.copying.lock();
        OpaqueImage::pieces(&range, room).zip(into.chunks_mut(room)).try_for_each(|(piece, into)| {
            self.copy_range(CopyMethod::Load, &piece, (memory, 0))?;
            self.device.read(memory, 0, into)
        })
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        // Checked before anything changes.
        let (range, pixel) = (offset..offset + from.len(), self.format().bytes_per_pixel());
        let regions = self.rows.rectangles(&range)?;
        self.settle()?;
        if self.device.write_image(&self.texture, &regions, pixel, from)? {
            return Ok(());
        }
        let (memory, room) = self.scratch()?;
        let _alone = self.copying.lock();
        OpaqueImage::pieces(&range, room).zip(from.chunks(room)).try_for_each(|(piece, from)| {
            self.device.write(memory, 0, from)?;
            self.copy_range(CopyMethod::Store, &piece, (memory, 0))
        })
    }

    fn submit(&mut self) -> Result<()> {
        self.settle()?;
        self.device.submit_image(&self.texture)
    }

    fn release(&mut self) -> Result<()> {
        // The queue keeps the order.
        Ok(())
    }
}

/// Linear memory or a texture, of one backend.
pub enum MemorySide<'a, D: ShaderDevice> {
    /// Memory that kernels address.
    Linear(&'a ShaderMemory<D>),
    /// A texture, which kernels store to.
    Image(&'a ShaderImage<D>),
}

impl<'a, D: ShaderDevice> MemorySide<'a, D> {
    /// Classifies a memory.
    ///
    /// # Errors
    /// [`Error::Foreign`] for memory of another backend.
    pub fn of(memory: &'a dyn ComputeMemory, session: &Session) -> Result<Self> {
        match find(memory, session) {
            Some(image) => Ok(Self::Image(image)),
            None => own(memory, session).map(Self::Linear),
        }
    }
}
