//! The guard of a frame that is being computed.

use super::Link;
use super::traced::Traced;
use crate::compute::{Arg, ComputeBackend, Kernel, RawTarget, Target};
use crate::describe::error::{Error, Result};
use crate::describe::surface::SurfaceDesc;
use crate::devices::timeline::step;
use crate::display::Part;
use crate::path::SharingPath;

/// Exclusive access to the memory of the next frame.
///
/// [`WriteFrame::finish`] hands it to the display. Dropped without that (an early `?`, a panic), the frame is given
/// up and the one before stays on show: a half-computed picture is never seen.
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
/// // One that is dropped is given up: the frame before stays on show.
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
#[must_use = "a frame that is not finished is given up"]
pub struct WriteFrame<'a> {
    link: &'a mut Link,
    part: Part,
    open: bool,
    /// Ends with the frame.
    _traced: Option<Traced>,
}

impl<'a> WriteFrame<'a> {
    pub(super) fn new(link: &'a mut Link, part: Part, traced: Option<Traced>) -> Self {
        Self { link, part, open: true, _traced: traced }
    }

    /// The part of the surface that this frame replaces, rows counted in the surface's order.
    pub fn part(&self) -> &Part {
        &self.part
    }

    /// The backend that kernels of this frame run on.
    pub fn backend(&self) -> &dyn ComputeBackend {
        self.link.backend.as_ref()
    }

    /// Queues a kernel that writes the frame; its first parameters are the target, then come `args`.
    pub fn launch(&mut self, kernel: &dyn Kernel, args: &[Arg<'_>]) -> Result<()> {
        let _step = step!("launch", kernel = kernel.name());
        let (target, backend) = self.link.next_target()?;
        backend.launch(kernel, target, args)
    }

    /// The memory that kernels write, for backends' own calls.
    pub fn target(&mut self) -> Result<Target<'_>> {
        self.link.next_target().map(|(target, _)| target)
    }

    /// The frame's memory by its own API's names, for kernels and libraries of your own. The path stays as fast as it is.
    ///
    /// Give your work to the stream or queue that is named, or order it before what that gets next; then finish the frame.
    /// Ask in each frame: the next one may lie elsewhere.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the backend's memory has no names outside.
    ///
    /// # Safety
    /// Whoever uses the names keeps this:
    /// - Only bytes of the view are written, or pixels of its rectangle in a texture.
    /// - All work that touches them is in the named stream or queue, or ordered before it, when the frame ends or this
    ///   frame is used again. Host memory is written by then, and GL's or Vulkan's queue is used on the thread that may.
    /// - Nothing named is released, destroyed, mapped, or used after the frame.
    pub unsafe fn raw(&mut self) -> Result<RawTarget<'_>> {
        let _step = step!("raw");
        let (target, backend) = self.link.next_target()?;
        backend.raw(target)
    }

    /// Writes pixels or bytes from the host: tight rows in the surface's order, all of [`Self::part`].
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the length is not that of the part.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let _step = step!("write");
        // What lies between the rows of a target's texture is not the frame's.
        let is_whole = self.part == self.link.layout.full() && !self.link.is_straight();
        self.target()?.write("WriteFrame::write", bytes, is_whole)
    }

    /// Hands over without counting as a frame of the user's.
    pub(super) fn hand_over(mut self) -> Result<()> {
        self.open = false;
        self.link.path.finish()?;
        self.link.path.flush()
    }

    /// Hands the frame to the display; in latency mode waits for the compute side where the path needs it.
    ///
    /// # Errors
    /// What the backend or display reported; the frame before stays on show.
    pub fn finish(mut self) -> Result<()> {
        self.open = false;
        self.link.finish_frame()
    }

    /// Width and height of the part in pixels.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a buffer surface.
    pub fn extent(&self) -> Result<crate::Extent> {
        match (&self.part, self.link.desc()) {
            (Part::Image(region), SurfaceDesc::Image(_)) => Ok(region.extent()),
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
