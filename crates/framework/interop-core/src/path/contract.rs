//! The interface of an opened path.

use super::pairing::Pairing;
use crate::compute::Target;
use crate::describe::error::{Error, Result};
use crate::devices::capability::SyncKind;
use crate::devices::timeline::FrameTag;
use crate::display::{Surface, SurfacePart};
use enum_dispatch::enum_dispatch;

/// An opened path. It owns the surface and the shared memory.
///
/// A frame is [`begin`](Self::begin), work on the [`target`](Self::target), then [`finish`](Self::finish) or
/// [`cancel`](Self::cancel). Users use [`crate::Link`], whose guards ensure this order.
#[enum_dispatch]
pub trait SharingPath: Send + Sync {
    /// Prepares memory for `part` of the next frame (rows in the surface's order, inside the surface). Waits until the
    /// display no longer reads it.
    fn begin(&mut self, part: &SurfacePart) -> Result<()>;

    /// Returns the target that kernels write.
    fn target(&mut self) -> Result<Target<'_>>;

    /// Waits for the compute side and hands the frame to the display. After an error the previous frame is still shown.
    fn finish(&mut self) -> Result<()>;

    /// Shows every frame finished so far. Does something only in pipelined mode.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// Copies the frames that are finished but not shown yet over a picture of the shown frame: tight rows in the
    /// display's order.
    fn overlay_unshown(&mut self, shown: &mut [u8]) -> Result<()> {
        let _ = shown;
        Ok(())
    }

    /// Number of frames between the last finished one and the shown one, once the pipeline is full.
    fn frames_behind(&self) -> usize {
        0
    }

    /// Changes the number of frames behind, up to the number that the path was opened for. Frames in flight are shown
    /// first.
    fn set_frames_behind(&mut self, frames: usize) -> Result<()> {
        let _ = frames;
        Ok(())
    }

    /// Frees memory that the current number of frames behind does not need.
    fn trim(&mut self) {}

    /// Changes the size of the frames in the existing memory, which was verified for at least as many bytes. Frames in
    /// flight are shown first; the first of the new size starts from zero. Returns the earlier surface, which still
    /// shows its last frame. Returns `None`, with nothing changed, where the memory is too small or the mechanism needs
    /// other memory.
    ///
    /// `pairing` differs only in the size from the one that the path was opened with.
    ///
    /// # Errors
    /// Those of the display; then the size is unchanged.
    fn resize(&mut self, pairing: &Pairing<'_>) -> Result<Option<Surface>> {
        let _ = pairing;
        Ok(None)
    }

    /// Number of slots of memory that take turns.
    fn slots(&self) -> usize {
        1
    }

    /// Returns the slot that the frame begun last writes, or the next one if that frame is finished.
    fn slot(&self) -> usize {
        0
    }

    /// Returns the shown frame, where that may differ from the last finished one.
    fn shown_frame(&self) -> Option<FrameTag> {
        None
    }

    /// Discards the frame; the previous one stays.
    fn cancel(&mut self);

    /// Returns the surface that the display draws.
    fn surface(&self) -> &Surface;

    /// Returns the surface that the display draws, for changes.
    fn surface_mut(&mut self) -> &mut Surface;

    /// Returns the synchronisation of the two sides.
    fn sync(&self) -> SyncKind;
}

pub(super) fn not_begun() -> Error {
    Error::invalid("SharingPath", "no frame has been begun")
}
