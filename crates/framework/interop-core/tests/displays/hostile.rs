//! What safe code can put between a display and the display's own objects: drivers around its blocks and surfaces that say other
//! things of them, and hooks that do not call. It gets errors, and no byte is read or written that a check did not allow. Suites of
//! displays have this file.

use interop_core::devices::borrows::Holder;
use interop_core::display::{
    Bytes, Call, Hook, InPlaceDriver, Pixels, Reach, StagingDriver, StoredDriver, SurfaceDriver, Watch,
};
use interop_core::{
    BufferView, Display, Error, Extent, HostBlock, ImageView, PixelFormat, Region, Result, Staging, StagingKind,
    Surface, SurfaceDesc, SurfacePart, View,
};
use std::ops::Range;
use std::sync::Arc;

const SMALL: usize = 4096;
const LARGE: usize = 1 << 20;

/// A block around a display's own.
struct Around(Staging);

impl StagingDriver for Around {
    fn fence(&mut self, _: bool) -> Result<()> {
        self.0.fence()
    }

    fn wait(&mut self) -> Result<()> {
        self.0.wait()
    }

    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.0.map_write(f)
    }
}

/// A surface around a display's own.
struct AroundSurface(Surface);

impl SurfaceDriver<Pixels> for AroundSurface {
    fn read_back(&mut self, at: &Region) -> Result<Vec<u8>> {
        self.0.read_back(&SurfacePart::Image(*at))
    }
}

impl SurfaceDriver<Bytes> for AroundSurface {
    fn read_back(&mut self, at: &Range<usize>) -> Result<Vec<u8>> {
        self.0.read_back(&SurfacePart::Buffer(at.clone()))
    }
}

impl StoredDriver<Pixels> for AroundSurface {
    fn upload(&mut self, at: &Region, bytes: &[u8], view: &ImageView) -> Result<()> {
        self.0.upload(&SurfacePart::Image(*at), bytes, &View::Image(*view))
    }

    fn upload_staged(&mut self, at: &Region, staging: &mut Staging, view: &ImageView) -> Result<()> {
        self.0.upload_staged(&SurfacePart::Image(*at), staging, &View::Image(*view))
    }
}

impl StoredDriver<Bytes> for AroundSurface {
    fn upload(&mut self, at: &Range<usize>, bytes: &[u8], view: &BufferView) -> Result<()> {
        self.0.upload(&SurfacePart::Buffer(at.clone()), bytes, &View::Buffer(*view))
    }

    fn upload_staged(&mut self, at: &Range<usize>, staging: &mut Staging, view: &BufferView) -> Result<()> {
        self.0.upload_staged(&SurfacePart::Buffer(at.clone()), staging, &View::Buffer(*view))
    }
}

impl InPlaceDriver<Pixels> for AroundSurface {
    fn show(&mut self, staging: &Staging, view: &ImageView) -> Result<()> {
        self.0.read_in_place(staging, &View::Image(*view))
    }
}

impl InPlaceDriver<Bytes> for AroundSurface {
    fn show(&mut self, staging: &Staging, view: &BufferView) -> Result<()> {
        self.0.read_in_place(staging, &View::Buffer(*view))
    }
}

/// Reports success for waits and marks, and does neither.
struct Silent;

impl Hook for Silent {
    fn around(&self, call: Call, done: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        if matches!(call, Call::Wait | Call::Fence) { Ok(()) } else { done() }
    }
}

fn all(len: usize) -> View {
    View::Buffer(BufferView { offset: 0, len })
}

fn persistent(display: &dyn Display, len: usize) -> Staging {
    display.create_staging(StagingKind::Persistent, len).unwrap()
}

/// A block of `len` bytes that a hostile driver makes out of the display's block `inner`.
fn around(display: &dyn Display, inner: Staging, len: usize, reach: Reach) -> Staging {
    let of = (display.device(), display.caps());
    Staging::new(of, StagingKind::Persistent, len, |_| Ok((Around(inner), reach))).unwrap()
}

/// A surface of the display's, in a hostile driver that says it is as `desc`.
fn around_surface(display: &dyn Display, inner: Surface, desc: &SurfaceDesc) -> Surface {
    let of = (display.device(), display.caps());
    let cell = std::cell::Cell::new(Some(inner));
    let made = || Ok(AroundSurface(cell.take().unwrap()));
    Surface::stored(of, desc, |_, _| made(), |_| made()).unwrap()
}

fn refused<T>(done: Result<T>, what: &str) {
    match done {
        Err(Error::Foreign { .. } | Error::InvalidInput { .. } | Error::Unsupported { .. }) => {}
        Err(other) => panic!("{what}: {other}"),
        Ok(_) => panic!("{what} went through"),
    }
}

/// Tests all of it. `writes`: the display itself writes blocks ([`Surface::download`]), later than the call.
pub fn hostile_drivers_get_errors(display: &dyn Display, writes: bool) {
    println!("RAN ON {}", display.device());
    other_lengths_and_reaches(display);
    bytes_under_a_slice_stay(display);
    surfaces_of_another_size(display);
    a_silent_hook_ends_no_borrow(display, writes);
}

