//! Timeline of the device's work.

use crate::suite::common::{displays, tight};
use interop_core::conformance::{fill, lies_within};
use interop_core::display::{Display, Staging, StagingKind, Surface, SurfacePart};
use interop_core::{DeviceSpan, FrameTag, PathId, PixelFormat, SurfaceDesc};
use pixelferry_gl::glow::{self, HasContext as _};
use pixelferry_gl::{DrawOptions, GlDisplay, Manner, Viewport};
use std::time::Instant;

const SIDE: u32 = 256;

fn drained(display: &GlDisplay) -> Vec<DeviceSpan> {
    let mut spans = Vec::new();
    display.drain_timeline(&mut |span| spans.push(span)).unwrap();
    spans
}

/// Uploads by client memory and by a block, and draws.
fn frame(display: &GlDisplay, surface: &mut Surface, staging: &mut Staging) {
    let desc = *surface.desc();
    let (part, view) = (SurfacePart::full(&desc), tight(&desc));
    surface.upload(&part, &vec![7; staging.len()], &view).unwrap();
    surface.upload_staged(&part, staging, &view).unwrap();
    // By the triangle alone: where a compute shader may draw, too, both are timed first, with queries.
    let options = DrawOptions::default().with_manner(Manner::Triangle);
    display.draw(surface, Viewport::full(SIDE, SIDE), options).unwrap();
}

#[test]
fn uploads_and_draws_are_timed_on_the_hosts_clock() {
    for display in displays() {
        let desc = SurfaceDesc::image(SIDE, SIDE, PixelFormat::Rgba8);
        let mut surface = display.create_surface(&desc).unwrap();
        let mut staging = display.create_staging(StagingKind::Orphaned, (SIDE * SIDE * 4) as usize).unwrap();
        fill(&mut staging, &vec![9; (SIDE * SIDE * 4) as usize]).unwrap();
        let target = display.create_offscreen_target(SIDE, SIDE).unwrap();
        target.bind().unwrap();
        // Off: nothing is made and nothing recorded.
        frame(&display, &mut surface, &mut staging);
        display.finish().unwrap();
        assert!(drained(&display).is_empty());
        assert_eq!(display.object_counts().queries, 0);

        // Software and hardware of our machines have timestamps; a driver that had none would say why.
        let began = Instant::now();
        let support = display.set_timeline(true).unwrap();
        assert!(support.is_yes(), "{}: {support:?}", display.device());
        let before = Instant::now();
        for n in 0..20 {
            let _tagged = FrameTag::enter(Some(FrameTag::new(3, n, PathId::PBO_ORPHAN, 1)));
            frame(&display, &mut surface, &mut staging);
        }
        // SAFETY: the context is current, and a framebuffer bound.
        display.timed("mine", || unsafe { display.gl().clear(glow::COLOR_BUFFER_BIT) }).unwrap();
        display.finish().unwrap();
        let after = Instant::now();
        let spans = drained(&display);
        let names: Vec<_> = spans.iter().map(|span| &*span.work.name).collect();
        assert_eq!(names[..60], ["upload", "upload", "draw"].repeat(20));
        assert_eq!(names[60..], ["mine"]);
        for (span, n) in spans.iter().zip(0..) {
            assert_eq!(span.work.frame.map(|tag| tag.frame), (n < 60).then_some(n / 3));
            assert!(span.track.contains(&display.device().name));
        }
        lies_within(&spans, began, before, after).unwrap();
        // A draw takes time; of none it could not be told that it was measured.
        assert!(spans.iter().filter(|s| s.work.name == "draw").all(|s| s.end > s.start));
        assert!(drained(&display).is_empty(), "work is told twice");
        let queries = display.object_counts().queries;
        frame(&display, &mut surface, &mut staging);
        assert_eq!(display.object_counts().queries, queries, "queries are not used again");
        assert!(display.set_timeline(false).unwrap().is_yes());
        assert_eq!(display.object_counts().queries, 0);
        assert!(drained(&display).is_empty());
    }
}
