//! The way back: what a display rendered becomes memory that kernels read.

use super::reach::{EnginePath, Failure, Reach, Wanted};
use crate::compute::{Arg, ComputeBackend, ComputeMemory, zeros};
use crate::describe::error::Result;
use crate::describe::surface::{SurfaceDesc, Unwritten};
use crate::describe::view::View;
use crate::display::{Display, Part, Surface};
use crate::path::{Direction, OpenedPath, PathId, SharingPath};
use std::rc::Rc;
use std::sync::Arc;

/// Compute memory that holds what the display renders into one texture or buffer.
///
/// Stays on the display's thread. What the display was told before [`Intake::take`] is in the memory; the host waits
/// for it where the path needs that ([`EnginePath`]).
///
/// ```
/// use cpu_fallback::*;
/// use interop_core::*;
///
/// let display: std::rc::Rc<dyn Display> = MemoryDisplay::new();
/// let backend = std::sync::Arc::new(CpuBackend::new()?);
/// // In OpenGL, `GlDisplay::engine_image` makes a surface of an engine's own texture.
/// let desc = SurfaceDesc::buffer(4);
/// let mut rendered = display.create_surface(&desc)?;
/// let (all, view) = (Part::full(&desc), View::Buffer(BufferView { offset: 0, len: 4 }));
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
pub struct Intake {
    reach: Reach,
}

impl Intake {
    /// Opens the way from `source`, a surface of the display's: one that the display gives an engine's texture or
    /// buffer, or any other. Every path is proved with a surface of the same kind beside it, then with what `source`
    /// holds.
    ///
    /// # Errors
    /// The first error of a path where none works.
    pub fn open(backend: Arc<dyn ComputeBackend>, display: Rc<dyn Display>, source: Surface) -> Result<Self> {
        Self::open_of(backend, display, source, None)
    }

    /// [`Intake::open`] by one path, or not at all.
    ///
    /// # Errors
    /// [`crate::Error::Unavailable`] where the path is not offered; what it reported where it failed.
    pub fn open_by(
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
        source: Surface,
        path: PathId,
    ) -> Result<Self> {
        Self::open_of(backend, display, source, Some(path))
    }

    fn open_of(
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
        source: Surface,
        by: Option<PathId>,
    ) -> Result<Self> {
        source.check_download()?;
        // What the object holds is in the memory of each turn that begins.
        let desc = source.desc().with_unwritten(Unwritten::Keep);
        let wanted = Wanted { backend, display, desc, direction: Direction::Take };
        Ok(Self { reach: Reach::open(wanted, source, by)? })
    }

    /// The path in use.
    pub fn path(&self) -> PathId {
        self.reach.id()
    }

    /// Returns what was found of every path, in the order in which they were tried.
    pub fn rows(&self) -> &[EnginePath] {
        self.reach.rows()
    }

    /// Returns what is taken.
    pub fn desc(&self) -> &SurfaceDesc {
        self.reach.surface().desc()
    }

    /// The surface that is taken.
    pub fn source(&mut self) -> &mut Surface {
        self.reach.path().surface_mut()
    }

    /// Takes what the display has rendered by now. While the frame lives, the display must not write the texture or
    /// buffer where it is a buffer that went `direct` or `in-queue-in-place`; otherwise it may.
    ///
    /// A path that fails is left for the next that works, as long as there is one.
    ///
    /// # Errors
    /// The first error where none works; [`crate::Error::WrongContext`].
    pub fn take(&mut self) -> Result<Taken<'_>> {
        let all = Part::full(self.desc());
        let view = self.reach.whole()?;
        self.reach.turn(|path, _| path.begin(&all).map_err(Failure::Path))?;
        Ok(Taken { path: self.reach.path(), view })
    }
}

/// Guard of the display's rendered content, for kernels to read. Dropping it returns the memory; kernels that were
/// launched before still read that content.
pub struct Taken<'a> {
    path: &'a mut OpenedPath,
    view: View,
}

impl Taken<'_> {
    /// The memory, of the backend's own kind.
    pub fn memory(&self) -> &dyn ComputeMemory {
        self.path.memory()
    }

    /// The memory as an argument of a kernel: a pointer to the first byte of [`Taken::view`].
    pub fn arg(&self) -> Arg<'_> {
        Arg::Memory(self.path.memory())
    }

    /// Tells how it lies in the memory: tight rows from byte 0, in the display's own order
    /// ([`crate::DisplayCaps::native_row_order`]; in OpenGL row 0 is at the bottom).
    pub fn view(&self) -> View {
        self.view
    }

    /// Copies it to the host, for a look.
    ///
    /// # Errors
    /// What the backend reports.
    pub fn read(&mut self) -> Result<Vec<u8>> {
        let mut bytes = zeros(self.view.payload_len())?;
        self.path.target()?.into_parts().0.read(0, &mut bytes)?;
        Ok(bytes)
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.path.cancel();
    }
}
