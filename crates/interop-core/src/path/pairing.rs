//! The two sides that a path joins, and its settings.

use super::layout::FrameLayout;
use super::unwritten::Reader;
use crate::compute::ComputeBackend;
use crate::describe::setters::setters;
use crate::describe::surface::SurfaceDesc;
use crate::devices::capability::SyncKind;
use crate::display::Display;
use std::rc::Rc;
use std::sync::Arc;

/// Direction in which pixels cross between kernels and an object that an engine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From kernels to the object.
    Give,
    /// From the object to kernels: rows lie one behind the other, in the display's order.
    Take,
}

/// The two sides that a path joins, and its settings.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Pairing<'a> {
    /// The side that writes.
    pub backend: &'a Arc<dyn ComputeBackend>,
    /// The side that shows.
    pub display: &'a Rc<dyn Display>,
    /// Description of the surface that is shown.
    pub desc: &'a SurfaceDesc,
    /// Most frames behind at which frames may be shown, see [`crate::Mode`].
    pub frames_behind: usize,
    /// Synchronisation of the two sides, see [`crate::Policy::sync`].
    pub sync: Option<SyncKind>,
    /// Most pieces of memory that are made at once; the link has the others made when frames need them.
    pub(crate) pieces_at_once: usize,
    /// The surface is an engine's, who writes it, too: see [`crate::engine`].
    pub(crate) object: Option<Direction>,
}

setters!(Pairing<'_> {
    /// Sets how many frames behind a frame may be shown at most.
    with_frames_behind(frames_behind: usize);
    /// Sets the only way to keep the two sides apart; `None`: the path's own.
    with_sync(sync: impl Into<Option<SyncKind>>);
});

impl<'a> Pairing<'a> {
    /// The newest frame is shown, and the path keeps the two sides apart in its own way.
    pub const fn new(
        backend: &'a Arc<dyn ComputeBackend>,
        display: &'a Rc<dyn Display>,
        desc: &'a SurfaceDesc,
    ) -> Self {
        Self { backend, display, desc, frames_behind: 0, sync: None, pieces_at_once: usize::MAX, object: None }
    }

    /// Opens just the first piece of a ring whose pieces are made one by one.
    pub(crate) fn with_one_piece(self) -> Self {
        Self { pieces_at_once: 1, ..self }
    }

    /// Tells how frames lie in memory for this display.
    pub fn layout(&self) -> FrameLayout {
        let layout = FrameLayout::new(self.desc, self.display.caps());
        if self.object == Some(Direction::Take) { layout.tight() } else { layout }
    }

    /// The display copies each frame into its surface.
    pub(super) fn uploads(&self) -> Reader {
        if self.object.is_some() { Reader::UploadsBesideAnother } else { Reader::Uploads }
    }

    /// Pieces of a ring that would have so many: an engine's object is given, or taken, before the next turn begins.
    pub(super) fn ring_of(&self, slots: usize) -> usize {
        if self.object.is_some() { 1 } else { slots }
    }
}
