//! The display in plain memory.

use cpu_fallback::MemoryDisplay;
use interop_core::conformance::{Surfaces, fill};
use interop_core::{
    Api, Display, Error, Extent, HostBlock, ImageView, MemoryKind, Part, PixelFormat, Region, Result, RowOrder,
    Staging, StagingKind, Surface, SurfaceDesc, View,
};
use proptest::prelude::*;
use std::any::Any;
use std::ops::Range;
use std::rc::Rc;

/// Bytes that differ from their neighbours.
fn noise(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i as u32).wrapping_mul(0x9E37_79B1).to_be_bytes()[0]).collect()
}

/// Tight rows of what `view` describes.
fn rows_of(bytes: &[u8], view: &ImageView) -> Vec<u8> {
    (0..view.extent.height).flat_map(|y| bytes[view.row(y)].to_vec()).collect()
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
fn surfaces_and_blocks_are_as_every_displays() {
    let open = || Ok(MemoryDisplay::new() as Rc<dyn Display>);
    let sizes = [(13, 9), (1, 1), (64, 20)];
    let ways = Surfaces { open: &open, sizes: &sizes, any_rows: true, reversed: true }.check().unwrap();
    assert!(ways.in_place > 0 && ways.refused == 0, "{ways:?}");
}

#[test]
fn in_place_surfaces_follow_their_block() {
    let display = MemoryDisplay::new();
    let desc = SurfaceDesc::image(2, 1, PixelFormat::R8);
    let view = View::Image(ImageView::packed(Extent::new(2, 1), PixelFormat::R8, 1, 0, false).unwrap());
    let mut staging = display.create_staging(StagingKind::Persistent, 2).unwrap();
    fill(staging.as_mut(), &[1, 2]).unwrap();
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