fn other_lengths_and_reaches(display: &dyn Display) {
    let desc = SurfaceDesc::buffer(LARGE as u64);
    let image = SurfaceDesc::image(512, 512, PixelFormat::Rgba8);
    let pixels = View::Image(ImageView::packed(Extent::new(512, 512), PixelFormat::Rgba8, 1, 0, false).unwrap());
    let mut surface = display.create_surface(&desc).unwrap();
    surface.upload(&SurfacePart::full(&desc), &vec![7; LARGE], &all(LARGE)).unwrap();
    let reaches = || [Reach::Never, Reach::EachFill, Reach::Address(HostBlock::allocate(LARGE).unwrap())];
    for reach in reaches() {
        let what = format!("{reach:?}");
        let mut long = around(display, persistent(display, SMALL), LARGE, reach);
        refused(surface.upload_staged(&SurfacePart::full(&desc), &mut long, &all(LARGE)), &what);
        let mut texture = display.create_surface(&image).unwrap();
        refused(texture.upload_staged(&SurfacePart::full(&image), &mut long, &pixels), &what);
        for (of, view) in [(&desc, all(LARGE)), (&image, pixels)] {
            if let Ok(mut shown) = display.create_in_place_surface(of) {
                refused(shown.read_in_place(&long, &view), &what);
            }
        }
        let done = surface.download(&SurfacePart::full(&desc), &mut long, &all(LARGE));
        // A display that does not write blocks itself fills one through the driver in front, which gave an address of its own.
        if done.is_err() || long.host_block().is_none() {
            refused(done, &what);
        }
    }
    assert!(surface.read_back(&SurfacePart::full(&desc)).unwrap() == vec![7; LARGE], "no byte was changed");
}

fn bytes_under_a_slice_stay(display: &dyn Display) {
    let desc = SurfaceDesc::buffer(LARGE as u64);
    let mut surface = display.create_surface(&desc).unwrap();
    surface.upload(&SurfacePart::full(&desc), &vec![7; LARGE], &all(LARGE)).unwrap();
    let staging = persistent(display, LARGE);
    let block = staging.host_block().unwrap();
    block.write(0..LARGE, Holder::Guard).unwrap().fill(1);
    let mut unlisted = around(display, staging, LARGE, Reach::Never);
    let held = block.read(0..LARGE, Holder::Guard).unwrap();
    refused(surface.download(&SurfacePart::full(&desc), &mut unlisted, &all(LARGE)), "a block that says Never");
    unlisted.wait().unwrap();
    display.finish().unwrap();
    assert!(held.iter().all(|byte| *byte == 1), "bytes changed under a slice");
}

fn surfaces_of_another_size(display: &dyn Display) {
    for (small, large) in [
        (SurfaceDesc::buffer(64), SurfaceDesc::buffer(LARGE as u64)),
        (SurfaceDesc::image(4, 4, PixelFormat::Rgba8), SurfaceDesc::image(512, 512, PixelFormat::Rgba8)),
    ] {
        let mut hostile = around_surface(display, display.create_surface(&small).unwrap(), &large);
        refused(display.draw_offscreen(&hostile), "a draw of a surface around another");
        let view = match &large {
            SurfaceDesc::Image(image) => {
                View::Image(ImageView::packed(image.extent, image.format, 1, 0, false).unwrap())
            }
            SurfaceDesc::Buffer(_) => all(LARGE),
        };
        let whole = SurfacePart::full(&large);
        refused(hostile.upload(&whole, &vec![1; LARGE], &view), "an upload through it");
        refused(hostile.upload_staged(&whole, &mut persistent(display, LARGE), &view), "a staged upload through it");
        refused(hostile.read_back(&whole), "what it reads back");
    }
}

fn a_silent_hook_ends_no_borrow(display: &dyn Display, writes: bool) {
    let desc = SurfaceDesc::buffer(LARGE as u64);
    let mut surface = display.create_surface(&desc).unwrap();
    surface.upload(&SurfacePart::full(&desc), &vec![7; LARGE], &all(LARGE)).unwrap();
    let mut staging = persistent(display, LARGE).watched(Watch::new(Arc::new(Silent), ()));
    let block = staging.host_block().unwrap();
    surface.download(&SurfacePart::full(&desc), &mut staging, &all(LARGE)).unwrap();
    staging.fence().unwrap();
    staging.wait().unwrap();
    let read = block.read(0..LARGE, Holder::Guard);
    if writes {
        let error = read.err().expect("nobody waited, so the display may still write").to_string();
        assert!(error.contains("Staging::wait"), "{error}");
        drop(staging);
        assert!(block.read(0..LARGE, Holder::Guard).is_err(), "nor did anybody when the block went");
    } else {
        assert!(read.unwrap().iter().all(|byte| *byte == 7));
    }
}
