//! Surfaces: what goes up comes back, byte by byte, by every way up.
#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests may panic as tests may

mod common;
#[path = "common/engine.rs"]
mod engine;
#[path = "common/es.rs"]
mod es;

use common::{assert_same, expected, image_view, pattern, read_all, tight};
use es::{all_displays, formats};
use gl_display::GlDisplay;
use interop_core::devices::borrows::Holder;
use interop_core::display::{Display, Part, Staging, StagingKind};
use interop_core::{BufferView, Error, HostBlock, Region, SurfaceDesc, View};

const SIZES: [(u32, u32); 6] = [(1, 1), (1, 7), (33, 17), (101, 3), (256, 64), (3, 200)];

/// Every kind of staging that the display has.
fn stagings(display: &GlDisplay, bytes: usize) -> Vec<(&'static str, Box<dyn Staging>)> {
    let caps = display.caps();
    let mut all = vec![("orphaned", display.create_staging(StagingKind::Orphaned, bytes).unwrap())];
    if caps.persistent_staging.is_yes() {
        all.push(("persistent", display.create_staging(StagingKind::Persistent, bytes).unwrap()));
    }
    if caps.can_import(interop_core::HandleType::HostPointer, interop_core::MemoryShape::Linear).is_yes() {
        let block = HostBlock::allocate(bytes).unwrap();
        all.push(("imported", display.create_staging(StagingKind::Imported(block), bytes).unwrap()));
    }
    all
}

/// Where there are no buffer textures, that is said.
fn reads_in_place(display: &GlDisplay) -> bool {
    let has = display.caps().in_place_images.is_yes();
    assert_eq!(has, !display.is_es() || display.version() >= (3, 2));
    if !has {
        let desc = SurfaceDesc::image(4, 4, interop_core::PixelFormat::Rgba8);
        let staging = display.create_staging(StagingKind::Orphaned, 64).unwrap();
        let refused = display.create_in_place_surface(&desc).unwrap().read_in_place(staging.as_ref(), &tight(&desc));
        assert!(matches!(&refused, Err(Error::Unsupported { reason, .. }) if reason.contains("3.2")), "{refused:?}");
    }
    has
}

fn fill(staging: &mut dyn Staging, bytes: &[u8]) {
    staging.wait().unwrap();
    staging
        .map_write(&mut |to| {
            to[..bytes.len()].copy_from_slice(bytes);
            Ok(())
        })
        .unwrap();
}

#[test]
fn surfaces_begin_as_zero() {
    for display in all_displays() {
        for format in formats(&display) {
            let mut surface = display.create_surface(&SurfaceDesc::image(37, 21, format)).unwrap();
            assert!(read_all(surface.as_mut()).iter().all(|b| *b == 0), "{format}");
        }
        let mut buffer = display.create_surface(&SurfaceDesc::buffer(5001)).unwrap();
        assert_same("buffer", &[0; 5001], &read_all(buffer.as_mut()));
    }
}

#[test]
fn large_surfaces_begin_as_zero() {
    for display in all_displays() {
        // More than one piece of zeros.
        let mut surface =
            display.create_surface(&SurfaceDesc::image(1920, 700, interop_core::PixelFormat::Rgba8)).unwrap();
        assert!(read_all(surface.as_mut()).iter().all(|b| *b == 0));
        let mut buffer = display.create_surface(&SurfaceDesc::buffer(9_000_001)).unwrap();
        assert!(read_all(buffer.as_mut()).iter().all(|b| *b == 0));
    }
}

#[test]
fn images_from_client_memory() {
    for display in all_displays() {
        for format in formats(&display) {
            let bpp = format.bytes_per_pixel();
            for (width, height) in SIZES {
                let desc = SurfaceDesc::image(width, height, format);
                let mut surface = display.create_surface(&desc).unwrap();
                // Tight; padded by pixels; padded by bytes that GL cannot express; at odd offsets.
                let row = width as usize * bpp;
                for (nonce, (offset, pitch)) in (1..).zip([(0, row), (3, row), (0, row + 5 * bpp), (1, row + 3)]) {
                    let view = image_view(width, height, format, offset, pitch);
                    let bytes = pattern(&view, nonce);
                    surface.upload(&Part::full(&desc), &bytes, &view).unwrap();
                    let what = format!("{:?} {desc} offset {offset} pitch {pitch}", display.version());
                    assert_same(&what, &expected(&view, nonce), &read_all(surface.as_mut()));
                }
            }
        }
    }
}

