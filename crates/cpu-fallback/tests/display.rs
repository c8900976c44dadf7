//! The display in plain memory.

// The settings for tests cover test functions only, not their helpers.
#![allow(clippy::unwrap_used, clippy::panic)]

use cpu_fallback::MemoryDisplay;
use interop_core::{
    Api, BufferView, Display, Error, Extent, HostBlock, ImageView, MemoryKind, Part, PixelFormat, Region, Result,
    RowOrder, Staging, StagingKind, Surface, SurfaceDesc, View,
};
use proptest::prelude::*;
use std::any::Any;
use std::ops::Range;

/// Bytes that differ from their neighbours.
fn noise(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i as u32).wrapping_mul(0x9E37_79B1).to_be_bytes()[0]).collect()
}

/// Tight rows of what `view` describes.
fn rows_of(bytes: &[u8], view: &ImageView) -> Vec<u8> {
    (0..view.extent.height).flat_map(|y| bytes[view.row(y)].to_vec()).collect()
}

fn staging(display: &MemoryDisplay, kind: StagingKind, bytes: &[u8]) -> Box<dyn Staging> {
    let mut staging = display.create_staging(kind, bytes.len()).unwrap();
    staging.wait().unwrap();
    staging
        .map_write(&mut |to| {
            to.copy_from_slice(bytes);
            Ok(())
        })
        .unwrap();
    staging
}

fn kinds(bytes: usize) -> [StagingKind; 3] {
    let block = HostBlock::allocate(bytes).unwrap();
    [StagingKind::Orphaned, StagingKind::Persistent, StagingKind::Imported(block)]
}

fn invalid<T>(outcome: Result<T>) {
    match outcome {
        Err(Error::InvalidInput { .. }) => {}
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("accepted"),
    }
}

#[test]
fn it_says_what_it_is() {
    let display = MemoryDisplay::new();
    let device = display.device();
    assert_eq!((device.api, device.name.as_str()), (Api::Cpu, "plain memory"));
    assert_eq!((device.memory, device.software), (MemoryKind::Host, true));
    assert_eq!(display.caps().native_row_order, RowOrder::TopDown);
}

#[test]
fn every_format_goes_in_and_comes_out_by_every_way() {
    let display = MemoryDisplay::new();
    for format in PixelFormat::ALL {
        for (alignment, base, reversed) in [(1, 0, false), (64, 7, false), (32, 5, true)] {
            let desc = SurfaceDesc::image(13, 9, format);
            let view = ImageView::packed(Extent::new(13, 9), format, alignment, base, reversed).unwrap();
            let bytes = noise(view.span().end + 3);
            let (full, expected) = (Part::full(&desc), rows_of(&bytes, &view));

            let mut surface = display.create_surface(&desc).unwrap();
            assert!(surface.read_back(&full).unwrap().iter().all(|b| *b == 0));
            surface.upload(&full, &bytes, &View::Image(view)).unwrap();
            assert_eq!(surface.read_back(&full).unwrap(), expected);

            for kind in kinds(bytes.len()) {
                let mut staging = staging(&display, kind, &bytes);
                let mut surface = display.create_surface(&desc).unwrap();
                surface.upload_staged(&full, staging.as_mut(), &View::Image(view)).unwrap();
                staging.fence().unwrap();
                assert_eq!(surface.read_back(&full).unwrap(), expected);

                let mut shown = display.create_in_place_surface(&desc).unwrap();
                shown.read_in_place(staging.as_ref(), &View::Image(view)).unwrap();
                drop(staging);
                assert_eq!(shown.read_back(&full).unwrap(), expected);
                let part = Region::new(2, 3, 4, 5);
                let at = ImageView {
                    extent: part.extent(),
                    ..view.moved_to(view.row_start(3) + 2 * format.bytes_per_pixel())
                };
                assert_eq!(shown.read_back(&Part::Image(part)).unwrap(), rows_of(&bytes, &at));
            }
        }
    }
}

