//! What a path joins.

use super::layout::FrameLayout;
use crate::compute::ComputeBackend;
use crate::describe::surface::SurfaceDesc;
use crate::devices::capability::SyncKind;
use crate::display::Display;
use std::rc::Rc;
use std::sync::Arc;

/// What a path joins.
pub struct Pairing<'a> {
    /// The side that writes.
    pub backend: &'a Arc<dyn ComputeBackend>,
    /// The side that shows.
    pub display: &'a Rc<dyn Display>,
    /// What is shown.
    pub desc: &'a SurfaceDesc,
    /// How late frames may be shown at most, see [`crate::Mode`].
    pub frames_behind: usize,
    /// See [`crate::Policy::sync`].
    pub sync: Option<SyncKind>,
}

impl Pairing<'_> {
    /// How frames lie in memory for this display.
    pub fn layout(&self) -> FrameLayout {
        FrameLayout::new(self.desc, self.display.caps())
    }
}
