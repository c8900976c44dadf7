//! Surfaces and staging blocks, byte by byte.

use crate::apart::Apart;
use crate::{backends, noise, on_every_display_and_apart as on_every_display};
use compute_display::ComputeDisplay;
use interop_core::conformance::{Surfaces, fill};
use interop_core::{
    Display, Error, Extent, HandleType, HostBlock, ImageView, MemoryShape, PixelFormat, Staging, StagingKind,
    SurfaceDesc, SurfacePart, View,
};
use pixelferry_testing::by_level;
use std::sync::Arc;

fn filled(mut staging: Staging, bytes: &[u8]) -> Staging {
    fill(&mut staging, bytes).unwrap();
    staging
}

/// A block of each kind that the display makes.
fn blocks(display: &ComputeDisplay, bytes: &[u8]) -> Vec<(bool, Staging)> {
    let backend = display.backend();
    let reads_host = backend.caps().can_import(HandleType::HostPointer, MemoryShape::Linear).is_yes();
    let mut kinds = vec![(reads_host, StagingKind::Orphaned), (reads_host, StagingKind::Persistent)];
    let block = HostBlock::allocate(bytes.len()).unwrap();
    if reads_host {
        kinds.push((true, StagingKind::Imported(block)));
    } else {
        let refused = display.create_staging(StagingKind::Imported(block), bytes.len());
        assert!(matches!(refused, Err(Error::Unsupported { .. })));
    }
    let own = HandleType::QueueBuffer(backend.caps().display_queue().unwrap());
    let (memory, handle) = backend.allocate_shared(bytes.len(), own, display.device()).unwrap();
    kinds.push((true, StagingKind::External(handle)));
    drop(memory);
    let made = |(in_place, kind)| (in_place, filled(display.create_staging(kind, bytes.len()).unwrap(), bytes));
    kinds.into_iter().map(made).collect()
}

#[test]
fn surfaces_and_blocks_are_as_every_displays() {
    for backend in backends() {
        for backend in [Arc::clone(&backend), Apart::over(backend)] {
            let open = || Ok(ComputeDisplay::on(Arc::clone(&backend))? as Arc<dyn Display>);
            let sizes = [(13, 9), (1, 1), (64, 20)];
            let sizes = &sizes[..by_level(1, 3, 3)];
            let ways = Surfaces { open: &open, sizes, any_rows: false }.check().unwrap();
            assert!(ways.staged > 0, "{ways:?}");
        }
    }
}

/// Memory of the backend's own, from an offset.
#[test]
fn memory_of_the_backend_is_shown_where_it_lies() {
    on_every_display(|display| {
        let backend = display.backend();
        for format in PixelFormat::ALL {
            let (bpp, desc) = (format.bytes_per_pixel(), SurfaceDesc::image(13, 9, format));
            for (alignment, base) in [(64, 3 * bpp), (32, bpp)] {
                let view = ImageView::packed(Extent::new(13, 9), format, alignment, base, false).unwrap();
                let bytes = noise(view.span().end + 3);
                for (_, staging) in blocks(display, &bytes).into_iter().filter(|(in_place, _)| *in_place) {
                    let mut shown = display.create_in_place_surface(&desc).unwrap();
                    shown.read_in_place(&staging, &View::Image(view)).unwrap();
                    drop(staging);
                    let rows: Vec<u8> = (0..9).flat_map(|y| bytes[view.row(y)].to_vec()).collect();
                    assert_eq!(shown.read_back(&SurfacePart::full(&desc)).unwrap(), rows);
                    display.draw_offscreen(&shown).unwrap();
                }
            }
        }
        let block = HostBlock::allocate(64).unwrap();
        let taken = display.create_staging(StagingKind::Imported(block), 64).is_ok();
        assert_eq!(taken, backend.caps().can_import(HandleType::HostPointer, MemoryShape::Linear).is_yes());
        assert!(display.create_staging(StagingKind::Exported, 16).is_err());
    });
}

#[test]
fn shown_bytes_are_not_read_while_they_are_filled() {
    on_every_display(|display| {
        let desc = SurfaceDesc::image(2, 1, PixelFormat::R8);
        let view = View::Image(ImageView::packed(Extent::new(2, 1), PixelFormat::R8, 1, 0, false).unwrap());
        for (_, mut staging) in blocks(display, &[1, 2]).into_iter().filter(|(in_place, _)| *in_place) {
            let mut surface = display.create_in_place_surface(&desc).unwrap();
            assert!(matches!(surface.read_back(&SurfacePart::full(&desc)), Err(Error::NothingShown)));
            surface.read_in_place(&staging, &view).unwrap();
            assert_eq!(surface.read_back(&SurfacePart::full(&desc)).unwrap(), [1, 2]);
            staging.fence().unwrap();
            staging.wait().unwrap();
            let mut refused = false;
            let fill = &mut |bytes: &mut [u8]| {
                // Shown and written at the same time would be a torn frame.
                refused = surface.read_back(&SurfacePart::full(&desc)).is_err();
                bytes.copy_from_slice(&[3, 4]);
                Ok(())
            };
            staging.map_write(fill).unwrap();
            assert!(refused);
            assert_eq!(surface.read_back(&SurfacePart::full(&desc)).unwrap(), [3, 4]);
        }
    });
}

#[test]
fn objects_of_other_displays_are_foreign() {
    on_every_display(|mine| {
        let other = ComputeDisplay::on(Arc::clone(mine.backend())).unwrap();
        let stored = mine.create_surface(&SurfaceDesc::image(8, 8, PixelFormat::Rgba8)).unwrap();
        assert!(matches!(other.draw_offscreen(&stored), Err(Error::Foreign { .. })));
        assert!(matches!(stored.export(HandleType::GlObject), Err(Error::Unsupported { .. })));
    });
}
