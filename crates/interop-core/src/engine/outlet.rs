//! Frames into an engine's own texture or buffer, whose name never changes.

use super::reach::{EnginePath, Failure, Reach, Wanted, paths};
use crate::compute::{Arg, ComputeBackend, ComputeMemory, Kernel, RawTarget, Target};
use crate::describe::error::{Error, Result};
use crate::describe::geometry::{Region, RowOrder};
use crate::describe::setters::setters;
use crate::describe::surface::{SurfaceDesc, Unwritten};
use crate::describe::view::View;
use crate::display::{Display, Part, Surface};
use crate::path::{Direction, OpenedPath, PathId, SharingPath};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// Options of [`Outlet::open_with`].
///
/// ```
/// use interop_core::engine::OutletOptions;
/// use interop_core::{RowOrder, Unwritten};
///
/// // The kernel writes every pixel, so that nothing is read from the texture first; row 0 is at the top.
/// let options = OutletOptions::default().with_unwritten(Unwritten::Overwrite).with_row_order(RowOrder::TopDown);
/// assert_eq!(options.path, None);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutletOptions {
    /// The only path that is taken; `None`: the fastest.
    pub path: Option<PathId>,
    /// The rule for pixels that a frame does not write; `None`: the surface's own, [`Unwritten::Keep`] by default.
    pub unwritten: Option<Unwritten>,
    /// Position of row 0 of a frame; `None`: the display's own order (in OpenGL at the bottom).
    pub row_order: Option<RowOrder>,
}

setters!(OutletOptions {
    /// Takes this path or fails.
    with_path(path: impl Into<Option<PathId>>);
    /// Sets the rule for unwritten pixels.
    with_unwritten(unwritten: impl Into<Option<Unwritten>>);
    /// Sets the row order of frames.
    with_row_order(row_order: impl Into<Option<RowOrder>>);
});

/// Frames of kernels into one texture or buffer that an engine owns: its name never changes, and mipmaps, samplers and
/// lifetime are the engine's.
///
/// Where the compute API opens the object (`direct`), kernels write it; otherwise the display copies each frame into
/// it, on its device where it can. A [`crate::Link`] has more: late frames overlap there, and frames that are given up
/// leave no trace.
///
/// Pixels that a frame does not write are by the rule [`Unwritten`]. Under `Keep` they are those that the object holds
/// when the frame begins, whoever wrote them; paths that copy read them from the object first, so a kernel that writes
/// every pixel is quicker under `Overwrite`. What lies around a part ([`Outlet::frame_region`],
/// [`Outlet::frame_bytes`]) stays under every rule. A frame that fails leaves no trace, but where kernels write the
/// object itself (`direct`, `in-queue-texture`, `in-queue-in-place`) what it wrote stays.
///
/// Stays on the display's thread.
///
/// ```
/// use cpu_fallback::*;
/// use interop_core::*;
///
/// let display: std::rc::Rc<dyn Display> = MemoryDisplay::new();
/// let backend = std::sync::Arc::new(CpuBackend::new()?);
/// let count = KernelSource::new("count").cpu_buffer(|out, _| out.par_items(|i| i as u8));
/// let count = backend.build(&count)?;
/// // In OpenGL, `GlDisplay::engine_image` and `engine_buffer` make surfaces of an engine's own objects.
/// let mine = display.create_surface(&SurfaceDesc::buffer(4))?;
/// let mut vertices = Outlet::open(backend, display, mine)?;
/// vertices.frame(|next| next.launch(count.as_ref(), &[]))?;
/// let all = Part::full(vertices.desc());
/// assert_eq!(vertices.surface().read_back(&all)?, [0, 1, 2, 3]);
/// # Ok::<(), Error>(())
/// ```
pub struct Outlet {
    reach: Reach,
}

impl Outlet {
    /// The paths that reach an engine's object, in the order in which they are tried.
    pub fn paths() -> impl Iterator<Item = PathId> {
        paths(Direction::Give).map(|(spec, _)| spec.id)
    }

    /// Opens the way into `target`, a surface that the display makes of an engine's object, or any other. Every path is
    /// proved and timed with a surface of the same kind beside it: nothing is written into `target` before the first
    /// frame.
    ///
    /// # Errors
    /// The first error of a path where none works.
    pub fn open(backend: Arc<dyn ComputeBackend>, display: Rc<dyn Display>, target: Surface) -> Result<Self> {
        Self::open_with(backend, display, target, OutletOptions::default())
    }

    /// [`Outlet::open`] with options.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the path that is asked for is not offered, and what it reported where it failed;
    /// [`Error::InvalidInput`] where pixels are to be kept in an object that was made without what a copy from it
    /// needs.
    pub fn open_with(
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
        target: Surface,
        options: OutletOptions,
    ) -> Result<Self> {
        target.check_upload()?;
        let mut desc = *target.desc();
        desc = desc.with_unwritten(options.unwritten.unwrap_or(desc.unwritten()));
        if let SurfaceDesc::Image(image) = desc {
            let order = options.row_order.unwrap_or(display.caps().native_row_order);
            desc = SurfaceDesc::Image(image.with_row_order(order));
        }
        let wanted = Wanted { backend, display, desc, direction: Direction::Give };
        Ok(Self { reach: Reach::open(wanted, target, options.path)? })
    }

    /// The path in use.
    pub fn path(&self) -> PathId {
        self.reach.id()
    }