#[test]
fn buffers_and_their_parts() {
    let display = MemoryDisplay::new();
    let desc = SurfaceDesc::buffer(10_001);
    let bytes = noise(10_010);
    let mut surface = display.create_surface(&desc).unwrap();
    let view = |offset, len| View::Buffer(BufferView { offset, len });
    surface.upload(&Part::full(&desc), &bytes, &view(9, 10_001)).unwrap();
    assert_eq!(surface.read_back(&Part::full(&desc)).unwrap(), bytes[9..]);
    surface.upload(&Part::Buffer(5000..5003), &[1, 2, 3], &view(0, 3)).unwrap();
    assert_eq!(surface.read_back(&Part::Buffer(4999..5004)).unwrap(), [bytes[5008], 1, 2, 3, bytes[5012]]);
    for kind in kinds(bytes.len()) {
        let mut staging = staging(&display, kind, &bytes);
        surface.upload_staged(&Part::full(&desc), staging.as_mut(), &view(2, 10_001)).unwrap();
        assert_eq!(surface.read_back(&Part::full(&desc)).unwrap(), bytes[2..10_003]);
        let mut shown = display.create_in_place_surface(&desc).unwrap();
        shown.read_in_place(staging.as_ref(), &view(4, 10_001)).unwrap();
        assert_eq!(shown.read_back(&Part::Buffer(1..3)).unwrap(), bytes[5..7]);
        invalid(shown.read_in_place(staging.as_ref(), &view(4, 10_000)));
    }
}

#[test]
fn in_place_surfaces_follow_their_block() {
    let display = MemoryDisplay::new();
    let desc = SurfaceDesc::image(2, 1, PixelFormat::R8);
    let view = View::Image(ImageView::packed(Extent::new(2, 1), PixelFormat::R8, 1, 0, false).unwrap());
    let mut staging = staging(&display, StagingKind::Persistent, &[1, 2]);
    let mut surface = display.create_in_place_surface(&desc).unwrap();
    assert!(matches!(surface.read_back(&Part::full(&desc)), Err(Error::NothingShown)));
    assert!(matches!(display.pixels_rgba8(surface.as_ref()), Err(Error::NothingShown)));
    surface.read_in_place(staging.as_ref(), &view).unwrap();
    staging
        .map_write(&mut |bytes| {
            // Shown and written at the same time would be a torn frame.
            assert!(surface.read_back(&Part::full(&desc)).is_err());
            bytes.copy_from_slice(&[3, 4]);
            Ok(())
        })
        .unwrap();
    assert_eq!(surface.read_back(&Part::full(&desc)).unwrap(), [3, 4]);
    invalid(surface.upload(&Part::full(&desc), &[0, 0], &view));
    let mut stored = display.create_surface(&desc).unwrap();
    invalid(stored.read_in_place(staging.as_ref(), &view));
}

