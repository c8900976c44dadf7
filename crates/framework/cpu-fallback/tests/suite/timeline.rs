//! Timeline of the threads' work.

use cpu_fallback::{CpuBackend, CpuKernelExt};
use interop_core::{ComputeBackend, Extent, KernelSource, PixelFormat, Target};
use std::time::{Duration, Instant};

#[test]
fn kernels_and_copies_are_timed() {
    let backend = CpuBackend::new().unwrap();
    let source = KernelSource::new("slow").cpu_image(|_, _| {
        std::thread::sleep(Duration::from_millis(3));
        Ok(())
    });
    let kernel = backend.build(&source).unwrap();
    let (mut memory, mut other) = (backend.allocate(64).unwrap(), backend.allocate(64).unwrap());
    let mut run = || {
        let target = Target::image(memory.as_mut(), Extent::new(4, 4), PixelFormat::Rgba8).unwrap();
        backend.launch(kernel.as_ref(), target, &[]).unwrap();
        backend.copy(memory.as_ref(), other.as_mut(), 0..64).unwrap();
    };
    let drained = || {
        let mut spans = Vec::new();
        backend.drain_timeline(&mut |span| spans.push(span)).unwrap();
        spans
    };
    run();
    assert!(drained().is_empty(), "recorded while it was off");
    assert!(backend.set_timeline(true).unwrap().is_yes());
    let before = Instant::now();
    run();
    let after = Instant::now();
    let spans = drained();
    let names: Vec<_> = spans.iter().map(|span| &*span.work.name).collect();
    assert_eq!(names, ["slow", "copy"]);
    assert!(spans[0].end - spans[0].start >= Duration::from_millis(3));
    assert!(before <= spans[0].start && spans[0].end <= spans[1].start && spans[1].end <= after);
    assert!(drained().is_empty(), "work is told twice");
    run();
    assert!(backend.set_timeline(false).unwrap().is_yes());
    assert!(drained().is_empty());
}
