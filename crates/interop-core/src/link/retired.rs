//! Memory of the frame on show after a resize or a change of path, kept until the first frame since then is finished.

use crate::describe::error::Result;
use crate::describe::surface::SurfaceDesc;
use crate::devices::timeline::FrameTag;
use crate::display::Surface;
use crate::path::{FrameLayout, OpenedPath, PathId, SharingPath};

/// Holder of the frame on show.
pub(super) struct Retired {
    layout: FrameLayout,
    id: PathId,
    holder: Holder,
}

enum Holder {
    /// A path that was left.
    Path(Box<OpenedPath>),
    /// The surface that a path had for another size. Every frame of that size was handed over.
    Surface(Surface, Option<FrameTag>),
}

impl Retired {
    pub fn path(layout: FrameLayout, id: PathId, path: OpenedPath) -> Self {
        Self { layout, id, holder: Holder::Path(Box::new(path)) }
    }

    /// `frame`: the one that it shows.
    pub fn of_surface(layout: FrameLayout, id: PathId, surface: Surface, frame: Option<FrameTag>) -> Self {
        Self { layout, id, holder: Holder::Surface(surface, frame) }
    }

    /// True where the path in use may write what it shows, once that path shows a frame of its own.
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

    /// The path, where one was left.
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

    /// The frame on show: tight rows in the surface's order.
    pub fn read_back(&mut self) -> Result<Vec<u8>> {
        let bytes = self.in_native_rows()?;
        Ok(self.layout.to_surface_rows(bytes))
    }

    /// The frame finished last, shown or not: tight rows in the surface's order.
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