#[test]
fn images_from_every_staging() {
    for display in all_displays() {
        for format in formats(&display) {
            let (bpp, channel) = (format.bytes_per_pixel(), format.channel_kind().bytes());
            for (width, height) in SIZES {
                let desc = SurfaceDesc::image(width, height, format);
                let mut surface = display.create_surface(&desc).unwrap();
                let row = width as usize * bpp;
                for (name, mut staging) in stagings(&display, row * 3 * height as usize + 64) {
                    let layouts = [(0, row), (channel, row), (4 * bpp, row + bpp), (channel * 3, row + channel)];
                    for (nonce, (offset, pitch)) in (10..).zip(layouts) {
                        let view = image_view(width, height, format, offset, pitch);
                        fill(staging.as_mut(), &pattern(&view, nonce));
                        surface.upload_staged(&Part::full(&desc), staging.as_mut(), &view).unwrap();
                        staging.fence().unwrap();
                        let what = format!("{name} {desc} offset {offset} pitch {pitch}");
                        assert_same(&what, &expected(&view, nonce), &read_all(surface.as_mut()));
                    }
                }
            }
        }
    }
}

#[test]
fn images_in_place() {
    for display in all_displays().filter(|display| reads_in_place(display)) {
        for format in formats(&display) {
            let bpp = format.bytes_per_pixel();
            for (width, height) in SIZES {
                let desc = SurfaceDesc::image(width, height, format);
                let mut surface = display.create_in_place_surface(&desc).unwrap();
                assert!(matches!(surface.read_back(&Part::full(&desc)), Err(Error::NothingShown)));
                let row = width as usize * bpp;
                for (name, mut staging) in stagings(&display, row * 3 * height as usize + 256) {
                    for (nonce, (offset, pitch)) in (20..).zip([(0, row), (3 * bpp, row + 2 * bpp)]) {
                        let view = image_view(width, height, format, offset, pitch);
                        fill(staging.as_mut(), &pattern(&view, nonce));
                        surface.read_in_place(staging.as_ref(), &view).unwrap();
                        let what = format!("{name} {desc} offset {offset} pitch {pitch}");
                        assert_same(&what, &expected(&view, nonce), &read_all(surface.as_mut()));
                        staging.fence().unwrap();
                    }
                }
            }
        }
    }
}

#[test]
fn an_in_place_surface_keeps_its_block() {
    for display in all_displays().filter(|display| reads_in_place(display)) {
        let desc = SurfaceDesc::image(16, 16, interop_core::PixelFormat::Rgba8);
        let mut surface = display.create_in_place_surface(&desc).unwrap();
        for (name, mut staging) in stagings(&display, 1024) {
            let view = tight(&desc);
            fill(staging.as_mut(), &pattern(&view, 30)[..1024]);
            surface.read_in_place(staging.as_ref(), &view).unwrap();
            drop(staging);
            assert_same(name, &expected(&view, 30), &read_all(surface.as_mut()));
        }
    }
}

#[test]
fn regions_leave_the_rest() {
    for display in all_displays() {
        for format in formats(&display) {
            let bpp = format.bytes_per_pixel();
            let desc = SurfaceDesc::image(37, 23, format);
            let mut surface = display.create_surface(&desc).unwrap();
            let whole = tight(&desc);
            surface.upload(&Part::full(&desc), &pattern(&whole, 40), &whole).unwrap();
            let mut shown = expected(&whole, 40);
            let regions = [Region::new(0, 0, 1, 1), Region::new(3, 5, 17, 9), Region::new(36, 22, 1, 1)];
            for (nonce, region) in (41..).zip(regions) {
                let view = image_view(region.width, region.height, format, 2 * bpp, region.width as usize * bpp);
                let bytes = pattern(&view, nonce);
                if nonce % 2 == 0 {
                    let (_, mut staging) = stagings(&display, bytes.len()).pop().unwrap();
                    fill(staging.as_mut(), &bytes);
                    surface.upload_staged(&Part::Image(region), staging.as_mut(), &view).unwrap();
                } else {
                    surface.upload(&Part::Image(region), &bytes, &view).unwrap();
                }
                let tight_part = expected(&view, nonce);
                for (y, row) in tight_part.chunks(region.width as usize * bpp).enumerate() {
                    let at = ((region.y as usize + y) * 37 + region.x as usize) * bpp;
                    shown[at..at + row.len()].copy_from_slice(row);
                }
                assert_same(&format!("{format} {region}"), &shown, &read_all(surface.as_mut()));
                assert_same("part", &tight_part, &surface.read_back(&Part::Image(region)).unwrap());
            }
        }
    }
}

