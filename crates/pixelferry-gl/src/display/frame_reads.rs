//! Reads of what was drawn, several of them under way.

use crate::api::host_state::READS;
use crate::context::context_state::ContextState;
use crate::context::owned::Owned;
use crate::display::contract::GlDisplay;
use crate::display::draw_target::check_target;
use crate::draw::tools::Tools;
use crate::objects::buffer_object::{NOT_MAPPED, create_buffer, read_bound};
use crate::objects::draw_state::Viewport;
use crate::objects::fence::Fence;
use crate::objects::pixel_read;
use crate::objects::state::{BoundBuffer, Pack};
use glow::{HasContext as _, PixelPackData};
use interop_core::describe::error::call;
use interop_core::{Extent, PixelFormat, Result, SurfaceDesc};
use std::collections::VecDeque;
use std::rc::Rc;

/// A ring of reads: the device copies what was drawn while the program goes on, and gives it some frames later, in order. Made by
/// [`GlDisplay::frame_reads`]; stays on the thread of its display, and each call gives [`interop_core::Error::WrongContext`] where the display's
/// context is not current.
pub struct FrameReads {
    // Before the context.
    free: Vec<Slot>,
    /// The oldest first.
    under_way: VecDeque<(Slot, Fence)>,
    tools: Rc<Tools>,
    most: usize,
}

struct Slot {
    buffer: Owned<glow::Buffer>,
    extent: Extent,
}

impl GlDisplay {
    /// Reads of what is drawn, of which `most` may be under way at once (at least one).
    ///
    /// ```
    /// use pixelferry_gl::{GlDisplay, HeadlessOptions, Viewport};
    ///
    /// let Ok(display) = GlDisplay::headless(HeadlessOptions::default()) else { return Ok(()) };
    /// let (target, mut reads) = (display.create_offscreen_target(64, 32)?, display.frame_reads(3));
    /// target.bind()?;
    /// display.clear([0.0, 1.0, 0.0, 1.0])?;
    /// assert!(reads.start(Viewport::full(64, 32))?);
    /// // Frames go on here. The read is the picture as it was then.
    /// display.clear([0.0; 4])?;
    /// let mut rows = Vec::new();
    /// let size = reads.take(true, &mut rows)?;
    /// assert_eq!((size.map(|size| size.width), &rows[..4]), (Some(64), &[0, 255, 0, 255][..]));
    /// target.unbind()?;
    /// # Ok::<(), interop_core::Error>(())
    /// ```
    pub fn frame_reads(&self, most: usize) -> FrameReads {
        let tools = Rc::clone(self.tools_rc());
        FrameReads { free: Vec::new(), under_way: VecDeque::new(), tools, most: most.max(1) }
    }
}

impl FrameReads {
    /// Queues a read of a part of the framebuffer that is bound for drawing: a window's own before it is presented, or an object's
    /// first colour buffer. False, and nothing is queued, where as many as may be are under way. Does not wait.
    ///
    /// # Errors
    /// [`interop_core::Error::InvalidInput`] for no pixels or too many, and for a framebuffer that takes no colours, as one of integers;
    /// [`interop_core::Error::Driver`] for one that OpenGL does not read as bytes, as an object with several samples.
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

    /// Takes the oldest read into `rows`: tight rows of RGBA8 with the bottom row first, and their size. `None` where none is under
    /// way, or, unless it waits, none is finished.
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

/// Bytes of a read, which an image of that size was checked for.
const fn bytes(extent: Extent) -> usize {
    extent.width as usize * extent.height as usize * 4
}

/// Queues the copy. The context must be current, and the buffer has the bytes.
fn read(shared: &Rc<ContextState>, area: Viewport, into: glow::Buffer) -> Result<()> {
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
