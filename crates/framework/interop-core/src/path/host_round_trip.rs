//! Through client memory: the compute side shows its bytes to the host, and the display copies them from there.
//!
//! Where device memory is host memory the first step is a free map, so the path costs one upload.

use super::canvas::Canvas;
use super::contract::SharingPath;
use super::pairing::Pairing;
use crate::compute::Target;
use crate::describe::error::Result;
use crate::devices::capability::SyncKind;
use crate::devices::timeline::step;
use crate::display::{Surface, SurfacePart};

/// The path on which the host carries the bytes from the compute side to the display.
pub struct HostRoundTrip {
    pub(super) canvas: Canvas,
    surface: Surface,
}

impl HostRoundTrip {
    /// Creates the compute side's memory and the display's surface.
    ///
    /// # Errors
    /// Those of the two sides.
    pub fn open(pairing: &Pairing<'_>) -> Result<Self> {
        Ok(Self { canvas: Canvas::open(pairing)?, surface: pairing.display.create_surface(pairing.desc)? })
    }
}

impl SharingPath for HostRoundTrip {
    fn begin(&mut self, part: &SurfacePart) -> Result<()> {
        self.canvas.begin(part, &mut self.surface)
    }

    fn target(&mut self) -> Result<Target<'_>> {
        self.canvas.target()
    }

    fn finish(&mut self) -> Result<()> {
        let (memory, transfer) = self.canvas.end()?;
        let surface = &mut self.surface;
        let reading = step!("read");
        let view = transfer.native.from_its_start();
        memory.map_read(transfer.native.span(), &mut |bytes| {
            let _step = step!("upload");
            surface.upload(&transfer.part, bytes, &view)
        })?;
        drop(reading);
        self.canvas.finished();
        Ok(())
    }

    fn resize(&mut self, pairing: &Pairing<'_>) -> Result<Option<Surface>> {
        let surface = pairing.display.create_surface(pairing.desc)?;
        Ok(self.canvas.resize(pairing)?.then(|| std::mem::replace(&mut self.surface, surface)))
    }

    fn cancel(&mut self) {
        self.canvas.cancel();
    }

    fn surface(&self) -> &Surface {
        &self.surface
    }

    fn surface_mut(&mut self) -> &mut Surface {
        &mut self.surface
    }

    fn sync(&self) -> SyncKind {
        SyncKind::Finish
    }
}
