//! Surfaces and staging blocks, byte by byte.

use crate::{noise, on_every_display_and_apart as on_every_display};
use compute_display::ComputeDisplay;
use interop_core::{
    BufferView, Display, Error, Extent, HandleType, HostBlock, ImageView, MemoryShape, Part, PixelFormat, Region,
    Result, Staging, StagingKind, SurfaceDesc, View,
};
use std::sync::Arc;

/// Tight rows of what `view` describes.
fn rows_of(bytes: &[u8], view: &ImageView) -> Vec<u8> {
    (0..view.extent.height).flat_map(|y| bytes[view.row(y)].to_vec()).collect()
}

fn filled(mut staging: Box<dyn Staging>, bytes: &[u8]) -> Box<dyn Staging> {
    staging.wait().unwrap();
    let fill = &mut |to: &mut [u8]| {
        to.copy_from_slice(bytes);
        Ok(())
    };
    staging.map_write(fill).unwrap();
    staging
}

/// A block of each kind that the display makes.
fn blocks(display: &ComputeDisplay, bytes: &[u8]) -> Vec<(bool, Box<dyn Staging>)> {
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

fn invalid<T>(outcome: Result<T>) {
    match outcome {
        Err(Error::InvalidInput { .. }) => {}
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("accepted"),
    }
}

#[test]
fn every_format_goes_in_and_comes_out_by_every_way() {
    on_every_display(|display| {
        for format in PixelFormat::ALL {
            let bpp = format.bytes_per_pixel();
            for (alignment, base, reversed) in [(1, 0, false), (64, 3 * bpp, false), (32, bpp, true)] {
                let desc = SurfaceDesc::image(13, 9, format);
                let view = ImageView::packed(Extent::new(13, 9), format, alignment, base, reversed).unwrap();
                let bytes = noise(view.span().end + 3);
                let (full, expected) = (Part::full(&desc), rows_of(&bytes, &view));
                let part = Region::new(2, 3, 4, 5);
                let seen = ImageView { extent: part.extent(), ..view.moved_to(view.row_start(3) + 2 * bpp) };

                let mut surface = display.create_surface(&desc).unwrap();
                assert!(surface.read_back(&full).unwrap().iter().all(|b| *b == 0));
                surface.upload(&full, &bytes, &View::Image(view)).unwrap();
                assert_eq!(surface.read_back(&full).unwrap(), expected);
                assert_eq!(surface.read_back(&Part::Image(part)).unwrap(), rows_of(&bytes, &seen));

                for (in_place, mut staging) in blocks(display, &bytes) {
                    let mut surface = display.create_surface(&desc).unwrap();
                    surface.upload_staged(&full, staging.as_mut(), &View::Image(view)).unwrap();
                    staging.fence().unwrap();
                    staging.wait().unwrap();
                    assert_eq!(surface.read_back(&full).unwrap(), expected);
                    // A part of it elsewhere.
                    surface
                        .upload_staged(&Part::Image(Region { x: 5, ..part }), staging.as_mut(), &View::Image(seen))
                        .unwrap();
                    let moved = surface.read_back(&Part::Image(Region { x: 5, ..part })).unwrap();
                    assert_eq!(moved, rows_of(&bytes, &seen));
                    let mut shown = display.create_in_place_surface(&desc).unwrap();
                    let outcome = shown.read_in_place(staging.as_ref(), &View::Image(view));
                    if !in_place {
                        assert!(matches!(outcome, Err(Error::Unsupported { .. })));
                        continue;
                    }
                    outcome.unwrap();
                    drop(staging);
                    assert_eq!(shown.read_back(&full).unwrap(), expected);
                    assert_eq!(shown.read_back(&Part::Image(part)).unwrap(), rows_of(&bytes, &seen));
                    display.draw_offscreen(shown.as_ref()).unwrap();
                    display.finish().unwrap();
                }
            }
        }
    });
}

#[test]
fn buffers_and_their_parts() {
    on_every_display(|display| {
        let desc = SurfaceDesc::buffer(10_001);
        let bytes = noise(10_010);
        let mut surface = display.create_surface(&desc).unwrap();
        let view = |offset, len| View::Buffer(BufferView { offset, len });
        surface.upload(&Part::full(&desc), &bytes, &view(9, 10_001)).unwrap();
        assert_eq!(surface.read_back(&Part::full(&desc)).unwrap(), bytes[9..]);
        surface.upload(&Part::Buffer(5000..5003), &[1, 2, 3], &view(0, 3)).unwrap();
        assert_eq!(surface.read_back(&Part::Buffer(4999..5004)).unwrap(), [bytes[5008], 1, 2, 3, bytes[5012]]);
        display.draw_offscreen(surface.as_ref()).unwrap();
        for (in_place, mut staging) in blocks(display, &bytes) {
            for offset in [0, 2, 8] {
                surface.upload_staged(&Part::full(&desc), staging.as_mut(), &view(offset, 10_001)).unwrap();
                assert_eq!(surface.read_back(&Part::full(&desc)).unwrap(), bytes[offset..offset + 10_001]);
            }
            if in_place {
                let mut shown = display.create_in_place_surface(&desc).unwrap();
                shown.read_in_place(staging.as_ref(), &view(4, 10_001)).unwrap();
                assert_eq!(shown.read_back(&Part::Buffer(1..3)).unwrap(), bytes[5..7]);
                display.draw_offscreen(shown.as_ref()).unwrap();
                invalid(shown.read_in_place(staging.as_ref(), &view(4, 10_000)));
            }
        }
    });
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    on_every_display(|display| {
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
        invalid(surface.upload(&image(u32::MAX, 0, 2, 1), &bytes, &packed(2, 1, PixelFormat::Rgba8)));
        invalid(surface.upload(&full, &bytes, &View::Buffer(BufferView { offset: 0, len: 256 })));
        invalid(surface.read_back(&image(0, 0, 9, 1)));
        invalid(surface.read_back(&Part::Buffer(0..4)));
        for (_, mut staging) in blocks(display, &noise(300)) {
            let odd = ImageView { offset: 2, row_pitch: 32, extent: Extent::new(8, 8), format: PixelFormat::Rgba8 };
            invalid(surface.upload_staged(&full, staging.as_mut(), &View::Image(odd)));
            let mut shown = display.create_in_place_surface(&desc).unwrap();
            invalid(shown.read_in_place(staging.as_ref(), &View::Image(odd)));
            let outside = ImageView { offset: 48, ..odd };
            invalid(shown.read_in_place(staging.as_ref(), &View::Image(outside)));
            invalid(surface.read_in_place(staging.as_ref(), &packed(8, 8, PixelFormat::Rgba8)));
        }
        assert!(surface.read_back(&full).unwrap().iter().all(|b| *b == 0));
        for desc in [
            SurfaceDesc::image(0, 1, PixelFormat::R8),
            SurfaceDesc::image(u32::MAX, u32::MAX, PixelFormat::Rgba32F),
            SurfaceDesc::image(1 << 19, 1 << 19, PixelFormat::Rgba32F),
            SurfaceDesc::buffer(0),
            SurfaceDesc::buffer(1 << 60),
        ] {
            for made in [display.create_surface(&desc), display.create_in_place_surface(&desc)] {
                assert!(matches!(made, Err(Error::InvalidInput { .. } | Error::Unsupported { .. })), "{desc}");
            }
        }
        invalid(display.create_staging(StagingKind::Persistent, 0));
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
            assert!(matches!(surface.read_back(&Part::full(&desc)), Err(Error::NothingShown)));
            surface.read_in_place(staging.as_ref(), &view).unwrap();
            assert_eq!(surface.read_back(&Part::full(&desc)).unwrap(), [1, 2]);
            staging.fence().unwrap();
            staging.wait().unwrap();
            let mut refused = false;
            let fill = &mut |bytes: &mut [u8]| {
                // Shown and written at the same time would be a torn frame.
                refused = surface.read_back(&Part::full(&desc)).is_err();
                bytes.copy_from_slice(&[3, 4]);
                Ok(())
            };
            staging.map_write(fill).unwrap();
            assert!(refused);
            assert_eq!(surface.read_back(&Part::full(&desc)).unwrap(), [3, 4]);
        }
    });
}

#[test]
fn objects_of_other_displays_are_foreign() {
    on_every_display(|mine| {
        let other = ComputeDisplay::on(Arc::clone(mine.backend())).unwrap();
        let desc = SurfaceDesc::image(8, 8, PixelFormat::Rgba8);
        let view = View::Image(ImageView::packed(Extent::new(8, 8), PixelFormat::Rgba8, 1, 0, false).unwrap());
        let mut block = other.create_staging(StagingKind::Persistent, 256).unwrap();
        let mut stored = mine.create_surface(&desc).unwrap();
        let outcome = stored.upload_staged(&Part::full(&desc), block.as_mut(), &view);
        assert!(matches!(outcome, Err(Error::Foreign { .. })));
        let mut shown = mine.create_in_place_surface(&desc).unwrap();
        assert!(matches!(shown.read_in_place(block.as_ref(), &view), Err(Error::Foreign { .. })));
        assert!(matches!(other.draw_offscreen(stored.as_ref()), Err(Error::Foreign { .. })));
        assert!(matches!(stored.export(HandleType::GlObject), Err(Error::Unsupported { .. })));
    });
}