#[test]
fn buffers_by_every_way() {
    for display in all_displays() {
        for bytes in [1usize, 4, 4095, 80_001] {
            let desc = SurfaceDesc::buffer(bytes as u64);
            let mut own = display.create_surface(&desc).unwrap();
            let mut in_place = display.create_in_place_surface(&desc).unwrap();
            let view = View::Buffer(BufferView { offset: 5, len: bytes });
            own.upload(&Part::full(&desc), &pattern(&view, 1), &view).unwrap();
            assert_same("client", &expected(&view, 1), &read_all(own.as_mut()));
            for (nonce, (name, mut staging)) in (2..).zip(stagings(&display, bytes + 12)) {
                fill(staging.as_mut(), &pattern(&view, nonce));
                own.upload_staged(&Part::full(&desc), staging.as_mut(), &view).unwrap();
                in_place.read_in_place(staging.as_ref(), &view).unwrap();
                staging.fence().unwrap();
                assert_same(name, &expected(&view, nonce), &read_all(own.as_mut()));
                assert_same(name, &expected(&view, nonce), &read_all(in_place.as_mut()));
                let buffer = display.surface_buffer(in_place.as_ref()).unwrap();
                assert_eq!((buffer.offset, buffer.len), (5, bytes));
            }
            if bytes > 100 {
                let part = View::Buffer(BufferView { offset: 0, len: 10 });
                own.upload(&Part::Buffer(50..60), &[7; 10], &part).unwrap();
                assert_eq!(own.read_back(&Part::Buffer(49..61)).unwrap()[1..11], [7; 10]);
                assert_ne!(own.read_back(&Part::Buffer(49..61)).unwrap()[0], 7);
            }
        }
    }
}

#[test]
fn mapped_memory_is_what_gl_reads() {
    for display in all_displays() {
        for (name, mut staging) in stagings(&display, 64 * 4) {
            let Some(host) = staging.host_block() else {
                assert_eq!(name, "orphaned");
                continue;
            };
            assert!(host.len() >= staging.len());
            fill(staging.as_mut(), &[9; 256]);
            assert_eq!(*host.read(0..256, Holder::Guard, "a test").unwrap(), [9; 256], "{name}");
            let desc = SurfaceDesc::image(64, 1, interop_core::PixelFormat::Rgba8);
            let mut surface = display.create_surface(&desc).unwrap();
            host.write(0..256, Holder::Guard, "a test").unwrap().fill(0x5a);
            surface.upload_staged(&Part::full(&desc), staging.as_mut(), &tight(&desc)).unwrap();
            assert_same(name, &[0x5a; 256], &read_all(surface.as_mut()));
        }
    }
}

#[test]
fn many_frames_round_a_ring() {
    for display in all_displays() {
        let desc = SurfaceDesc::image(65, 33, interop_core::PixelFormat::Rgba8);
        let view = tight(&desc);
        let mut surface = display.create_surface(&desc).unwrap();
        let mut ring: Vec<_> = (0..3).flat_map(|_| stagings(&display, 65 * 33 * 4 + 7)).collect();
        let before = display.object_counts();
        for nonce in 0..60u32 {
            let slot = nonce as usize % ring.len();
            let (name, staging) = &mut ring[slot];
            fill(staging.as_mut(), &pattern(&view, nonce));
            surface.upload_staged(&Part::full(&desc), staging.as_mut(), &view).unwrap();
            staging.fence().unwrap();
            assert_same(name, &expected(&view, nonce), &read_all(surface.as_mut()));
        }
        ring.iter_mut().for_each(|(_, s)| s.wait().unwrap());
        let mut after = display.object_counts();
        // The quad is made at the first read.
        (after.programs, after.vertex_arrays, after.samplers) =
            (before.programs, before.vertex_arrays, before.samplers);
        assert_eq!(after, before);
    }
}

#[test]
fn an_unfenced_block_is_waited_for_all_the_same() {
    for display in all_displays() {
        let desc = SurfaceDesc::image(512, 512, interop_core::PixelFormat::Rgba8);
        let view = tight(&desc);
        let mut surface = display.create_surface(&desc).unwrap();
        for (name, mut staging) in stagings(&display, 512 * 512 * 4 + 7) {
            fill(staging.as_mut(), &pattern(&view, 1));
            surface.upload_staged(&Part::full(&desc), staging.as_mut(), &view).unwrap();
            fill(staging.as_mut(), &pattern(&view, 2));
            assert_same(name, &expected(&view, 1), &read_all(surface.as_mut()));
        }
    }
}

#[test]
fn a_failing_fill_leaves_a_usable_block() {
    for display in all_displays() {
        for (name, mut staging) in stagings(&display, 100) {
            let failed = staging.map_write(&mut |_| Err(Error::NothingShown));
            assert!(matches!(failed, Err(Error::NothingShown)), "{name}");
            let caught =
                interop_core::describe::panics::catch(|| staging.map_write(&mut |_| panic!("as a kernel might")));
            assert!(caught.is_err());
            fill(staging.as_mut(), &[3; 100]);
            let mut surface = display.create_surface(&SurfaceDesc::buffer(100)).unwrap();
            let view = View::Buffer(BufferView { offset: 0, len: 100 });
            surface.upload_staged(&Part::Buffer(0..100), staging.as_mut(), &view).unwrap();
            assert_same(name, &[3; 100], &read_all(surface.as_mut()));
        }
    }
}
