//! Timeline of the device's work.

use crate::suite::common;
use crate::suite::opengl::with_both;
use interop_core::conformance::lies_within;
use interop_core::describe::pattern::Pattern;
use interop_core::{
    ComputeBackend, DeviceSpan, Display, Extent, ImageAccess, ImageDesc, Link, LinkOptions, Mode, PixelFormat, Policy,
    SurfaceDesc, Target,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn drained(backend: &dyn ComputeBackend) -> Vec<DeviceSpan> {
    let mut spans = Vec::new();
    backend.drain_timeline(&mut |span| spans.push(span)).unwrap();
    spans
}

#[test]
fn work_of_the_stream_is_timed_on_the_hosts_clock() {
    let Some(backend) = common::gpu() else { return };
    let extent = Extent::new(3840, 2160);
    let mut memory = backend.allocate(3840 * 2160 * 4).unwrap();
    let mut bytes = vec![0; memory.len()];
    let mut frame = || {
        let target = Target::image(memory.as_mut(), extent, PixelFormat::Rgba8).unwrap();
        let pattern = Pattern::for_view(&target.view(), 5);
        backend.write_pattern(target, &pattern).unwrap();
        memory.read(0, &mut bytes).unwrap();
    };
    frame();
    assert!(drained(&backend).is_empty(), "recorded while it was off");
    let began = Instant::now();
    assert!(backend.set_timeline(true).unwrap().is_yes());
    let before = Instant::now();
    // Long enough for the clocks to be compared again, and more than once.
    let mut spans = Vec::new();
    while before.elapsed() < Duration::from_millis(2500) {
        frame();
        spans.extend(drained(&backend));
    }
    backend.finish().unwrap();
    spans.extend(drained(&backend));
    lies_within(&spans, began, before, Instant::now()).unwrap();
    assert!(spans.len() > 100 && spans.len().is_multiple_of(2), "{} pieces of work", spans.len());
    for (n, span) in spans.iter().enumerate() {
        assert_eq!(span.work.name, ["pattern", "read"][n % 2]);
        // 33 MB are not written or read in no time.
        assert!(span.end - span.start > Duration::from_micros(2), "{span:?}");
    }
    let drift = spans.iter().map(|span| span.uncertainty).max().unwrap();
    println!("{} pieces of work, uncertain by {drift:?} at most", spans.len());
    assert!(backend.set_timeline(false).unwrap().is_yes());
    frame();
    assert!(drained(&backend).is_empty());
}

#[test]
fn frames_behind_are_told_apart() {
    with_both(|backend, display| {
        let backend: Arc<dyn ComputeBackend> = Arc::new(backend);
        let image = ImageDesc::new(1920, 1080, PixelFormat::Rgba8).with_access(ImageAccess::Any);
        let policy = Policy::default().with_mode(Mode::FramesBehind(2)).with_budget(Duration::ZERO);
        let shown: std::sync::Arc<dyn Display> = display.clone();
        let mut link = Link::open(backend.clone(), shown, SurfaceDesc::Image(image), LinkOptions::new(policy)).unwrap();
        let began = Instant::now();
        assert!(backend.set_timeline(true).unwrap().is_yes());
        let support = display.set_timeline(true).unwrap();
        assert!(support.is_yes(), "{support:?}");
        let before = Instant::now();
        for n in 0..50 {
            link.frame(|frame| {
                let pattern = Pattern { and_mask: u32::MAX, or_mask: 0, nonce: n };
                let backend = backend.clone();
                backend.write_pattern(frame.target()?, &pattern)
            })
            .unwrap();
            display.draw_offscreen(link.shown().unwrap().surface()).unwrap();
        }
        link.flush().unwrap();
        backend.finish().unwrap();
        display.finish().unwrap();
        let after = Instant::now();
        let kernels = drained(backend.as_ref());
        let mut draws = Vec::new();
        display.drain_timeline(&mut |span| draws.push(span)).unwrap();
        lies_within(&kernels, began, before, after).unwrap();
        lies_within(&draws, began, before, after).unwrap();
        let frames = |spans: &[DeviceSpan], name| -> Vec<u64> {
            let of = spans.iter().filter(|span| span.work.name == name);
            of.map(|span| span.work.frame.expect("work of a frame").frame).collect()
        };
        assert_eq!(frames(&kernels, "pattern"), (1..=50).collect::<Vec<_>>());
        // The first is shown at once, and again until the pipeline is full.
        let late: Vec<u64> = (1..=50u64).map(|n| n.saturating_sub(2).max(1)).collect();
        assert_eq!(frames(&draws, "draw_offscreen"), late, "path {}", link.path());
        let uncertain = |spans: &[DeviceSpan]| spans.iter().map(|span| span.uncertainty).max().unwrap();
        println!("by {}: CUDA uncertain by {:?}, OpenGL by {:?}", link.path(), uncertain(&kernels), uncertain(&draws));
    });
}