    /// Returns what was found of every path, in the order in which they were tried.
    pub fn rows(&self) -> &[EnginePath] {
        self.reach.rows()
    }

    /// The description of frames, with the row order and the rule for unwritten pixels.
    pub fn desc(&self) -> &SurfaceDesc {
        self.reach.desc()
    }

    /// The surface that is written.
    pub fn surface(&mut self) -> &mut Surface {
        self.reach.path().surface_mut()
    }

    /// Runs `compute`, which launches kernels, and brings what they wrote into the engine's object: what the display is
    /// told from now on sees it. Does not wait for that; see [`Outlet::finish`]. A path that fails is left for the next
    /// that works, and the frame is done again there.
    ///
    /// Where none does it, none is left. The next frame that fails then gives its error at once, and later the next
    /// two, and so on up to 64, before all paths are tried again.
    ///
    /// # Errors
    /// Those of `compute`; the first error of a path where none works; [`Error::WrongContext`].
    pub fn frame(&mut self, compute: impl FnMut(&mut OutletFrame<'_>) -> Result<()>) -> Result<()> {
        self.frame_part(&Part::full(self.desc()), compute)
    }

    /// [`Outlet::frame`] of a part of an image, rows counted in the frame's order. All other pixels stay.
    ///
    /// # Errors
    /// Those of [`Outlet::frame`]; [`Error::InvalidInput`] for an empty region, one outside the image, or a buffer.
    pub fn frame_region(
        &mut self,
        region: Region,
        compute: impl FnMut(&mut OutletFrame<'_>) -> Result<()>,
    ) -> Result<()> {
        self.frame_part(&Part::Image(region), compute)
    }

    /// [`Outlet::frame`] of some bytes of a buffer. All others stay.
    ///
    /// # Errors
    /// Those of [`Outlet::frame`]; [`Error::InvalidInput`] for an empty range, one outside the buffer, or an image.
    pub fn frame_bytes(
        &mut self,
        bytes: Range<usize>,
        compute: impl FnMut(&mut OutletFrame<'_>) -> Result<()>,
    ) -> Result<()> {
        self.frame_part(&Part::Buffer(bytes), compute)
    }

    fn frame_part(&mut self, part: &Part, mut compute: impl FnMut(&mut OutletFrame<'_>) -> Result<()>) -> Result<()> {
        part.check_inside(self.desc()).map_err(|error| error.of("Outlet::frame"))?;
        let is_whole = *part == Part::full(self.desc());
        self.reach.turn(|path, backend| {
            path.begin(part).map_err(Failure::Path)?;
            if let Err(error) = compute(&mut OutletFrame { path, backend, is_whole }) {
                path.cancel();
                return Err(Failure::Caller(error));
            }
            path.finish().map_err(Failure::Path)
        })
    }

    /// Waits until the object holds the last frame for everybody: another context, another API, or the host.
    ///
    /// # Errors
    /// Those of the backend or the display.
    pub fn finish(&self) -> Result<()> {
        self.reach.finish()
    }
}

/// The frame that kernels write, or the part of one that was begun.
pub struct OutletFrame<'a> {
    path: &'a mut OpenedPath,
    backend: &'a dyn ComputeBackend,
    is_whole: bool,
}

impl OutletFrame<'_> {
    /// The backend that kernels of this frame run on.
    pub fn backend(&self) -> &dyn ComputeBackend {
        self.backend
    }

    /// Queues a kernel that writes the frame; its first parameters are the target, then come `args`. Row 0 is where
    /// [`OutletOptions::row_order`] says.
    ///
    /// # Errors
    /// The errors of [`ComputeBackend::launch`].
    pub fn launch(&mut self, kernel: &dyn Kernel, args: &[Arg<'_>]) -> Result<()> {
        self.backend.launch(kernel, self.path.target()?, args)
    }

    /// Writes pixels or bytes from the host: tight rows in the frame's order, all of it.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the length is not that of the frame; what the backend reports.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let is_whole = self.is_whole;
        self.target()?.write("OutletFrame::write", bytes, is_whole)
    }

    /// Queues a copy of `from`, memory of the backend's, into a buffer's frame: each byte to the place that it has in
    /// `from`.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an image, and where `from` is shorter; the errors of [`ComputeBackend::copy`].
    pub fn copy_from(&mut self, from: &dyn ComputeMemory) -> Result<()> {
        let (to, view) = self.path.target()?.into_parts();
        match view {
            View::Buffer(_) => self.backend.copy(from, to, view.span()),
            View::Image(_) => {
                let problem = "rows of an image may be padded; launch a kernel that writes it, or give a buffer";
                Err(Error::invalid("OutletFrame::copy_from", problem))
            }
        }
    }

    /// The memory that kernels write, for backends' own calls, and how the frame lies there: rows may be padded.
    ///
    /// # Errors
    /// None that a checked surface could have.
    pub fn target(&mut self) -> Result<Target<'_>> {
        self.path.target()
    }

    /// The memory by its own API's names, as [`crate::WriteFrame::raw`] has it.
    ///
    /// # Errors
    /// The errors of [`ComputeBackend::raw`].
    ///
    /// # Safety
    /// The caller keeps what [`crate::WriteFrame::raw`] asks.
    pub unsafe fn raw(&mut self) -> Result<RawTarget<'_>> {
        self.backend.raw(self.path.target()?)
    }
}
