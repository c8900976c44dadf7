//! From the engine to kernels: a display's rendered content becomes memory that kernels read.

use super::reach::{EnginePath, EngineRequest, Failure, ObjectReach};
use crate::compute::{Arg, ComputeBackend, ComputeMemory, zeros};
use crate::describe::error::Result;
use crate::describe::surface::{SurfaceDesc, Unwritten};
use crate::describe::view::View;
use crate::display::{AnyThread, AnyThreadDisplay, Display, OneThread, Surface, SurfacePart, is_same};
use crate::path::{Direction, OpenedPath, PathId, SharingPath};
use std::marker::PhantomData;
use std::sync::Arc;

/// Compute memory with the content that the display renders into one texture or buffer.
///
/// An intake stays on the thread that opened it, unless it may move: [`Intake::for_any_thread`]. The memory contains the
/// results of all display work before [`Intake::take`]; the host waits for that work where the path requires it
/// ([`EnginePath`]).
///
/// ```
/// use cpu_fallback::*;
/// use interop_core::*;
///
/// let display: std::sync::Arc<dyn Display> = MemoryDisplay::new();
/// let backend = std::sync::Arc::new(CpuBackend::new()?);
/// // In OpenGL, `GlDisplay::engine_image` makes a surface of an engine's own texture.
/// let desc = SurfaceDesc::buffer(4);
/// let mut rendered = display.create_surface(&desc)?;
/// let (all, view) = (SurfacePart::full(&desc), View::Buffer(BufferView { offset: 0, len: 4 }));
/// rendered.upload(&all, &[1, 2, 3, 4], &view)?;
///
/// let mut scene = Intake::open(backend.clone(), display.clone(), rendered)?;
/// let sum = backend.build(&KernelSource::new("plus_one").cpu_buffer(|out, args| {
///     let scene = args.memory::<u8>(0)?;
///     out.par_items(|i| scene[i] + 1)
/// }))?;
/// let mut link = Link::open(backend, display, desc, LinkOptions::default())?;
/// let input = scene.take()?;
/// link.frame(|next| next.launch(sum.as_ref(), &[input.arg()]))?;
/// assert_eq!(link.read_back()?, [2, 3, 4, 5]);
/// # Ok::<(), Error>(())
/// ```
pub struct Intake<T = OneThread> {
    reach: ObjectReach,
    threads: PhantomData<T>,
}

crate::debug_as!(Intake<T>, |this| path = &this.reach.id());

impl Intake {
    /// Opens a path from `source`, a surface of the display: an engine's texture or buffer, or any other surface. Every
    /// path is verified with another surface of the same kind, then with the content of `source`.
    ///
    /// # Errors
    /// The first error of a path, where no path works.
    pub fn open(backend: Arc<dyn ComputeBackend>, display: Arc<dyn Display>, source: Surface) -> Result<Self> {
        Self::open_of(backend, display, source, None)
    }

    /// Like [`Intake::open`], on this path only.
    ///
    /// # Errors
    /// [`crate::Error::Unavailable`] where the path is not offered; its own error where it failed.
    pub fn open_by(
        backend: Arc<dyn ComputeBackend>,
        display: Arc<dyn Display>,
        source: Surface,
        path: PathId,
    ) -> Result<Self> {
        Self::open_of(backend, display, source, Some(path))
    }

    fn open_of(
        backend: Arc<dyn ComputeBackend>,
        display: Arc<dyn Display>,
        source: Surface,
        by: Option<PathId>,
    ) -> Result<Self> {
        source.check_download()?;
        // Each turn starts with the object's content in the memory.
        let desc = source.desc().with_unwritten(Unwritten::Keep);
        let wanted = EngineRequest { backend, display, desc, direction: Direction::Take };
        Ok(Self { reach: ObjectReach::open(wanted, source, by)?, threads: PhantomData })
    }

    /// Lets the intake move to other threads, and be used by one at a time: [`crate::Link::for_any_thread`].
    ///
    /// # Errors
    /// The intake, unchanged, where `display` is not its display.
    pub fn for_any_thread<D: AnyThreadDisplay>(self, display: &Arc<D>) -> Result<Intake<AnyThread>, Box<Self>> {
        match is_same(self.reach.display(), display) {
            true => Ok(Intake { reach: self.reach, threads: PhantomData }),
            false => Err(Box::new(self)),
        }
    }
}

impl<T> Intake<T> {
    /// Returns the current path.
    pub fn path(&self) -> PathId {
        self.reach.id()
    }

    /// Returns the findings about every path, in the order in which they were tried.
    pub fn rows(&self) -> &[EnginePath] {
        self.reach.rows()
    }

    /// Returns the description of the source.
    pub fn desc(&self) -> &SurfaceDesc {
        self.reach.surface().desc()
    }

    /// Returns the source surface.
    pub fn source(&mut self) -> &mut Surface {
        self.reach.path().surface_mut()
    }

    /// Takes the content that the display has rendered so far. While the returned guard lives, the display must not
    /// write a buffer whose path is `direct` or `in-queue-in-place`; other sources it may write.
    ///
    /// A path that fails is replaced by the next one that works, as long as there is one.
    ///
    /// # Errors
    /// The first error, where no path works; [`crate::Error::WrongContext`].
    pub fn take(&mut self) -> Result<IntakeGuard<'_>> {
        let all = SurfacePart::full(self.desc());
        let view = self.reach.whole()?;
        self.reach.turn(|path, _| path.begin(&all).map_err(Failure::Path))?;
        Ok(IntakeGuard { path: self.reach.path(), view })
    }
}

/// Guard of the display's rendered content, for kernels to read. Dropping it returns the memory; kernels that were
/// launched before still read that content.
pub struct IntakeGuard<'a> {
    path: &'a mut OpenedPath,
    view: View,
}

impl IntakeGuard<'_> {
    /// Returns the memory, as the backend's own type.
    pub fn memory(&self) -> &dyn ComputeMemory {
        self.path.memory()
    }

    /// Returns the memory as a kernel argument: a pointer to the first byte of [`IntakeGuard::view`].
    pub fn arg(&self) -> Arg<'_> {
        Arg::Memory(self.path.memory())
    }

    /// Returns the layout of the content: tight rows from byte 0, in the display's own order
    /// ([`crate::DisplayCaps::native_row_order`]; in OpenGL row 0 is at the bottom).
    pub fn view(&self) -> View {
        self.view
    }

    /// Copies the content to the host, for inspection.
    ///
    /// # Errors
    /// Errors of the backend.
    pub fn read(&mut self) -> Result<Vec<u8>> {
        let mut bytes = zeros(self.view.payload_len())?;
        self.path.target()?.into_parts().0.read(0, &mut bytes)?;
        Ok(bytes)
    }
}

impl Drop for IntakeGuard<'_> {
    fn drop(&mut self) {
        self.path.cancel();
    }
}
