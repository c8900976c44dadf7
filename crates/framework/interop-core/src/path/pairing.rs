//! The two sides that a path joins, and its settings.

use super::layout::FrameLayout;
use super::unwritten::Reader;
use crate::compute::ComputeBackend;
use crate::describe::surface::SurfaceDesc;
use crate::devices::capability::SyncKind;
use crate::display::Display;
use std::sync::Arc;

/// Direction in which pixels cross between kernels and an engine's object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From kernels to the object.
    Give,
    /// From the object to kernels: tightly packed rows in the display's order.
    Take,
}

/// The two sides that a path joins, and its settings.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Pairing<'a> {
    /// The backend, which writes frames.
    pub backend: &'a Arc<dyn ComputeBackend>,
    /// The display, which shows frames.
    pub display: &'a Arc<dyn Display>,
    /// Description of the surface that is shown.
    pub desc: &'a SurfaceDesc,
    /// Most frames behind that may be used, see [`crate::Mode`].
    pub frames_behind: usize,
    /// Synchronisation of the two sides, see [`crate::Policy::sync`].
    pub sync: Option<SyncKind>,
    /// Most slots that are made at once; the link has the others made when frames need them.
    pub(crate) pieces_at_once: usize,
    /// Set where the surface is an engine's object, which the engine also writes: see [`crate::engine`].
    pub(crate) object: Option<Direction>,
}

crate::setters!(Pairing<'_> {
    /// Sets the most frames behind that may be used.
    with_frames_behind(frames_behind: usize);
    /// Sets the only synchronisation of the two sides; `None` selects the path's own.
    with_sync(sync: impl Into<Option<SyncKind>>);
});

impl<'a> Pairing<'a> {
    /// A pairing that shows the newest frame, with the path's own synchronisation.
    pub const fn new(
        backend: &'a Arc<dyn ComputeBackend>,
        display: &'a Arc<dyn Display>,
        desc: &'a SurfaceDesc,
    ) -> Self {
        Self { backend, display, desc, frames_behind: 0, sync: None, pieces_at_once: usize::MAX, object: None }
    }

    /// Opens only the first slot of a ring whose slots are made one by one.
    pub(crate) fn with_one_piece(self) -> Self {
        Self { pieces_at_once: 1, ..self }
    }

    /// Returns the layout of frames in memory for this display.
    pub fn layout(&self) -> FrameLayout {
        let layout = FrameLayout::new(self.desc, self.display.caps());
        if self.object == Some(Direction::Take) { layout.tight() } else { layout }
    }

    /// For paths on which the display copies each frame into its surface.
    pub(super) fn uploads(&self) -> Reader {
        if self.object.is_some() { Reader::UploadsBesideAnother } else { Reader::Uploads }
    }

    /// Number of slots of a ring that normally has `slots`: an engine's object is transferred before the next turn
    /// begins.
    pub(super) fn ring_of(&self, slots: usize) -> usize {
        if self.object.is_some() { 1 } else { slots }
    }
}
