//! Frames into an engine's own texture or buffer, whose name never changes.

use super::reach::{EnginePath, EngineRequest, Failure, ObjectReach, paths};
use crate::compute::{Arg, ComputeBackend, ComputeMemory, Kernel, RawTarget, Target};
use crate::describe::error::{Error, Result};
use crate::describe::geometry::{Region, RowOrder};
use crate::describe::surface::{SurfaceDesc, Unwritten};
use crate::describe::view::View;
use crate::display::{AnyThread, AnyThreadDisplay, Display, OneThread, Surface, SurfacePart, is_same};
use crate::path::{Direction, OpenedPath, PathId, SharingPath};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// Options of [`Outlet::open_with`].
///
/// ```
/// use interop_core::engine::OutletOptions;
/// use interop_core::{RowOrder, Unwritten};
///
/// // The kernel writes every pixel, so nothing is read from the texture first; row 0 is at the top.
/// let options = OutletOptions::default().with_unwritten(Unwritten::Overwrite).with_row_order(RowOrder::TopDown);
/// assert_eq!(options.path, None);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutletOptions {
    /// The only path to use; `None` selects the fastest.
    pub path: Option<PathId>,
    /// The rule for unwritten pixels; `None` selects the surface's own, by default [`Unwritten::Keep`].
    pub unwritten: Option<Unwritten>,
    /// Position of row 0 of a frame; `None` selects the display's own order (in OpenGL at the bottom).
    pub row_order: Option<RowOrder>,
}

crate::setters!(OutletOptions {
    /// Uses this path or fails; `None` selects the fastest.
    with_path(path: impl Into<Option<PathId>>);
    /// Sets the rule for unwritten pixels.
    with_unwritten(unwritten: impl Into<Option<Unwritten>>);
    /// Sets the row order of frames.
    with_row_order(row_order: impl Into<Option<RowOrder>>);
});

/// Frames of kernels into one texture or buffer that an engine owns. The object's name never changes, and mipmaps,
/// samplers and lifetime remain the engine's responsibility.
///
/// Where the compute API opens the object (`direct`), kernels write it. Otherwise the display copies each frame into
/// it, on its device where possible. A [`crate::Link`] offers more: late frames overlap, and discarded frames leave no
/// trace.
///
/// The rule [`Unwritten`] determines pixels that a frame leaves unwritten. Under `Keep` they have the object's content
/// at the beginning of the frame, whoever wrote it. Paths that copy read that content from the object first, so
/// `Overwrite` is faster for a kernel that writes every pixel. Pixels around a part ([`Outlet::frame_region`],
/// [`Outlet::frame_bytes`]) stay under every rule. A frame that fails leaves no trace, except where kernels write the
/// object itself (`direct`, `in-queue-texture`, `in-queue-in-place`): there its writes remain.
///
/// An outlet stays on the thread that opened it, unless it may move: [`Outlet::for_any_thread`].
///
/// ```
/// use cpu_fallback::*;
/// use interop_core::*;
///
/// let display: std::sync::Arc<dyn Display> = MemoryDisplay::new();
/// let backend = std::sync::Arc::new(CpuBackend::new()?);
/// let count = KernelSource::new("count").cpu_buffer(|out, _| out.par_items(|i| i as u8));
/// let count = backend.build(&count)?;
/// // In OpenGL, `GlDisplay::engine_image` and `engine_buffer` make surfaces of an engine's own objects.
/// let mine = display.create_surface(&SurfaceDesc::buffer(4))?;
/// let mut vertices = Outlet::open(backend, display, mine)?;
/// vertices.frame(|next| next.launch(count.as_ref(), &[]))?;
/// let all = SurfacePart::full(vertices.desc());
/// assert_eq!(vertices.surface().read_back(&all)?, [0, 1, 2, 3]);
/// # Ok::<(), Error>(())
/// ```
pub struct Outlet<T = OneThread> {
    reach: ObjectReach,
    threads: PhantomData<T>,
}

crate::debug_as!(Outlet<T>, |this| path = &this.reach.id());

impl Outlet {
    /// Iterates over the paths that support an engine's object, in the order in which they are tried.
    pub fn paths() -> impl Iterator<Item = PathId> {
        paths(Direction::Give).map(|(spec, _)| spec.id)
    }

    /// Opens a path into `target`, a surface that the display makes from an engine's object, or any other surface.
    /// Every path is verified and timed with another surface of the same kind, so nothing is written into `target`
    /// before the first frame.
    ///
    /// # Errors
    /// The first error of a path, where no path works.
    pub fn open(backend: Arc<dyn ComputeBackend>, display: Arc<dyn Display>, target: Surface) -> Result<Self> {
        Self::open_with(backend, display, target, OutletOptions::default())
    }

    /// Like [`Outlet::open`], with options.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the requested path is not offered, and its own error where it failed;
    /// [`Error::InvalidInput`] where pixels are to be kept in an object that was created without the usage for copies
    /// from it.
    pub fn open_with(
        backend: Arc<dyn ComputeBackend>,
        display: Arc<dyn Display>,
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
        let wanted = EngineRequest { backend, display, desc, direction: Direction::Give };
        Ok(Self { reach: ObjectReach::open(wanted, target, options.path)?, threads: PhantomData })
    }

    /// Lets the outlet move to other threads, and be used by one at a time: [`crate::Link::for_any_thread`].
    ///
    /// # Errors
    /// The outlet, unchanged, where `display` is not its display.
    pub fn for_any_thread<D: AnyThreadDisplay>(self, display: &Arc<D>) -> Result<Outlet<AnyThread>, Box<Self>> {
        match is_same(self.reach.display(), display) {
            true => Ok(Outlet { reach: self.reach, threads: PhantomData }),
            false => Err(Box::new(self)),
        }
    }
}

