//! A path between any two: it uploads only what lies between the first and the last row that changed, for pictures of which
//! most stays.

use crate::plugged::board::{copy_rows, part_of};
use interop_core::describe::pattern::rows;
use interop_core::path::{Canvas, Cost, Medium, Pairing, PathSpec};
use interop_core::{
    BufferView, Extent, ImageView, Region, Result, SharingPath, Support, Surface, SurfacePart, SyncKind, Target, View,
};
use std::ops::Range;

/// The row.
pub fn changed_rows() -> PathSpec {
    let open = |pairing: &Pairing<'_>| Ok(Box::new(ChangedRows::open(pairing)?) as Box<dyn SharingPath>);
    let mut spec = PathSpec::new("changed-rows", |_| Support::Yes, open);
    spec.mechanism = "compared with the frame before on the host, the rows that differ are uploaded";
    spec.cost = Cost::copied(Medium::Client, 2).waiting();
    spec
}

struct ChangedRows {
    canvas: Canvas,
    surface: Surface,
    /// Content of the surface, in tight rows: zero at first, as it is.
    shown: Vec<u8>,
}

impl ChangedRows {
    fn open(pairing: &Pairing<'_>) -> Result<Self> {
        let surface = pairing.display.create_surface(pairing.desc)?;
        Ok(Self { canvas: Canvas::open(pairing)?, surface, shown: vec![0; pairing.desc.byte_len()?] })
    }
}

impl SharingPath for ChangedRows {
    fn begin(&mut self, part: &SurfacePart) -> Result<()> {
        self.canvas.begin(part, &mut self.surface)
    }

    fn target(&mut self) -> Result<Target<'_>> {
        self.canvas.target()
    }

    fn finish(&mut self) -> Result<()> {
        let (memory, crossing) = self.canvas.end()?;
        let (surface, shown) = (&mut self.surface, &mut self.shown);
        let from = crossing.native.from_its_start();
        let to = part_of(surface.desc(), &crossing.part)?;
        memory.map_read(crossing.native.span(), &mut |bytes| {
            let differs = |((_, a), (_, b)): ((u32, Range<usize>), (u32, Range<usize>))| bytes[a] != shown[b];
            let changed: Vec<u32> = (0..)
                .zip(rows(&from).zip(rows(&to)))
                .filter(|(_, pair)| differs(pair.clone()))
                .map(|(y, _)| y)
                .collect();
            let (Some(first), Some(last)) = (changed.first(), changed.last()) else { return Ok(()) };
            let (band, at) = band(&from, &crossing.part, *first..last + 1);
            // One upload, so that a frame that fails is not half there.
            surface.upload(&at, bytes, &band)?;
            copy_rows((bytes, &band), (shown, &part_of(surface.desc(), &at)?))
        })?;
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

/// Some rows of what lies in `view` and goes to `part`.
fn band(view: &View, part: &SurfacePart, which: Range<u32>) -> (View, SurfacePart) {
    match (view, part) {
        (View::Image(image), SurfacePart::Image(region)) => {
            let extent = Extent::new(image.extent.width, which.end - which.start);
            let band = ImageView { offset: image.row_start(which.start), extent, ..*image };
            let region = Region::new(region.x, region.y + which.start, extent.width, extent.height);
            (View::Image(band), SurfacePart::Image(region))
        }
        (View::Buffer(buffer), SurfacePart::Buffer(bytes)) => {
            const ROW: usize = interop_core::describe::pattern::Pattern::BUFFER_ROW;
            let start = which.start as usize * ROW;
            let len = (which.end as usize * ROW).min(buffer.len) - start;
            let at = bytes.start + start;
            (View::Buffer(BufferView { offset: buffer.offset + start, len }), SurfacePart::Buffer(at..at + len))
        }
        _ => (*view, part.clone()),
    }
}
