//! The guard of a frame that is being drawn.

use super::touch::Drawn;
use crate::describe::surface::SurfaceDesc;
use crate::devices::timeline::{FrameTag, Tagged};
use crate::display::Surface;
use crate::path::PathId;

/// The newest finished frame. While it lives the link cannot start another.
pub struct ShownFrame<'a> {
    surface: &'a dyn Surface,
    path: PathId,
    /// What is drawn meanwhile is for this frame.
    _tagged: Tagged,
    _drawn: Drawn,
}

impl<'a> ShownFrame<'a> {
    pub(super) fn new(surface: &'a dyn Surface, path: PathId, frame: Option<FrameTag>, drawn: Drawn) -> Self {
        Self { surface, path, _tagged: FrameTag::enter(frame), _drawn: drawn }
    }

    /// What the display draws; its crate turns it into a texture or buffer of its API.
    pub fn surface(&self) -> &'a dyn Surface {
        self.surface
    }

    /// What it is. After a resize this may still be the old size.
    pub fn desc(&self) -> &'a SurfaceDesc {
        self.surface.desc()
    }

    /// The path that brought it.
    pub fn path(&self) -> PathId {
        self.path
    }
}
