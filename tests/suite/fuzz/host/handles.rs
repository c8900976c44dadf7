//! Handles that name nothing, and contexts that are not current.

use super::World;
use crate::fuzz::{Turn, TurnResult, hold, hostile};
use pixelferry::driver::{HandleType, SharedHandle, StagingKind};
use pixelferry::{PixelFormat, SurfaceDesc, SyncKind};

impl World<'_> {
    /// Objects by names that nobody gave out, and calls that this pair does not offer.
    pub(super) fn handle(&mut self, t: &mut Turn) -> TurnResult {
        let backend = &self.backends[t.below(self.backends.len())];
        let name = hostile::near(t, 8) as u32;
        let handle = match t.one_in(2) {
            true => SharedHandle::GlBuffer { name },
            false => SharedHandle::GlTexture { name, target: 0x0DE1 },
        };
        let desc = t.pick(&[SurfaceDesc::buffer(64), SurfaceDesc::image(4, 4, PixelFormat::Rgba8)]);
        t.op("host: a handle of nobody's", format_args!("{handle:?}"));
        let what = t.below(6);
        let taken = match what {
            0 => t.end(backend.import_surface(&handle, &desc)).is_ok(),
            1 => t.end(self.display.create_staging(StagingKind::External(handle), 64)).is_ok(),
            2 => t.end(backend.import_semaphore(&handle)).is_ok(),
            3 => t.end(backend.allocate_shared(64, HandleType::GlObject, self.display.device())).is_ok(),
            4 => {
                // The semaphore is dropped at once.
                let kind = t.pick(&[SyncKind::Implicit, SyncKind::Finish]);
                let _ = t.end(self.display.create_semaphore(kind));
                false
            }
            _ => {
                let bytes = hostile::size(t, 4096);
                let _ = t.end(self.display.create_staging(StagingKind::Exported, bytes));
                false
            }
        };
        hold!(!taken, "{what}: a handle that names nothing was taken");
        Ok(())
    }

    /// Another context is current.
    pub(super) fn elsewhere(&mut self, t: &mut Turn) -> TurnResult {
        let Some([own, other]) = &self.gl else { return Ok(()) };
        other.make_current()?;
        let at = t.below(self.surfaces.len());
        let shown = &mut self.surfaces[at];
        let part = pixelferry::driver::SurfacePart::full(&shown.desc);
        t.op("host: in another context", format_args!(""));
        let refused = match t.below(4) {
            0 => self.display.create_surface(&SurfaceDesc::buffer(64)).map(|_| ()),
            1 => self.display.create_staging(StagingKind::Persistent, 64).map(|_| ()),
            2 => shown.surface.read_back(&part).map(|_| ()),
            _ => {
                let refused = shown.surface.read_back(&part).map(|_| ());
                // Freed later, when its context is current again.
                self.surfaces.swap_remove(at);
                refused
            }
        };
        let refused = t.end(refused);
        own.make_current()?;
        hold!(refused.is_err(), "a call was taken while another context is current");
        Ok(())
    }
}
