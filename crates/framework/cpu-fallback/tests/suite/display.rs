//! The display in plain memory.

use cpu_fallback::MemoryDisplay;
use interop_core::conformance::{Surfaces, fill};
use interop_core::{
    Api, Display, Error, Extent, HostBlock, ImageView, MemoryKind, PixelFormat, Result, RowOrder, StagingKind,
    SurfaceDesc, SurfacePart, View,
};
use std::sync::Arc;

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
    let open = || Ok(MemoryDisplay::new() as Arc<dyn Display>);
    let sizes = [(13, 9), (1, 1), (64, 20)];
    let ways = Surfaces { open: &open, sizes: &sizes, any_rows: true }.check().unwrap();
    assert!(ways.in_place > 0 && ways.refused == 0, "{ways:?}");
}

#[test]
fn in_place_surfaces_follow_their_block() {
    let display = MemoryDisplay::new();
    let desc = SurfaceDesc::image(2, 1, PixelFormat::R8);
    let view = View::Image(ImageView::packed(Extent::new(2, 1), PixelFormat::R8, 1, 0, false).unwrap());
    let mut staging = display.create_staging(StagingKind::Persistent, 2).unwrap();
    fill(&mut staging, &[1, 2]).unwrap();
    let mut surface = display.create_in_place_surface(&desc).unwrap();
    assert!(matches!(surface.read_back(&SurfacePart::full(&desc)), Err(Error::NothingShown)));
    assert!(matches!(display.pixels_rgba8(&surface), Err(Error::NothingShown)));
    surface.read_in_place(&staging, &view).unwrap();
    staging
        .map_write(&mut |bytes| {
            // Shown and written at the same time would be a torn frame.
            assert!(surface.read_back(&SurfacePart::full(&desc)).is_err());
            bytes.copy_from_slice(&[3, 4]);
            Ok(())
        })
        .unwrap();
    assert_eq!(surface.read_back(&SurfacePart::full(&desc)).unwrap(), [3, 4]);
    invalid(surface.upload(&SurfacePart::full(&desc), &[0, 0], &view));
    let mut stored = display.create_surface(&desc).unwrap();
    invalid(stored.read_in_place(&staging, &view));
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
fn surfaces_of_other_displays_are_foreign() {
    let (mine, other) = (MemoryDisplay::new(), MemoryDisplay::new());
    let surface = other.create_surface(&SurfaceDesc::image(8, 8, PixelFormat::Rgba8)).unwrap();
    assert!(matches!(mine.pixels_rgba8(&surface), Err(Error::Foreign { .. })));
    assert!(matches!(surface.export(interop_core::HandleType::GlObject), Err(Error::Unsupported { .. })));
}

#[test]
fn pictures_for_saving() {
    let display = MemoryDisplay::new();
    let desc = SurfaceDesc::image(1, 2, PixelFormat::R32F);
    let mut surface = display.create_surface(&desc).unwrap();
    let floats: [f32; 2] = [1.0, 0.2];
    let view = View::Image(ImageView::packed(Extent::new(1, 2), PixelFormat::R32F, 1, 0, false).unwrap());
    surface.upload(&SurfacePart::full(&desc), bytemuck::cast_slice(&floats), &view).unwrap();
    let picture = display.pixels_rgba8(&surface).unwrap();
    assert_eq!((picture.width, picture.height), (1, 2));
    assert_eq!(picture.data, [255, 255, 255, 255, 51, 51, 51, 255]);
    let buffer = display.create_surface(&SurfaceDesc::buffer(4)).unwrap();
    invalid(display.pixels_rgba8(&buffer));
}

#[test]
fn hostile_drivers_get_errors() {
    crate::suite::hostile::hostile_drivers_get_errors(&*MemoryDisplay::new(), false);
}
