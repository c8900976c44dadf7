//! A display: pages of pixels behind a slow wire, which can also be flipped, if one knows how.

use crate::plugged::backend::lock;
use crate::plugged::lent_bytes::{BYTES, SharedBytes};
use interop_core::describe::PlainMutex;
use interop_core::describe::pattern::rows;
use interop_core::display::{Content, DisplayDriver, Reach, StagingDriver, StoredDriver, SurfaceDriver};
use interop_core::{
    Api, BufferView, DeviceIdentity, DisplayCaps, Error, HandleType, ImageView, Manner, MemoryCap, MemoryKind,
    MemoryShape, PixelFormat, Result, RowOrder, SharedHandle, Staging, StagingKind, Support, Surface, SurfaceDesc,
    SurfacePart, View, conformance::tight,
};
use std::ops::Range;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

/// The display. An upload takes the wire's time; a flip ([`crate::plugged::page_flip`]) does not. Rows lie from the bottom up, so that
/// paths have something to turn.
pub struct Board {
    device: DeviceIdentity,
    caps: DisplayCaps,
    wire: Duration,
}

impl Board {
    /// One whose uploads take so long each.
    pub fn new(wire: Duration) -> Arc<Self> {
        let no = |what: &str| Support::No(format!("it has no {what}"));
        let device = DeviceIdentity::new(Api::Other("board"), "two pages")
            .with_vendor("a test")
            .with_driver(env!("CARGO_PKG_VERSION"))
            .with_memory(MemoryKind::Host)
            .with_software(true);
        let caps = DisplayCaps::new(16384, 1 << 30, RowOrder::BottomUp)
            .with_image_formats(PixelFormat::ALL)
            .with_imports(vec![MemoryCap::new(HandleType::Other(BYTES), MemoryShape::Linear, Support::Yes)])
            .with_orphaned_staging(Support::Yes)
            .with_persistent_staging(Support::Yes)
            .with_in_place_images(no("reads in place"))
            .with_in_place_buffers(no("reads in place"))
            .with_max_in_place_pixels(0)
            .with_row_pitch_alignment(16);
        Arc::new(Self { device, caps, wire })
    }

    fn unsupported(&self, reason: &str) -> Error {
        Error::unsupported(&self.device, reason)
    }
}

impl DisplayDriver for Board {
    fn device(&self) -> &DeviceIdentity {
        &self.device
    }

    fn caps(&self) -> &DisplayCaps {
        &self.caps
    }

    fn create_surface(&self, desc: &SurfaceDesc) -> Result<Surface> {
        let page = |bytes| Arc::new(PlainMutex::new(vec![0; bytes]));
        let make = |bytes| Ok(BoardSurface { desc: *desc, page: page(bytes), wire: self.wire });
        Surface::stored((&self.device, &self.caps), desc, |_, bytes| make(bytes), make)
    }

    fn create_in_place_surface(&self, _: &SurfaceDesc) -> Result<Surface> {
        Err(self.unsupported("it reads nothing in place"))
    }

    fn create_staging(&self, kind: StagingKind, bytes: usize) -> Result<Staging> {
        let block = |kind| match kind {
            StagingKind::Orphaned | StagingKind::Persistent => Some(SharedBytes::new(Mutex::new(vec![0; bytes]))),
            StagingKind::External(SharedHandle::Other { name: BYTES, handle }) => {
                handle.downcast().ok().map(|lent| *lent)
            }
            _ => None,
        };
        let problem = "it stages in memory of its own, or in what it is lent";
        Staging::new((&self.device, &self.caps), kind, bytes, |kind| {
            let block = block(kind).filter(|block| lock(block).len() >= bytes);
            Ok((Block(block.ok_or_else(|| self.unsupported(problem))?, bytes), Reach::EachFill))
        })
    }

    fn draw_offscreen_by(&self, surface: &Surface, _: Option<Manner>) -> Result<()> {
        match surface.driver().is::<BoardSurface>() {
            true => Ok(()),
            false => Err(foreign("draw_offscreen")),
        }
    }

    fn finish(&self) -> Result<()> {
        Ok(())
    }
}

fn foreign(operation: &'static str) -> Error {
    Error::Foreign { operation, object: "surface or staging block", device: "the board".into() }
}

/// Surface that is shown: tight rows in the board's order.
pub(crate) struct BoardSurface {
    pub(crate) desc: SurfaceDesc,
    page: Arc<PlainMutex<Vec<u8>>>,
    wire: Duration,
}

impl BoardSurface {
    /// Lets `f` write the page that is shown next, which only those can do who know the board.
    pub(crate) fn flip(&self, f: impl FnOnce(&mut [u8]) -> Result<()>) -> Result<()> {
        f(&mut self.page.lock())
    }

    fn store(&self, at: &SurfacePart, from: &[u8], view: &View) -> Result<()> {
        std::thread::sleep(self.wire);
        self.flip(|page| copy_rows((from, view), (page, &part_of(&self.desc, at)?)))
    }
}

/// Tells where a part lies in tight rows.
pub(crate) fn part_of(desc: &SurfaceDesc, at: &SurfacePart) -> Result<View> {
    Ok(match (tight(desc)?, at) {
        (View::Image(whole), SurfacePart::Image(region)) => {
            let offset = whole.row_start(region.y) + region.x as usize * whole.format.bytes_per_pixel();
            View::Image(ImageView { offset, extent: region.extent(), ..whole })
        }
        (_, SurfacePart::Buffer(Range { start, end })) => View::Buffer(BufferView { offset: *start, len: end - start }),
        (whole, SurfacePart::Image(_)) => whole,
    })
}

/// Copies rows between two views of the same size.
pub(crate) fn copy_rows((from, of): (&[u8], &View), (to, at): (&mut [u8], &View)) -> Result<()> {
    for ((_, from_row), (_, to_row)) in rows(of).zip(rows(at)) {
        to[to_row].copy_from_slice(&from[from_row]);
    }
    Ok(())
}

impl<C: Content> SurfaceDriver<C> for BoardSurface {
    fn read_back(&mut self, at: &C::At) -> Result<Vec<u8>> {
        let from = part_of(&self.desc, &C::part(at))?;
        let page = self.page.lock();
        Ok(rows(&from).flat_map(|(_, row)| page[row].iter().copied()).collect())
    }
}

impl<C: Content> StoredDriver<C> for BoardSurface {
    fn upload(&mut self, at: &C::At, bytes: &[u8], view: &C::View) -> Result<()> {
        self.store(&C::part(at), bytes, &C::view(view))
    }

    fn upload_staged(&mut self, at: &C::At, staging: &mut Staging, view: &C::View) -> Result<()> {
        let block = staging.driver().downcast_ref::<Block>().ok_or_else(|| foreign("upload_staged"))?;
        self.store(&C::part(at), &lock(&block.0), &C::view(view))
    }
}

/// Block of so many bytes, the board's or somebody else's; everything is read when a call returns.
struct Block(SharedBytes, usize);

impl StagingDriver for Block {
    fn wait(&mut self) -> Result<()> {
        Ok(())
    }

    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        f(&mut lock(&self.0)[..self.1])
    }

    fn fence(&mut self, _: bool) -> Result<()> {
        Ok(())
    }
}
