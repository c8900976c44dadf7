//! Timeline of the device's work.

use super::{described, every_device, memory_with, vouched};
use interop_core::conformance::lies_within;
use interop_core::describe::pattern::Pattern;
use interop_core::{Arg, ComputeBackend, DeviceSpan, Extent, FrameTag, PathId, PixelFormat, Support, Target};
use opencl_backend::OpenClBackend;
use pixelferry_testing::{by_level, has};
use std::time::Instant;

fn drained(backend: &dyn ComputeBackend) -> Vec<DeviceSpan> {
    let mut spans = Vec::new();
    backend.drain_timeline(&mut |span| spans.push(span)).unwrap();
    spans
}

#[test]
fn commands_are_timed_on_the_hosts_clock() {
    for device in every_device() {
        let backend = &OpenClBackend::open(&device).unwrap();
        let source = vouched(
            "slow",
            "kernel void slow(PF_IMAGE(uchar4, out), float x) {
               int column = get_global_id(0), row = get_global_id(1);
               if (column >= out_width || row >= out_height) return;
               for (int i = 0; i < 500; ++i) x = native_sin(x);
               PF_STORE(out, column, row, (uchar4)(x));
             }",
        );
        let kernel = backend.build(&source).unwrap();
        let (extent, bytes) = (Extent::new(64, 64), 64 * 64 * 4);
        let mut memory = memory_with(backend, &vec![0; bytes]);
        let mut frame = || {
            let target = Target::image(memory.as_mut(), extent, PixelFormat::Rgba8).unwrap();
            backend.launch(kernel.as_ref(), target, &[Arg::F32(1.0)]).unwrap();
            let target = Target::image(memory.as_mut(), extent, PixelFormat::Rgba8).unwrap();
            let pattern = Pattern::for_view(&target.view(), 5);
            backend.write_pattern(target, &pattern).unwrap();
            let mut shown = vec![0; bytes];
            memory.read(0, &mut shown).unwrap();
            shown
        };
        let shown = frame();
        assert!(drained(backend).is_empty(), "recorded while it was off");

        let began = Instant::now();
        let times = match backend.set_timeline(true).unwrap() {
            Support::Yes => Ok(()),
            Support::No(reason) => Err(reason),
        };
        if has("device times", described(backend), times).is_none() {
            assert_eq!(frame(), shown, "it computes otherwise after times were asked for");
            assert!(drained(backend).is_empty());
            continue;
        }
        let before = Instant::now();
        let tag = |frame| FrameTag::new(1, frame, PathId::HOST_ROUND_TRIP, 0);
        let frames = by_level(3, 10, 10);
        for n in 0..frames {
            let _tagged = FrameTag::enter(Some(tag(n)));
            assert_eq!(frame(), shown, "it computes otherwise while it is timed");
        }
        backend.finish().unwrap();
        let after = Instant::now();
        let spans = drained(backend);
        let names: Vec<_> = spans.iter().map(|span| &*span.work.name).collect();
        assert_eq!(names, ["slow", "pattern", "ReadBuffer"].repeat(frames as usize));
        for (span, n) in spans.iter().zip(0..) {
            assert_eq!(span.work.frame, Some(tag(n / 3)));
            assert!(span.track.contains(&backend.device().name));
        }
        lies_within(&spans, began, before, after).unwrap();
        for pair in spans.windows(2) {
            assert!(pair[0].end <= pair[1].start, "two commands of a queue at once: {pair:?}");
        }
        assert!(spans.iter().filter(|s| s.work.name == "slow").all(|s| s.end > s.start));
        assert!(drained(backend).is_empty(), "work is told twice");
        assert!(backend.set_timeline(false).unwrap().is_yes());
        assert_eq!(frame(), shown);
        assert!(drained(backend).is_empty());
        // And on again, with the earlier queue.
        assert!(backend.set_timeline(true).unwrap().is_yes());
        frame();
        assert_eq!(drained(backend).len(), 3);
    }
}
