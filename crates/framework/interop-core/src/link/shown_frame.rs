//! The guard of a frame that is being drawn.

use super::touch::DrawTouch;
use crate::describe::surface::SurfaceDesc;
use crate::devices::timeline::{FrameTag, FrameTagGuard};
use crate::display::Surface;
use crate::path::PathId;

/// The newest finished frame. While this guard lives, the link cannot start another frame.
///
/// ```
/// use cpu_fallback::*;
/// use interop_core::*;
///
/// let display = MemoryDisplay::new();
/// let backend = std::sync::Arc::new(CpuBackend::new()?);
/// let desc = SurfaceDesc::image(1, 1, PixelFormat::Rgba8);
/// let mut link = Link::open(backend, display.clone(), desc, LinkOptions::default())?;
/// link.frame(|next| next.write(&[255, 128, 0, 255]))?;
///
/// let shown = link.shown()?;
/// let mut target = display.create_offscreen_target(2, 2)?;
/// display.draw(shown.surface(), &mut target, Region::new(0, 0, 2, 2), DrawOptions::default())?;
/// assert_eq!(target.read_pixels(), [255, 128, 0, 255].repeat(4));
/// # Ok::<(), Error>(())
/// ```
pub struct ShownFrame<'a> {
    surface: &'a Surface,
    path: PathId,
    /// Tags draws in the meantime with this frame.
    _tagged: FrameTagGuard,
    _drawn: DrawTouch,
}

impl<'a> ShownFrame<'a> {
    pub(super) fn new(surface: &'a Surface, path: PathId, frame: Option<FrameTag>, drawn: DrawTouch) -> Self {
        Self { surface, path, _tagged: FrameTag::enter(frame), _drawn: drawn }
    }

    /// Returns the surface that the display draws; the display's crate turns it into a texture or buffer of its API.
    pub fn surface(&self) -> &'a Surface {
        self.surface
    }

    /// Returns the description of the frame. After a resize this may still be the old size.
    pub fn desc(&self) -> &'a SurfaceDesc {
        self.surface.desc()
    }

    /// Returns the path that carried the frame.
    pub fn path(&self) -> PathId {
        self.path
    }
}
