//! Frames into an engine's own texture or buffer, whose name never changes.

use super::choose::{Chosen, EnginePath, choose, leave};
use super::proof;
use super::way::{Row, Way, tight};
use crate::compute::{Arg, ComputeBackend, Kernel, RawTarget, Target};
use crate::describe::error::{Error, Result};
use crate::describe::path_id::PathId;
use crate::describe::surface::SurfaceDesc;
use crate::describe::view::View;
use crate::display::{Display, Surface};
use crate::path::Pairing;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Frames of kernels into one texture or buffer that an engine owns: its name never changes, and mipmaps, samplers and lifetime
/// are the engine's.
///
/// Where the compute API opens the object (`direct`), kernels write it; otherwise the display copies each frame into it, on its
/// device where it can. A [`crate::Link`] has more: frames that are given up leave no trace there, and late frames overlap.
/// Here a frame that fails may leave a part of it behind, and pixels that a kernel does not write are undefined.
///
/// Stays on the display's thread.
pub struct Outlet {
    // Before the surface whose object it may have open.
    way: Way,
    target: Box<dyn Surface>,
    rows: Vec<EnginePath>,
    path: PathId,
    view: View,
    backend: Arc<dyn ComputeBackend>,
    display: Rc<dyn Display>,
}

impl Outlet {
    /// Opens the way into `target`, a surface that the display makes of an engine's object, or any other. Every path is proved
    /// and timed with a surface of the same kind beside it: nothing is written into `target` before the first frame.
    ///
    /// # Errors
    /// The first error of a path where none works.
    pub fn open(backend: Arc<dyn ComputeBackend>, display: Rc<dyn Display>, target: Box<dyn Surface>) -> Result<Self> {
        Self::open_of(backend, display, target, |_| true)
    }

    /// [`Outlet::open`] by one path, or not at all.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the path is not offered; what it reported where it failed.
    pub fn open_by(
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
        target: Box<dyn Surface>,
        path: PathId,
    ) -> Result<Self> {
        Self::open_of(backend, display, target, |id| id == path)
    }

    fn open_of(
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
        target: Box<dyn Surface>,
        wanted: impl Fn(PathId) -> bool,
    ) -> Result<Self> {
        let desc = *target.desc();
        let view = tight(&desc)?;
        let pairing = Pairing::new(&backend, &display, &desc);
        let Chosen { way, path, rows } =
            choose(&pairing, wanted, |row| attempt(row, &pairing, target.as_ref(), &view))?;
        Ok(Self { way, target, rows, path, view, backend, display })
    }

    /// The path in use.
    pub fn path(&self) -> PathId {
        self.path
    }

    /// What was found of every path, in the order in which they were tried.
    pub fn rows(&self) -> &[EnginePath] {
        &self.rows
    }

    /// What is written.
    pub fn desc(&self) -> &SurfaceDesc {
        self.target.desc()
    }

    /// The surface that is written.
    pub fn surface(&mut self) -> &mut dyn Surface {
        self.target.as_mut()
    }

    /// Runs `compute`, which launches kernels, and brings what they wrote into the engine's object: what the display is told
    /// from now on sees it. A path that fails is left for the next that works, and the frame is done again there. Where
    /// none does it, none is left: the next frame tries them again.
    ///
    /// # Errors
    /// Those of `compute`; the first error of a path where none works; [`Error::WrongContext`].
    pub fn frame(&mut self, mut compute: impl FnMut(&mut OutletFrame<'_>) -> Result<()>) -> Result<()> {
        let mut before: Option<Left> = None;
        loop {
            let failed = match self.once(&mut compute) {
                Err(Failure::Path(error)) => error,
                Err(Failure::Caller(error)) => return Err(error),
                Ok(()) => return Ok(()),
            };
            if matches!(failed, Error::WrongContext { .. } | Error::InvalidInput { .. }) {
                return Err(failed);
            }
            let (path, rows) = (self.path, self.rows.clone());
            match self.leave(&failed) {
                Ok(way) => {
                    before.get_or_insert(Left { why: failed, way, path, rows });
                }
                Err(error) => {
                    tracing::warn!(%error, "no path into the engine's object works: the next frame tries them again");
                    let Some(left) = before else { return Err(failed) };
                    (self.way, self.path, self.rows) = (left.way, left.path, left.rows);
                    return Err(left.why);
                }
            }
        }
    }

    fn once(&mut self, compute: &mut impl FnMut(&mut OutletFrame<'_>) -> Result<()>) -> Result<(), Failure> {
        self.way.begin(self.target.as_ref()).map_err(Failure::Path)?;
        let done = compute(&mut OutletFrame { way: &mut self.way, view: self.view, backend: self.backend.as_ref() });
        if let Err(error) = done {
            if let Err(error) = self.way.give_back() {
                tracing::warn!(%error, "a frame that was given up could not be handed back");
            }
            return Err(Failure::Caller(error));
        }
        self.way.give(self.target.as_mut(), &self.view).map_err(Failure::Path)
    }

    /// Goes on by the fastest path that was not left. The way of before.
    fn leave(&mut self, why: &Error) -> Result<Way> {
        let Self { target, rows, path, view, backend, display, .. } = self;
        let desc = *target.desc();
        let pairing = Pairing::new(backend, display, &desc);
        let way = leave(rows, path, why, |row| attempt(row, &pairing, target.as_ref(), view))?;
        Ok(std::mem::replace(&mut self.way, way))
    }
}

/// What was left in the middle of a frame, to go back to where no path does it.
struct Left {
    why: Error,
    way: Way,
    path: PathId,
    rows: Vec<EnginePath>,
}

/// Whose error it is.
enum Failure {
    Caller(Error),
    Path(Error),
}

/// Opens, proves and times beside the object, then opens that.
fn attempt(row: &Row, pairing: &Pairing<'_>, target: &dyn Surface, view: &View) -> Result<(Way, Duration)> {
    let time = proof::into_a_surface(row, pairing, view)?;
    let mut way = (row.open)(pairing, target)?;
    // Drivers may refuse an object only when it is to be used.
    way.begin(target)?;
    way.give_back()?;
    Ok((way, time))
}

/// The frame that kernels write, all of it.
pub struct OutletFrame<'a> {
    way: &'a mut Way,
    view: View,
    backend: &'a dyn ComputeBackend,
}

impl OutletFrame<'_> {
    /// The backend that kernels of this frame run on.
    pub fn backend(&self) -> &dyn ComputeBackend {
        self.backend
    }

    /// Queues a kernel that writes the frame; its first parameters are the target, then come `args`. Row 0 is the display's own
    /// first one (in OpenGL that at the bottom).
    ///
    /// # Errors
    /// The errors of [`ComputeBackend::launch`].
    pub fn launch(&mut self, kernel: &dyn Kernel, args: &[Arg<'_>]) -> Result<()> {
        self.backend.launch(kernel, Target::new(self.way.target(), self.view)?, args)
    }

    /// The memory that kernels write, for backends' own calls.
    ///
    /// # Errors
    /// None that a checked surface could have.
    pub fn target(&mut self) -> Result<Target<'_>> {
        Target::new(self.way.target(), self.view)
    }

    /// The memory by its own API's names, as [`crate::WriteFrame::raw`] has it.
    ///
    /// # Errors
    /// The errors of [`ComputeBackend::raw`].
    ///
    /// # Safety
    /// As of [`crate::WriteFrame::raw`].
    pub unsafe fn raw(&mut self) -> Result<RawTarget<'_>> {
        self.backend.raw(Target::new(self.way.target(), self.view)?)
    }
}
