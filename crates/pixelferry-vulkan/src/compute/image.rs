//! Images of the display's, or of its engine's, which kernels in its queue store to.
//!
//! To calls that see bytes an image is its rows one after the other with no gaps. They go by a copy on the device, as do kernels that
//! name words.

use crate::compute::session::Session;
use crate::context::device_state::DeviceState;
use crate::context::home::AtHome;
use crate::launch::lasting::Lasting;
use crate::launch::layout::Bound;
use crate::launch::views::ImageView;
use crate::queue::commands::{Place, Rows};
use crate::staging::memory::Buffer;
use crate::staging::queue_buffer::QueueBuffer;
use crate::staging::queue_image::QueueImage;
use crate::staging::transfer::{copy_to_image, copy_to_rows, read_buffer, upload_bytes};
use interop_core::compute::{MemoryDriver, OpaqueImage, Placement, host_bytes};
use interop_core::{ImageDesc, PixelFormat, Region, Result, SharedHandle, View};
use std::cell::OnceCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// An image that kernels write.
pub struct VulkanImage {
    inner: AtHome<Inner>,
    rows: OpaqueImage,
    session: Arc<Session>,
}

/// What stays on the display's thread.
struct Inner {
    image: QueueImage,
    view: Lasting<ImageView>,
    /// Linear copy of all of it, or of as many rows as a binding has.
    scratch: OnceCell<QueueBuffer>,
}

interop_core::owned!(VulkanImage: Session, "memory", |memory| &memory.session);

impl VulkanImage {
    pub fn open(session: &Arc<Session>, handle: &SharedHandle, desc: &ImageDesc) -> Result<Self> {
        let shared = session.shared()?;
        let image = QueueImage::open(shared, handle, desc)?;
        let view = Lasting::new(shared, ImageView::storing(shared, &image)?);
        let inner = AtHome::new(&shared.home, Inner { image, view, scratch: OnceCell::new() })?;
        Ok(Self { inner, rows: OpaqueImage::new(*desc)?, session: Arc::clone(session) })
    }

    pub fn format(&self) -> PixelFormat {
        self.rows.desc().format
    }

    /// Place of a view in the image.
    pub fn place(&self, view: &View) -> Result<Placement> {
        self.rows.place(view)
    }

    /// The image as kernels store to it.
    pub fn bound(&self) -> Result<(Bound<'_>, Place)> {
        let inner = self.inner.get()?;
        Ok((Bound::Texture(inner.view.raw, inner.view.number), self.image()?))
    }

    /// The linear copy's room.
    fn scratch(&self) -> Result<&QueueBuffer> {
        let scratch = &self.inner.get()?.scratch;
        if let Some(made) = scratch.get() {
            return Ok(made);
        }
        let room = self.rows.copied_at_once(self.rows.pitch(), &self.session.caps)?;
        let made = Rc::new(Buffer::zeroed(self.session.shared()?, room)?);
        Ok(scratch.get_or_init(|| QueueBuffer::of(&made)))
    }

    /// Calls `copy` with each rectangle that makes up `range`, and its rows from byte `first` of `memory` on.
    fn each(
        &self,
        (memory, first): (&QueueBuffer, usize),
        range: &Range<usize>,
        copy: impl Fn(&DeviceState, Region, Rows) -> Result<u64>,
    ) -> Result<()> {
        let shared = self.session.shared()?;
        let row_length = self.rows.desc().extent.width;
        self.rows.rectangles(range)?.into_iter().try_for_each(|(at, region)| {
            let rows = Rows { buffer: memory.raw(), offset: (first + at) as u64, row_length };
            copy(shared, region, rows).map(drop)
        })
    }

    /// Queues a copy of `range` into memory at its same bytes.
    pub fn copy_to(&self, memory: &QueueBuffer, range: &Range<usize>) -> Result<()> {
        self.load((memory, range.start), range)
    }

    fn load(&self, to: (&QueueBuffer, usize), range: &Range<usize>) -> Result<()> {
        let place = self.image()?;
        self.each(to, range, |shared, region, rows| copy_to_rows(shared, place, region, rows))
    }

    /// Queues a copy of `range` of memory.
    pub fn copy_from(&self, memory: &QueueBuffer, range: &Range<usize>) -> Result<()> {
        self.store((memory, range.start), range)
    }

    fn store(&self, from: (&QueueBuffer, usize), range: &Range<usize>) -> Result<()> {
        let place = self.image()?;
        self.each(from, range, |shared, region, rows| copy_to_image(shared, place, rows, region))
    }

    /// The image, while whoever has it keeps it.
    fn image(&self) -> Result<Place> {
        self.inner.get()?.image.place()
    }

    /// Queues a copy of `range` to an image with the same rows.
    pub fn copy_image(&self, to: &Self, range: &Range<usize>) -> Result<()> {
        self.rows.check_alike(&to.rows)?;
        let memory = self.scratch()?;
        OpaqueImage::pieces(range, memory.len()).try_for_each(|piece| {
            self.load((memory, 0), &piece)?;
            to.store((memory, 0), &piece)
        })
    }

    /// Gives `f` a linear copy of all that a view spans, then copies that back: two copies on the device around a kernel that needs
    /// words. The copy begins with the view's first byte.
    pub fn through_linear(&self, view: &View, f: impl FnOnce(&QueueBuffer, &View) -> Result<()>) -> Result<()> {
        self.rows.place(view)?;
        let (memory, span) = (self.scratch()?, view.span());
        self.rows.check_room(span.len(), memory.len(), &self.session.identity, &self.session.caps)?;
        self.load((memory, 0), &span)?;
        f(memory, &view.from_its_start())?;
        self.store((memory, 0), &span)
    }
}

impl MemoryDriver for VulkanImage {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        let end = offset + into.len();
        MemoryDriver::map_read(self, offset..end, &mut |bytes| {
            into.copy_from_slice(bytes);
            Ok(())
        })
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        let range = offset..offset + from.len();
        // Refused before anything changes.
        self.rows.rectangles(&range)?;
        let memory = self.scratch()?;
        OpaqueImage::pieces(&range, memory.len()).zip(from.chunks(memory.len())).try_for_each(|(piece, from)| {
            upload_bytes(self.session.shared()?, (memory.raw(), 0), from)?;
            self.store((memory, 0), &piece)
        })
    }

    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let (memory, mut bytes) = (self.scratch()?, host_bytes(range.len())?);
        for piece in OpaqueImage::pieces(&range, memory.len()) {
            self.load((memory, 0), &piece)?;
            bytes.extend(read_buffer(self.session.shared()?, memory.raw(), &(0..piece.len() as u64))?);
        }
        f(&bytes)
    }

    fn release(&mut self) -> Result<()> {
        // The queue keeps the order.
        Ok(())
    }
}