#[test]
fn addresses_are_given_where_they_stay() {
    let display = MemoryDisplay::new();
    let block = HostBlock::allocate(100).unwrap();
    assert!(display.create_staging(StagingKind::Orphaned, 100).unwrap().host_block().is_none());
    let persistent = display.create_staging(StagingKind::Persistent, 100).unwrap();
    assert!(persistent.len() == 100 && persistent.host_block().unwrap().len() >= 100);
    let imported = display.create_staging(StagingKind::Imported(block.clone()), 100).unwrap();
    assert_eq!(imported.host_block().unwrap().address(), block.address());
    invalid(display.create_staging(StagingKind::Imported(block.clone()), block.len() + 1));
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let display = MemoryDisplay::new();
    let desc = SurfaceDesc::image(8, 8, PixelFormat::Rgba8);
    let mut surface = display.create_surface(&desc).unwrap();
    let bytes = noise(256);
    let packed = |w, h, format| View::Image(ImageView::packed(Extent::new(w, h), format, 1, 0, false).unwrap());
    let full = Part::full(&desc);
    let image = |x, y, w, h| Part::Image(Region::new(x, y, w, h));
    invalid(surface.upload(&full, &bytes[..255], &packed(8, 8, PixelFormat::Rgba8)));
    invalid(surface.upload(&full, &bytes, &packed(8, 8, PixelFormat::R32F)));
    invalid(surface.upload(&full, &bytes, &packed(8, 7, PixelFormat::Rgba8)));
    invalid(surface.upload(&image(1, 0, 8, 8), &bytes, &packed(8, 8, PixelFormat::Rgba8)));
    invalid(surface.upload(&image(0, 0, 0, 1), &bytes, &packed(8, 8, PixelFormat::Rgba8)));
    invalid(surface.upload(&image(u32::MAX, 0, 2, 1), &bytes, &packed(2, 1, PixelFormat::Rgba8)));
    invalid(surface.upload(&full, &bytes, &View::Buffer(BufferView { offset: 0, len: 256 })));
    invalid(surface.upload(&Part::Buffer(0..256), &bytes, &View::Buffer(BufferView { offset: 0, len: 256 })));
    let broken = ImageView { offset: 0, row_pitch: -32, extent: Extent::new(8, 8), format: PixelFormat::Rgba8 };
    invalid(surface.upload(&full, &bytes, &View::Image(broken)));
    invalid(surface.read_back(&image(0, 0, 9, 1)));
    invalid(surface.read_back(&Part::Buffer(0..4)));
    assert!(surface.read_back(&full).unwrap().iter().all(|b| *b == 0));
}

#[test]
fn impossible_surfaces_are_errors() {
    let display = MemoryDisplay::new();
    for desc in [
        SurfaceDesc::image(0, 1, PixelFormat::R8),
        SurfaceDesc::image(1, 0, PixelFormat::R8),
        SurfaceDesc::image(u32::MAX, u32::MAX, PixelFormat::Rgba32F),
        SurfaceDesc::image(1 << 20, 1 << 20, PixelFormat::Rgba32F),
        SurfaceDesc::buffer(0),
        SurfaceDesc::buffer(u64::MAX),
        SurfaceDesc::buffer(1 << 60),
    ] {
        for made in [display.create_surface(&desc), display.create_in_place_surface(&desc)] {
            assert!(matches!(made, Err(Error::InvalidInput { .. } | Error::Unsupported { .. })), "{desc}");
        }
    }
    invalid(display.create_staging(StagingKind::Persistent, 0));
    assert!(display.create_staging(StagingKind::Orphaned, usize::MAX).is_err());
}

/// A double: objects of another sort of display.
struct Stranger(SurfaceDesc);

