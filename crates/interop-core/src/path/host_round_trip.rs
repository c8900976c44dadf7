//! Through client memory: the compute side shows its bytes to the host, the display copies them from there.
//!
//! Where device memory is host memory the first step is free (a map), so the path costs one upload.

use super::{Crossing, FrameLayout, Pairing, SharingPath};
use crate::capability::SyncKind;
use crate::compute::{ComputeMemory, Target};
use crate::display::{Part, Surface};
use crate::error::Result;
use crate::timeline::step;

/// See the module.
pub struct HostRoundTrip {
    layout: FrameLayout,
    memory: Box<dyn ComputeMemory>,
    surface: Box<dyn Surface>,
    current: Option<Crossing>,
}

impl HostRoundTrip {
    pub(super) fn open(pairing: &Pairing<'_>) -> Result<Self> {
        let layout = pairing.layout();
        let memory = pairing.backend.allocate(layout.frame_bytes()?)?;
        let surface = pairing.display.create_surface(pairing.desc)?;
        Ok(Self { layout, memory, surface, current: None })
    }
}

impl SharingPath for HostRoundTrip {
    fn begin(&mut self, part: &Part) -> Result<()> {
        self.current = Some(self.layout.packed(part)?);
        Ok(())
    }

    fn target(&mut self) -> Result<Target<'_>> {
        let crossing = self.current.as_ref().ok_or_else(super::not_begun)?;
        Target::new(self.memory.as_mut(), crossing.kernel)
    }

    fn finish(&mut self) -> Result<()> {
        let crossing = self.current.take().ok_or_else(super::not_begun)?;
        let surface = &mut self.surface;
        let _step = step!("read");
        self.memory.view(crossing.native.span(), &mut |bytes| {
            let _step = step!("upload");
            surface.upload(&crossing.part, bytes, &crossing.native)
        })
    }

    fn cancel(&mut self) {
        self.current = None;
    }

    fn surface(&self) -> &dyn Surface {
        self.surface.as_ref()
    }

    fn surface_mut(&mut self) -> &mut dyn Surface {
        self.surface.as_mut()
    }

    fn sync(&self) -> SyncKind {
        SyncKind::Finish
    }
}
