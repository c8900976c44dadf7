//! Surfaces: what goes up comes back, byte by byte, by every way up.

use crate::suite::common::{all_displays, formats, headless, tight};
use crate::suite::engine::Engine;
use interop_core::conformance::Surfaces;
use interop_core::display::{Display, StagingKind};
use interop_core::{Error, PixelFormat, Result, SurfaceDesc};
use pixelferry_gl::{GlDisplay, HeadlessOptions};
use pixelferry_testing::{Level, by_level, level};
use std::sync::Arc;

const SIZES: [(u32, u32); 6] = [(33, 17), (1, 1), (1, 7), (101, 3), (256, 64), (3, 200)];

fn check(open: &dyn Fn() -> Result<Arc<dyn Display>>) {
    let sizes = &SIZES[..by_level(1, 6, 6)];
    let ways = Surfaces { open, sizes, any_rows: true }.check().unwrap();
    assert!(ways.staged > 0, "{ways:?}");
}

#[test]
fn surfaces_and_blocks_are_as_every_displays() {
    let limits = [None, Some((3, 3))];
    for limit in limits {
        if headless(limit).is_some() {
            check(&|| {
                Ok(GlDisplay::headless(HeadlessOptions::default().with_version_limit(limit))? as Arc<dyn Display>)
            });
        }
    }
}

/// The driver's best, and what it would be without later versions and extensions.
#[test]
fn surfaces_and_blocks_of_opengl_es_are_as_every_displays() {
    let limits = [None, Some((3, 1)), Some((3, 0))];
    let ways = if level() == Level::Short { &limits[..1] } else { &limits };
    for limit in ways.iter().filter(|_| Engine::es().is_some()) {
        // The display keeps its context.
        check(&|| Ok(Engine::es().unwrap().pixelferry(*limit) as Arc<dyn Display>));
    }
}

/// Without buffer textures, an error says so.
#[test]
fn images_are_read_in_place_where_the_version_has_it() {
    for display in all_displays() {
        formats(&display);
        let has = display.caps().in_place_images.is_yes();
        assert_eq!(has, !display.is_es() || display.version() >= (3, 2));
        let desc = SurfaceDesc::image(4, 4, PixelFormat::Rgba8);
        let staging = display.create_staging(StagingKind::Orphaned, 64).unwrap();
        assert!(staging.host_block().is_none());
        let shown = display.create_in_place_surface(&desc).unwrap().read_in_place(&staging, &tight(&desc));
        let told = matches!(&shown, Err(Error::Unsupported { reason, .. }) if reason.contains("3.2"));
        assert!(has && shown.is_ok() || !has && told, "{shown:?}");
    }
}

/// Names of objects that a ring of blocks uses again and again.
#[test]
fn many_frames_round_a_ring_make_nothing_new() {
    for display in all_displays() {
        let desc = SurfaceDesc::image(65, 33, PixelFormat::Rgba8);
        let (all, view) = (interop_core::SurfacePart::full(&desc), tight(&desc));
        let mut surface = display.create_surface(&desc).unwrap();
        surface.read_back(&all).unwrap();
        let mut ring: Vec<_> =
            (0..3).map(|_| display.create_staging(StagingKind::Orphaned, 65 * 33 * 4 + 7).unwrap()).collect();
        let before = display.object_counts();
        for nonce in 0..60u32 {
            let block = &mut ring[nonce as usize % 3];
            interop_core::conformance::fill(block, &crate::suite::common::pattern(&view, nonce)).unwrap();
            surface.upload_staged(&all, block, &view).unwrap();
            block.fence().unwrap();
        }
        ring.iter_mut().for_each(|block| block.wait().unwrap());
        assert_eq!(display.object_counts(), before);
    }
}

#[test]
fn hostile_drivers_get_errors() {
    let Some(display) = crate::suite::common::headless(None) else { return };
    crate::suite::hostile::hostile_drivers_get_errors(&*display, true);
}
