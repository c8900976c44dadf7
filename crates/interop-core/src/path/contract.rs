//! The interface of a path.

use super::pairing::Pairing;
use crate::compute::Target;
use crate::describe::error::{Error, Result};
use crate::devices::capability::SyncKind;
use crate::devices::timeline::FrameTag;
use crate::display::{Part, Surface};
use enum_dispatch::enum_dispatch;

/// An opened path: it owns the surface, and the memory that crosses.
///
/// A frame is [`begin`](Self::begin), work on the [`target`](Self::target), then [`finish`](Self::finish) or
/// [`cancel`](Self::cancel). Users go through [`crate::Link`], whose guards keep this order.
#[enum_dispatch]
pub trait SharingPath {
    /// Gets memory for `part` of the next frame (rows in the surface's order, inside the surface), waiting until the
    /// display no longer reads it.
    fn begin(&mut self, part: &Part) -> Result<()>;

    /// Tells where kernels write.
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

    /// Number of frames between the one finished last and the one shown, once the pipeline is full.
    fn frames_behind(&self) -> usize {
        0
    }

    /// Changes how late frames are shown, up to what the path was opened for. Frames on their way are shown first.
    fn set_frames_behind(&mut self, frames: usize) -> Result<()> {
        let _ = frames;
        Ok(())
    }

    /// Frees memory that is not needed at the present lateness.
    fn trim(&mut self) {}

    /// Goes on with frames of another size in the memory that it has, which was proved for at least as many bytes.
    /// Frames on their way are shown first; the first of the new size begins from zero. Returns the earlier surface,
    /// which still shows its last frame. `None`, and nothing has changed, where the memory has no room or the mechanism
    /// needs other memory.
    ///
    /// `pairing` differs in the size alone from what the path was opened with.
    ///
    /// # Errors
    /// Those of the display; the size is then as before.
    fn resize(&mut self, pairing: &Pairing<'_>) -> Result<Option<Surface>> {
        let _ = pairing;
        Ok(None)
    }

    /// Pieces of memory that take turns.
    fn slots(&self) -> usize {
        1
    }

    /// Returns the slot that the frame begun last writes, or the next one if that frame is finished.
    fn slot(&self) -> usize {
        0
    }

    /// The frame on show, where that need not be the one finished last.
    fn shown_frame(&self) -> Option<FrameTag> {
        None
    }

    /// Gives the frame up; the one before stays.
    fn cancel(&mut self);

    /// Returns what the display draws.
    fn surface(&self) -> &Surface;

    /// Returns what the display draws.
    fn surface_mut(&mut self) -> &mut Surface;

    /// Tells how the two sides are kept apart.
    fn sync(&self) -> SyncKind;
}

pub(super) fn not_begun() -> Error {
    Error::invalid("SharingPath", "no frame has been begun")
}
