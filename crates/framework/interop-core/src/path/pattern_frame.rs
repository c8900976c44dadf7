//! Whole frames of a pattern, or of zeros.

use super::contract::SharingPath;
use super::layout::FrameLayout;
use super::opened_path::OpenedPath;
use super::pairing::Pairing;
use crate::compute::ComputeBackend;
use crate::describe::error::Result;
use crate::describe::pattern::Pattern;
use crate::describe::surface::Unwritten;
use crate::devices::timeline::stage;
use crate::display::SurfacePart;

/// Makes a whole frame of `pattern`.
pub(crate) fn pattern_frame(
    path: &mut OpenedPath,
    backend: &dyn ComputeBackend,
    layout: &FrameLayout,
    pattern: &Pattern,
) -> Result<()> {
    pattern_part(path, backend, &layout.full(), pattern)
}

/// Makes a frame of `pattern` that replaces `part`.
pub(crate) fn pattern_part(
    path: &mut OpenedPath,
    backend: &dyn ComputeBackend,
    part: &SurfacePart,
    pattern: &Pattern,
) -> Result<()> {
    path.begin(part)?;
    let written = path.target().and_then(|target| backend.write_pattern(target, pattern));
    if let Err(error) = written {
        path.cancel();
        return Err(error);
    }
    path.finish()
}

/// Clears the surface and every slot that could be shown without being written, to remove patterns of proofs and
/// measurements.
pub(crate) fn blank(path: &mut OpenedPath, backend: &dyn ComputeBackend, layout: &FrameLayout) -> Result<()> {
    let _stage = stage!("blank");
    let frames = match layout.desc().unwritten() {
        // Other slots are copied to or cleared before they are shown.
        Unwritten::Keep | Unwritten::Clear => 1,
        Unwritten::Overwrite => path.slots(),
    };
    for _ in 0..frames {
        pattern_frame(path, backend, layout, &Pattern::ZERO)?;
        path.flush()?;
    }
    Ok(())
}

/// Removes the patterns of proofs and measurements from a path that was just opened: now or, for a ring with missing
/// slots, before the first frame in each slot.
pub(crate) fn begin_from_zero(path: &mut OpenedPath, pairing: &Pairing<'_>) -> Result<()> {
    if path.missing_pieces() > 0 && path.forget(pairing)? {
        return Ok(());
    }
    blank(path, pairing.backend.as_ref(), &pairing.layout())
}