impl<T> Outlet<T> {
    /// Returns the current path.
    pub fn path(&self) -> PathId {
        self.reach.id()
    }

    /// Returns the findings about every path, in the order in which they were tried.
    pub fn rows(&self) -> &[EnginePath] {
        self.reach.rows()
    }

    /// Returns the description of frames, with the row order and the rule for unwritten pixels.
    pub fn desc(&self) -> &SurfaceDesc {
        self.reach.desc()
    }

    /// Returns the surface that frames are written to.
    pub fn surface(&mut self) -> &mut Surface {
        self.reach.path().surface_mut()
    }

    /// Runs `compute`, which launches kernels, and brings their output into the engine's object: later work of the
    /// display sees it. Does not wait for that; see [`Outlet::finish`]. A path that fails is replaced by the next one
    /// that works, which repeats the frame.
    ///
    /// Where no path can do the frame, the current path stays. The next frame that fails then returns its error at
    /// once, after another such failure the next two, and so on up to 64, before all paths are tried again.
    ///
    /// # Errors
    /// Those of `compute`; the first error of a path, where no path works; [`Error::WrongContext`].
    pub fn frame(&mut self, compute: impl FnMut(&mut OutletFrame<'_>) -> Result<()>) -> Result<()> {
        self.frame_part(&SurfacePart::full(self.desc()), compute)
    }

    /// Like [`Outlet::frame`], for a part of an image, rows counted in the frame's order. All other pixels stay.
    ///
    /// # Errors
    /// Those of [`Outlet::frame`]; [`Error::InvalidInput`] for an empty region, one outside the image, or a buffer.
    pub fn frame_region(
        &mut self,
        region: Region,
        compute: impl FnMut(&mut OutletFrame<'_>) -> Result<()>,
    ) -> Result<()> {
        self.frame_part(&SurfacePart::Image(region), compute)
    }

    /// Like [`Outlet::frame`], for a range of bytes of a buffer. All other bytes stay.
    ///
    /// # Errors
    /// Those of [`Outlet::frame`]; [`Error::InvalidInput`] for an empty range, one outside the buffer, or an image.
    pub fn frame_bytes(
        &mut self,
        bytes: Range<usize>,
        compute: impl FnMut(&mut OutletFrame<'_>) -> Result<()>,
    ) -> Result<()> {
        self.frame_part(&SurfacePart::Buffer(bytes), compute)
    }

    fn frame_part(
        &mut self,
        part: &SurfacePart,
        mut compute: impl FnMut(&mut OutletFrame<'_>) -> Result<()>,
    ) -> Result<()> {
        part.check_inside(self.desc()).map_err(|error| error.of("Outlet::frame"))?;
        let is_whole = *part == SurfacePart::full(self.desc());
        self.reach.turn(|path, backend| {
            path.begin(part).map_err(Failure::Path)?;
            if let Err(error) = compute(&mut OutletFrame { path, backend, is_whole }) {
                path.cancel();
                return Err(Failure::Caller(error));
            }
            path.finish().map_err(Failure::Path)
        })
    }

    /// Waits until the object contains the last frame for all readers: another context, another API, or the host.
    ///
    /// # Errors
    /// Errors of the backend or the display.
    pub fn finish(&self) -> Result<()> {
        self.reach.finish()
    }
}

/// The frame, or part of a frame, that kernels write.
pub struct OutletFrame<'a> {
    path: &'a mut OpenedPath,
    backend: &'a dyn ComputeBackend,
    is_whole: bool,
}

impl OutletFrame<'_> {
    /// Returns the backend that runs kernels of this frame.
    pub fn backend(&self) -> &dyn ComputeBackend {
        self.backend
    }

    /// Queues a kernel that writes the frame. Its first parameters are the target, followed by `args`.
    /// [`OutletOptions::row_order`] sets the position of row 0.
    ///
    /// # Errors
    /// The errors of [`ComputeBackend::launch`].
    pub fn launch(&mut self, kernel: &dyn Kernel, args: &[Arg<'_>]) -> Result<()> {
        self.backend.launch(kernel, self.path.target()?, args)
    }

    /// Writes pixels or bytes from the host: the whole frame, as tight rows in the frame's order.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the length differs from that of the frame; errors of the backend.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let is_whole = self.is_whole;
        self.target()?.write("OutletFrame::write", bytes, is_whole)
    }

    /// Queues a copy of `from`, memory of the backend, into a buffer's frame: each byte goes to the position that it
    /// has in `from`.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an image, and where `from` is shorter; the errors of [`ComputeBackend::copy`].
    pub fn copy_from(&mut self, from: &dyn ComputeMemory) -> Result<()> {
        let (to, view) = self.path.target()?.into_parts();
        match view {
            View::Buffer(_) => self.backend.copy(from, to, view.span()),
            View::Image(_) => {
                let problem =
                    "the rows of an image may be padded; launch a kernel that writes the image, or use a buffer";
                Err(Error::invalid("OutletFrame::copy_from", problem))
            }
        }
    }

    /// Returns the memory that kernels write, for the backend's own calls, with the layout of the frame: rows may be
    /// padded.
    ///
    /// # Errors
    /// None for a checked surface.
    pub fn target(&mut self) -> Result<Target<'_>> {
        self.path.target()
    }

    /// Returns native handles of the memory, like [`crate::WriteFrame::raw`].
    ///
    /// # Errors
    /// The errors of [`ComputeBackend::raw`].
    ///
    /// # Safety
    /// The caller must follow the contract of [`crate::WriteFrame::raw`].
    pub unsafe fn raw(&mut self) -> Result<RawTarget<'_>> {
        self.backend.raw(self.path.target()?)
    }
}
