//! Asynchronous reads of drawn frames.

use crate::api::host_state::READS;
use crate::context::context_state::ContextState;
use crate::context::owned_object::OwnedObject;
use crate::display::contract::GlDisplay;
use crate::display::draw_target::check_target;
use crate::draw::tools::Tools;
use crate::objects::buffer_object::{NOT_MAPPED, create_buffer, read_bound};
use crate::objects::fence::Fence;
use crate::objects::pixel_read;
use crate::objects::state_guards::{BoundBuffer, Pack};
use glow::{HasContext as _, PixelPackData};
use interop_core::describe::error::call;
use interop_core::{Extent, PixelFormat, Result, SurfaceDesc, Viewport};
use std::collections::VecDeque;
use std::sync::Arc;

/// A ring of reads: the device copies the drawn content while the program continues, and returns it some frames later,
/// in order. [`GlDisplay::frame_reads`] creates one. It stays on the thread of its display, and each call returns
/// [`interop_core::Error::WrongContext`] where the display's context is not current.
pub struct FrameReads {
    // Dropped before the context.
    free: Vec<Slot>,
    /// Reads in progress, the oldest first.
    under_way: VecDeque<(Slot, Fence)>,
    tools: Arc<Tools>,
    most: usize,
}

struct Slot {
    buffer: OwnedObject<glow::Buffer>,
    extent: Extent,
}

impl GlDisplay {
    /// Creates a ring of reads, of which `most` (at least one) may be in progress at once.
    ///
    /// ```
    /// use pixelferry_gl::{GlDisplay, HeadlessOptions, Viewport};
    ///
    /// let Ok(display) = GlDisplay::headless(HeadlessOptions::default()) else { return Ok(()) };
    /// let (target, mut reads) = (display.create_offscreen_target(64, 32)?, display.frame_reads(3));
    /// target.bind()?;
    /// display.clear([0.0, 1.0, 0.0, 1.0])?;
    /// assert!(reads.start(Viewport::full(64, 32))?);
    /// // Frames continue here. The read returns the picture as it was before.
    /// display.clear([0.0; 4])?;
    /// let mut rows = Vec::new();
    /// let size = reads.take(true, &mut rows)?;
    /// assert_eq!((size.map(|size| size.width), &rows[..4]), (Some(64), &[0, 255, 0, 255][..]));
    /// target.unbind()?;
    /// # Ok::<(), interop_core::Error>(())
    /// ```
    pub fn frame_reads(&self, most: usize) -> FrameReads {
        let tools = Arc::clone(self.tools_rc());
        FrameReads { free: Vec::new(), under_way: VecDeque::new(), tools, most: most.max(1) }
    }
}

impl FrameReads {
    /// Queues a read of a part of the framebuffer that is bound for drawing: a window's own framebuffer before it is
    /// presented, or a framebuffer object's first colour buffer. Returns false, and queues nothing, where the largest
    /// number of reads is in progress. Does not wait.
    ///
    /// # Errors
    /// [`interop_core::Error::InvalidInput`] for 0 pixels or too many, and for a framebuffer without a usable colour
    /// buffer, such as one of integers; [`interop_core::Error::Driver`] for one that OpenGL cannot read as bytes, such
    /// as a multisampled object.
    pub fn start(&mut self, area: Viewport) -> Result<bool> {
        call("FrameReads::start", || {
            let shared = self.tools.shared();
            shared.enter()?;
            shared.check_host(READS)?;
            check_target(&self.tools)?;
            let extent = Extent::new(area.width, area.height);
            SurfaceDesc::image(area.width, area.height, PixelFormat::Rgba8).check(&shared.device.name, &shared.caps)?;
            if self.under_way.len() >= self.most {
                return Ok(false);
            }
            let slot = match self.free.pop().filter(|slot| slot.extent == extent) {
                Some(slot) => slot,
                None => Slot { buffer: create_buffer(shared, bytes(extent), glow::STREAM_READ)?, extent },
            };
            read(shared, area, slot.buffer.get())?;
            let fence = Fence::insert(shared)?;
            self.under_way.push_back((slot, fence));
            Ok(true)
        })
    }

    /// Copies the oldest read into `rows`, as tight rows of RGBA8 with the bottom row first, and returns its size.
    /// Returns `None` where no read is in progress, or, without `wait`, where none is finished.
    ///
    /// # Errors
    /// [`interop_core::Error::Driver`] where the device does not finish; that read is lost.
    pub fn take(&mut self, wait: bool, rows: &mut Vec<u8>) -> Result<Option<Extent>> {
        call("FrameReads::take", || {
            let shared = self.tools.shared();
            shared.enter()?;
            let Some((slot, fence)) = self.under_way.pop_front() else { return Ok(None) };
            if wait {
                fence.wait(shared)?;
            } else if !fence.is_done(shared)? {
                self.under_way.push_front((slot, fence));
                return Ok(None);
            }
            rows.resize(bytes(slot.extent), 0);
            let is_there = shared.checked("glGetBufferSubData", || {
                let _bound = BoundBuffer::write(shared, slot.buffer.get());
                // SAFETY: the context is current, and the buffer is bound and as long as `rows`.
                unsafe { read_bound(&shared.gl, shared.features.es, glow::COPY_WRITE_BUFFER, 0, rows) }
            })?;
            let extent = slot.extent;
            self.free.push(slot);
            if is_there { Ok(Some(extent)) } else { Err(shared.no_name("glMapBufferRange", NOT_MAPPED)) }
        })
    }
}

/// Returns the bytes of a read; an image of that size was checked before.
const fn bytes(extent: Extent) -> usize {
    extent.width as usize * extent.height as usize * 4
}

/// Queues the copy. The context must be current, and the buffer be large enough.
fn read(shared: &Arc<ContextState>, area: Viewport, into: glow::Buffer) -> Result<()> {
    let [width, height] = [area.width, area.height].map(|side| side as i32);
    let read = || {
        let _pack = Pack::set(shared, 0, Some(into));
        let data = PixelPackData::BufferOffset(0);
        // SAFETY: the context is current. Places outside of the framebuffer leave what is in the buffer.
        unsafe { shared.gl.read_pixels(area.x, area.y, width, height, glow::RGBA, glow::UNSIGNED_BYTE, data) }
    };
    // SAFETY: the context is current.
    unsafe { pixel_read::of_drawn(shared, || shared.checked("glReadPixels", read)) }
}
