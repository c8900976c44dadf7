//! The shown frame's memory after a resize or a change of path, kept until the next frame is finished.

use crate::describe::error::Result;
use crate::describe::surface::SurfaceDesc;
use crate::devices::timeline::FrameTag;
use crate::display::Surface;
use crate::path::{FrameLayout, OpenedPath, PathId, SharingPath};

/// Holder of the shown frame.
pub(super) struct RetiredFrame {
    layout: FrameLayout,
    id: PathId,
    holder: Holder,
}

enum Holder {
    /// A path that was replaced.
    Path(Box<OpenedPath>),
    /// The surface that a path had for another size. Every frame of that size was handed over.
    Surface(Surface, Option<FrameTag>),
}

impl RetiredFrame {
    pub fn path(layout: FrameLayout, id: PathId, path: OpenedPath) -> Self {
        Self { layout, id, holder: Holder::Path(Box::new(path)) }
    }

    /// Takes a surface that shows `frame`.
    pub fn of_surface(layout: FrameLayout, id: PathId, surface: Surface, frame: Option<FrameTag>) -> Self {
        Self { layout, id, holder: Holder::Surface(surface, frame) }
    }

    /// True where the current path will write the memory of the shown frame after it shows a frame of its own.
    pub fn is_in_the_paths_memory(&self) -> bool {
        matches!(self.holder, Holder::Surface(..))
    }

    pub fn id(&self) -> PathId {
        self.id
    }

    pub fn desc(&self) -> &SurfaceDesc {
        self.layout.desc()
    }

    pub fn surface(&self) -> &Surface {
        match &self.holder {
            Holder::Path(path) => path.surface(),
            Holder::Surface(surface, _) => surface,
        }
    }

    pub fn shown_frame(&self) -> Option<FrameTag> {
        match &self.holder {
            Holder::Path(path) => path.shown_frame(),
            Holder::Surface(_, frame) => *frame,
        }
    }

    /// Returns the path, if a path was replaced.
    pub fn into_path(self) -> Option<OpenedPath> {
        match self.holder {
            Holder::Path(path) => Some(*path),
            Holder::Surface(..) => None,
        }
    }

    pub fn flush(&mut self) -> Result<()> {
        match &mut self.holder {
            Holder::Path(path) => path.flush(),
            Holder::Surface(..) => Ok(()),
        }
    }

    /// Reads the shown frame: tight rows in the surface's order.
    pub fn read_back(&mut self) -> Result<Vec<u8>> {
        let bytes = self.in_native_rows()?;
        Ok(self.layout.to_surface_rows(bytes))
    }

    /// Reads the last finished frame, shown or not: tight rows in the surface's order.
    pub fn newest_picture(&mut self) -> Result<Vec<u8>> {
        let mut bytes = self.in_native_rows()?;
        if let Holder::Path(path) = &mut self.holder {
            path.overlay_unshown(&mut bytes)?;
        }
        Ok(self.layout.to_surface_rows(bytes))
    }

    fn in_native_rows(&mut self) -> Result<Vec<u8>> {
        let full = self.layout.full();
        match &mut self.holder {
            Holder::Path(path) => path.surface_mut().read_back(&full),
            Holder::Surface(surface, _) => surface.read_back(&full),
        }
    }
}
