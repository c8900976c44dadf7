//! What a path joins.

use super::layout::FrameLayout;
use crate::compute::ComputeBackend;
use crate::describe::setters::setters;
use crate::describe::surface::SurfaceDesc;
use crate::devices::capability::SyncKind;
use crate::display::Display;
use std::rc::Rc;
use std::sync::Arc;

/// What a path joins.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Pairing<'a> {
    /// The side that writes.
    pub backend: &'a Arc<dyn ComputeBackend>,
    /// The side that shows.
    pub display: &'a Rc<dyn Display>,
    /// What is shown.
    pub desc: &'a SurfaceDesc,
    /// How late frames may be shown at most, see [`crate::Mode`].
    pub frames_behind: usize,
    /// How the two sides are kept apart, see [`crate::Policy::sync`].
    pub sync: Option<SyncKind>,
    /// So many pieces of memory are made at once at most; the link has the others made when frames need them.
    pub(crate) pieces_at_once: usize,
}

setters!(Pairing<'_> {
    /// Sets how many frames late a frame may be shown at most.
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
        Self { backend, display, desc, frames_behind: 0, sync: None, pieces_at_once: usize::MAX }
    }

    /// Of a ring whose pieces are made one by one, the first.
    pub(crate) fn with_one_piece(self) -> Self {
        Self { pieces_at_once: 1, ..self }
    }

    /// Tells how frames lie in memory for this display.
    pub fn layout(&self) -> FrameLayout {
        FrameLayout::new(self.desc, self.display.caps())
    }
}
