//! A path between one display and whoever computes: it knows more of the display than the contract says.

use crate::plugged::board::{Board, BoardSurface, copy_rows, part_of};
use interop_core::path::{Canvas, Cost, Medium, Pairing, PathSpec};
use interop_core::{Display, Error, Result, SharingPath, Support, Surface, SurfacePart, SyncKind, Target};

/// The row: frames are read straight into the board's page.
pub fn page_flip() -> PathSpec {
    let check_support = |pairing: &Pairing<'_>| {
        let display: &dyn Display = pairing.display.as_ref();
        Support::when(display.downcast_ref::<Board>().is_some(), "display: it has no pages to flip")
    };
    let open = |pairing: &Pairing<'_>| Ok(Box::new(PageFlip::open(pairing)?) as Box<dyn SharingPath>);
    let mut spec = PathSpec::new("page-flip", check_support, open);
    spec.mechanism = "read into the page that the board shows next: 1 copy";
    spec.cost = Cost::copied(Medium::Client, 1).waiting();
    spec
}

struct PageFlip {
    canvas: Canvas,
    surface: Surface,
}

impl PageFlip {
    fn open(pairing: &Pairing<'_>) -> Result<Self> {
        Ok(Self { canvas: Canvas::open(pairing)?, surface: pairing.display.create_surface(pairing.desc)? })
    }
}

impl SharingPath for PageFlip {
    fn begin(&mut self, part: &SurfacePart) -> Result<()> {
        self.canvas.begin(part, &mut self.surface)
    }

    fn target(&mut self) -> Result<Target<'_>> {
        self.canvas.target()
    }

    fn finish(&mut self) -> Result<()> {
        let (memory, crossing) = self.canvas.end()?;
        let board = self.surface.driver().downcast_ref::<BoardSurface>().ok_or_else(|| Error::Foreign {
            operation: "page-flip",
            object: "surface",
            device: "the board".into(),
        })?;
        let (from, to) = (crossing.native.from_its_start(), part_of(&board.desc, &crossing.part)?);
        memory
            .map_read(crossing.native.span(), &mut |bytes| board.flip(|page| copy_rows((bytes, &from), (page, &to))))?;
        self.canvas.finished();
        Ok(())
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