impl Surface for Stranger {
    fn desc(&self) -> &SurfaceDesc {
        &self.0
    }
    fn upload(&mut self, _: &Part, _: &[u8], _: &View) -> Result<()> {
        Ok(())
    }
    fn upload_staged(&mut self, _: &Part, _: &mut dyn Staging, _: &View) -> Result<()> {
        Ok(())
    }
    fn read_in_place(&mut self, _: &dyn Staging, _: &View) -> Result<()> {
        Ok(())
    }
    fn read_back(&mut self, _: &Part) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Staging for Stranger {
    fn len(&self) -> usize {
        256
    }
    fn host_block(&self) -> Option<HostBlock> {
        None
    }
    fn wait(&mut self) -> Result<()> {
        Ok(())
    }
    fn map_write(&mut self, _: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        Ok(())
    }
    fn fence(&mut self) -> Result<()> {
        Ok(())
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

#[test]
fn objects_of_other_displays_are_foreign() {
    let (mine, other) = (MemoryDisplay::new(), MemoryDisplay::new());
    let desc = SurfaceDesc::image(8, 8, PixelFormat::Rgba8);
    let view = View::Image(ImageView::packed(Extent::new(8, 8), PixelFormat::Rgba8, 1, 0, false).unwrap());
    let blocks: [Box<dyn Staging>; 2] =
        [other.create_staging(StagingKind::Persistent, 256).unwrap(), Box::new(Stranger(desc))];
    for mut block in blocks {
        let mut stored = mine.create_surface(&desc).unwrap();
        let outcome = stored.upload_staged(&Part::full(&desc), block.as_mut(), &view);
        assert!(matches!(outcome, Err(Error::Foreign { .. })));
        let mut shown = mine.create_in_place_surface(&desc).unwrap();
        assert!(matches!(shown.read_in_place(block.as_ref(), &view), Err(Error::Foreign { .. })));
    }
    let surfaces: [Box<dyn Surface>; 2] = [other.create_surface(&desc).unwrap(), Box::new(Stranger(desc))];
    for surface in surfaces {
        assert!(matches!(mine.pixels_rgba8(surface.as_ref()), Err(Error::Foreign { .. })));
    }
    let export = mine.create_surface(&desc).unwrap().export(interop_core::HandleType::GlObject);
    assert!(matches!(export, Err(Error::Unsupported { .. })));
}

#[test]
fn pictures_for_saving() {
    let display = MemoryDisplay::new();
    let desc = SurfaceDesc::image(1, 2, PixelFormat::R32F);
    let mut surface = display.create_surface(&desc).unwrap();
    let floats: [f32; 2] = [1.0, 0.2];
    let view = View::Image(ImageView::packed(Extent::new(1, 2), PixelFormat::R32F, 1, 0, false).unwrap());
    surface.upload(&Part::full(&desc), bytemuck::cast_slice(&floats), &view).unwrap();
    let picture = display.pixels_rgba8(surface.as_ref()).unwrap();
    assert_eq!((picture.width, picture.height), (1, 2));
    assert_eq!(picture.data, [255, 255, 255, 255, 51, 51, 51, 255]);
    let buffer = display.create_surface(&SurfaceDesc::buffer(4)).unwrap();
    invalid(display.pixels_rgba8(buffer.as_ref()));
}

fn region_in(width: u32, height: u32) -> impl Strategy<Value = Region> {
    let span = |len: u32| (0..len).prop_flat_map(move |start| (Just(start), 1..=len - start));
    (span(width), span(height)).prop_map(|((x, w), (y, h))| Region::new(x, y, w, h))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_region_is_written_where_it_belongs(
        region in region_in(21, 17), format in 0..PixelFormat::ALL.len(), padding in 0usize..9, reversed in any::<bool>(),
    ) {
        let format = PixelFormat::ALL[format];
        let (bpp, extent) = (format.bytes_per_pixel(), Extent::new(21, 17));
        let desc = SurfaceDesc::image(21, 17, format);
        let display = MemoryDisplay::new();
        let mut surface = display.create_surface(&desc).unwrap();
        let pitch = region.width as usize * bpp + padding;
        let offset = if reversed { pitch * (region.height as usize - 1) } else { 0 };
        let row_pitch = if reversed { -(pitch as isize) } else { pitch as isize };
        let view = ImageView { offset, row_pitch, extent: region.extent(), format };
        let bytes: Vec<u8> = noise(pitch * region.height as usize).iter().map(|b| b | 1).collect();
        surface.upload(&Part::Image(region), &bytes, &View::Image(view)).unwrap();

        let mut expected = vec![0; 21 * 17 * bpp];
        for y in 0..region.height {
            let Range { start, end } = view.row(y);
            let at = ((region.y + y) as usize * extent.width as usize + region.x as usize) * bpp;
            expected[at..at + end - start].copy_from_slice(&bytes[start..end]);
        }
        prop_assert!(surface.read_back(&Part::full(&desc)).unwrap() == expected);
        prop_assert!(surface.read_back(&Part::Image(region)).unwrap() == rows_of(&bytes, &view));
    }
}
