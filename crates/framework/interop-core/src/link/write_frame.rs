//! The guard of a frame that is being computed.

use super::LinkCore;
use super::frame_trace::FrameTrace;
use crate::compute::{Arg, ComputeBackend, Kernel, RawTarget, Target};
use crate::describe::error::{Error, Result};
use crate::describe::surface::SurfaceDesc;
use crate::devices::timeline::step;
use crate::display::SurfacePart;
use crate::path::SharingPath;

/// Exclusive access to the memory of the next frame.
///
/// [`WriteFrame::finish`] hands it to the display. If it is dropped before that (by an early `?` or a panic), the frame
/// is discarded and the previous frame stays on show: an incomplete picture is never visible.
///
/// ```
/// use cpu_fallback::*;
/// use interop_core::*;
///
/// # let (backend, display) = (std::sync::Arc::new(CpuBackend::new()?), MemoryDisplay::new());
/// # let desc = SurfaceDesc::image(2, 1, PixelFormat::R8);
/// # let mut link = Link::open(backend, display, desc, LinkOptions::default())?;
/// let mut frame = link.acquire()?;
/// frame.write(&[1, 2])?;
/// frame.finish()?;
/// // A dropped frame is discarded: the previous frame stays on show.
/// let mut half = link.acquire()?;
/// half.write(&[8, 9])?;
/// drop(half);
/// assert_eq!(link.read_back()?, [1, 2]);
/// // A part of the surface; the rest stays.
/// let mut part = link.acquire_region(Region::new(1, 0, 1, 1))?;
/// part.write(&[7])?;
/// part.finish()?;
/// assert_eq!(link.read_back()?, [1, 7]);
/// # Ok::<(), Error>(())
/// ```
#[must_use = "a frame that is not finished is discarded"]
pub struct WriteFrame<'a> {
    link: &'a mut LinkCore,
    part: SurfacePart,
    open: bool,
    /// Ends the trace together with the frame.
    _traced: Option<FrameTrace>,
}

impl<'a> WriteFrame<'a> {
    pub(super) fn new(link: &'a mut LinkCore, part: SurfacePart, traced: Option<FrameTrace>) -> Self {
        Self { link, part, open: true, _traced: traced }
    }

    /// Returns the part of the surface that this frame replaces, rows counted in the surface's order.
    pub fn part(&self) -> &SurfacePart {
        &self.part
    }

    /// Returns the backend that runs kernels of this frame.
    pub fn backend(&self) -> &dyn ComputeBackend {
        self.link.backend.as_ref()
    }

    /// Queues a kernel that writes the frame. Its first parameters are the target, followed by `args`.
    pub fn launch(&mut self, kernel: &dyn Kernel, args: &[Arg<'_>]) -> Result<()> {
        let _step = step!("launch", kernel = kernel.name());
        let (target, backend) = self.link.next_target()?;
        backend.launch(kernel, target, args)
    }

    /// Returns the memory that kernels write, for the backend's own calls.
    pub fn target(&mut self) -> Result<Target<'_>> {
        self.link.next_target().map(|(target, _)| target)
    }

    /// Returns native handles of the frame's memory, for kernels and libraries of your own. The path stays as fast as
    /// it is.
    ///
    /// Submit your work to the stream or queue among the handles, or order it before the later work there; then finish
    /// the frame. Request the handles in each frame, because the next one may use other memory.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the backend's memory has no native handles.
    ///
    /// # Safety
    /// Code that uses the handles must ensure the following:
    /// - It writes only bytes of the view, or pixels of the view's rectangle in a texture.
    /// - All work that touches them is in the given stream or queue, or ordered before it, when the frame ends or is
    ///   used again. Host memory is written by then, and the queue of GL or Vulkan is used on its permitted thread.
    /// - It does not release, destroy or map the objects, nor use them after the frame.
    pub unsafe fn raw(&mut self) -> Result<RawTarget<'_>> {
        let _step = step!("raw");
        let (target, backend) = self.link.next_target()?;
        backend.raw(target)
    }

    /// Writes pixels or bytes from the host: all of [`Self::part`], as tight rows in the surface's order.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the length differs from that of the part.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let _step = step!("write");
        // The gaps between the rows of a target's texture do not belong to the frame.
        let is_whole = self.part == self.link.layout.full() && !self.link.is_straight();
        self.target()?.write("WriteFrame::write", bytes, is_whole)
    }

    /// Hands over the frame without counting it as one of the user's.
    pub(super) fn hand_over(mut self) -> Result<()> {
        self.open = false;
        self.link.path.finish()?;
        self.link.path.flush()
    }

    /// Hands the frame to the display; in latency mode waits for the compute side where the path needs it.
    ///
    /// # Errors
    /// Errors of the backend or display; then the previous frame stays on show.
    pub fn finish(mut self) -> Result<()> {
        self.open = false;
        self.link.finish_frame(&self.part)
    }

    /// Returns the width and height of the part in pixels.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a buffer surface.
    pub fn extent(&self) -> Result<crate::Extent> {
        match (&self.part, self.link.desc()) {
            (SurfacePart::Image(region), SurfaceDesc::Image(_)) => Ok(region.extent()),
            _ => Err(Error::invalid("WriteFrame::extent", "a buffer has no width and height")),
        }
    }
}

impl Drop for WriteFrame<'_> {
    fn drop(&mut self) {
        if self.open && !self.link.targets.close() {
            self.link.path.cancel();
        }
    }
}
