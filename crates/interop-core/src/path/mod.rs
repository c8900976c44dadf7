//! Sharing paths: the ways in which a frame crosses from the compute side to the display.
//!
//! A mechanism is one file and one row (or a few, for its variants) in [`PATHS`]. [`PathSpec::offer`] looks only at
//! what both sides published as data; [`PathSpec::open`] makes the resources. Whether pixels really cross is for
//! [`crate::verify`] to find out. A program adds paths of its own by [`Paths`].
//!
//! # The age of a frame
//! In latency mode the frame shown is the one finished last. In pipelined mode it is the one finished
//! [`frames_late`](SharingPath::frames_late) frames before: the host waits for that older frame only, which is long
//! done, so neither device waits for the other, and a GPU that must switch between a compute and a graphics context
//! switches once for several frames. The very first frame is shown at once, so that there is always one.

mod canvas;
mod cost;
mod direct;
mod host_round_trip;
mod id;
mod layout;
mod pbo_staging;
mod pieces;
mod plugged;
mod shared_memory;
mod spec;
mod table;
mod turns;
mod unwritten;

pub use canvas::Canvas;
pub use cost::{Cost, Medium};
pub use direct::Direct;
pub use host_round_trip::HostRoundTrip;
pub use id::{PathId, PathKind};
pub use layout::{Crossing, FrameLayout};
pub use pbo_staging::PboStaging;
pub use pieces::Piece;
pub use plugged::Plugged;
pub use shared_memory::{Reading, SharedMemory};
pub use spec::{PathSpec, Paths};
pub use table::PATHS;
pub(crate) use unwritten::{blank, pattern_frame};

use crate::capability::SyncKind;
use crate::compute::{ComputeBackend, Target};
use crate::display::{Display, Part, Surface};
use crate::error::{Error, Result};
use crate::surface::SurfaceDesc;
use crate::timeline::FrameTag;
use enum_dispatch::enum_dispatch;
use std::rc::Rc;
use std::sync::Arc;

/// Slots of a ring: one shown, one that the display may still read, one to write.
pub(crate) const RING_SLOTS: usize = 3;

/// What a path joins.
pub struct Pairing<'a> {
    /// The side that writes.
    pub backend: &'a Arc<dyn ComputeBackend>,
    /// The side that shows.
    pub display: &'a Rc<dyn Display>,
    /// What is shown.
    pub desc: &'a SurfaceDesc,
    /// How late frames may be shown at most, see [`crate::Mode`].
    pub frames_late: usize,
    /// See [`crate::Policy::sync`].
    pub sync: Option<SyncKind>,
}

impl Pairing<'_> {
    /// How frames lie in memory for this display.
    pub fn layout(&self) -> FrameLayout {
        FrameLayout::new(self.desc, self.display.caps())
    }
}

/// An opened path: it owns the surface, and the memory that crosses.
///
/// A frame is [`begin`](Self::begin), work on the [`target`](Self::target), then [`finish`](Self::finish) or
/// [`cancel`](Self::cancel). Users go through [`crate::Link`], whose guards keep this order.
#[enum_dispatch]
pub trait SharingPath {
    /// Gets memory for `part` of the next frame (rows in the surface's order, inside the surface), waiting until the
    /// display no longer reads it.
    fn begin(&mut self, part: &Part) -> Result<()>;

    /// Where kernels write.
    fn target(&mut self) -> Result<Target<'_>>;

    /// Waits for the compute side and hands the frame to the display. After an error the frame before is still shown.
    fn finish(&mut self) -> Result<()>;

    /// Shows every frame finished so far; does something only in pipelined mode.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// Lays the frames that are finished and not shown yet over a picture of what is shown: tight rows in the
    /// display's order.
    fn overlay_unshown(&mut self, shown: &mut [u8]) -> Result<()> {
        let _ = shown;
        Ok(())
    }

    /// How many frames the one shown is behind the one finished last, once the pipeline is full.
    fn frames_late(&self) -> usize {
        0
    }

    /// Changes how late frames are shown, up to what the path was opened for. Frames on their way are shown first.
    fn set_frames_late(&mut self, frames: usize) -> Result<()> {
        let _ = frames;
        Ok(())
    }

    /// Frees memory that is not needed at the present lateness.
    fn trim(&mut self) {}

    /// Pieces of memory that take turns.
    fn slots(&self) -> usize {
        1
    }

    /// Which of them the frame begun last writes, or the next one where it is finished.
    fn slot(&self) -> usize {
        0
    }

    /// The frame on show, where that need not be the one finished last.
    fn shown_frame(&self) -> Option<FrameTag> {
        None
    }

    /// Gives the frame up; the one before stays.
    fn cancel(&mut self);

    /// What the display draws.
    fn surface(&self) -> &dyn Surface;

    /// What the display draws.
    fn surface_mut(&mut self) -> &mut dyn Surface;

    /// How the two sides are kept apart.
    fn sync(&self) -> SyncKind;
}

/// Every mechanism there is. Closed but for the last, so that the per-frame calls of ours are a branch and not a virtual call.
#[enum_dispatch(SharingPath)]
pub enum OpenedPath {
    /// Objects of the display, opened by the compute API.
    Direct(Direct),
    /// Memory that both sides address.
    SharedMemory(SharedMemory),
    /// Staging blocks of the display.
    PboStaging(PboStaging),
    /// Client memory.
    HostRoundTrip(HostRoundTrip),
    /// A mechanism of a program's own.
    Plugged(Plugged),
}

fn not_begun() -> Error {
    Error::invalid("SharingPath", "no frame has been begun")
}
