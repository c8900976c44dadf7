//! Frames into an engine's own texture or buffer, whose name never changes.

use super::choose::EnginePath;
use super::proof;
use super::reach::{Failure, Reach};
use super::way::{Packing, Row, Way};
use crate::compute::{Arg, ComputeBackend, Kernel, RawTarget, Target};
use crate::describe::error::Result;
use crate::describe::path_id::PathId;
use crate::describe::surface::SurfaceDesc;
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
    reach: Reach,
}

impl Outlet {
    /// Opens the way into `target`, a surface that the display makes of an engine's object, or any other. Every path is proved
    /// and timed with a surface of the same kind beside it: nothing is written into `target` before the first frame.
    ///
    /// # Errors
    /// The first error of a path where none works.
    pub fn open(backend: Arc<dyn ComputeBackend>, display: Rc<dyn Display>, target: Box<dyn Surface>) -> Result<Self> {
        Self::open_of(backend, display, target, None)
    }

    /// [`Outlet::open`] by one path, or not at all.
    ///
    /// # Errors
    /// [`crate::Error::Unavailable`] where the path is not offered; what it reported where it failed.
    pub fn open_by(
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
        target: Box<dyn Surface>,
        path: PathId,
    ) -> Result<Self> {
        Self::open_of(backend, display, target, Some(path))
    }

    fn open_of(
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
        target: Box<dyn Surface>,
        by: Option<PathId>,
    ) -> Result<Self> {
        target.check_upload()?;
        Ok(Self { reach: Reach::open(backend, display, target, by, attempt)? })
    }

    /// The path in use.
    pub fn path(&self) -> PathId {
        self.reach.path()
    }

    /// What was found of every path, in the order in which they were tried.
    pub fn rows(&self) -> &[EnginePath] {
        self.reach.rows()
    }

    /// What is written.
    pub fn desc(&self) -> &SurfaceDesc {
        self.reach.surface().desc()
    }

    /// The surface that is written.
    pub fn surface(&mut self) -> &mut dyn Surface {
        self.reach.surface_mut()
    }

    /// Runs `compute`, which launches kernels, and brings what they wrote into the engine's object: what the display is told
    /// from now on sees it. A path that fails is left for the next that works, and the frame is done again there.
    ///
    /// Where none does it, none is left. The next frame that fails then gives its error at once, and later the next two, and so on
    /// up to 64, before all paths are tried again.
    ///
    /// # Errors
    /// Those of `compute`; the first error of a path where none works; [`crate::Error::WrongContext`].
    pub fn frame(&mut self, mut compute: impl FnMut(&mut OutletFrame<'_>) -> Result<()>) -> Result<()> {
        self.reach.turn(|way, target, backend| {
            way.begin(target).map_err(Failure::Path)?;
            if let Err(error) = compute(&mut OutletFrame { way, backend }) {
                if let Err(error) = way.give_back() {
                    tracing::warn!(%error, "a frame that was given up could not be handed back");
                }
                return Err(Failure::Caller(error));
            }
            way.give(target).map_err(Failure::Path)
        })
    }
}

/// Opens, proves and times beside the object, then opens that.
fn attempt(row: &Row, pairing: &Pairing<'_>, target: &mut dyn Surface) -> Result<(Way, Duration)> {
    let time = proof::into_a_surface(row, pairing)?;
    let mut way = row.open(pairing, target, Packing::Padded)?;
    // Drivers may refuse an object only when it is to be used.
    way.begin(target)?;
    way.give_back()?;
    Ok((way, time))
}

/// The frame that kernels write, all of it.
pub struct OutletFrame<'a> {
    way: &'a mut Way,
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
        self.backend.launch(kernel, self.way.target()?, args)
    }

    /// The memory that kernels write, for backends' own calls, and how the frame lies there: rows may be padded.
    ///
    /// # Errors
    /// None that a checked surface could have.
    pub fn target(&mut self) -> Result<Target<'_>> {
        self.way.target()
    }

    /// The memory by its own API's names, as [`crate::WriteFrame::raw`] has it.
    ///
    /// # Errors
    /// The errors of [`ComputeBackend::raw`].
    ///
    /// # Safety
    /// The caller keeps what [`crate::WriteFrame::raw`] asks.
    pub unsafe fn raw(&mut self) -> Result<RawTarget<'_>> {
        self.backend.raw(self.way.target()?)
    }
}
