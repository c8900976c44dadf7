//! `cargo bench -p pixelferry --bench selection_layer`: what a [`Link`] costs above the path that it chose. A 64x64 frame
//! (no kernel) through `acquire` and `finish`, through `frame`, and by the same path driven directly.

#![allow(missing_docs, clippy::expect_used)] // a benchmark that cannot run says so and stops

use criterion::{Criterion, criterion_group, criterion_main};
use pixelferry::driver::path::{FrameLayout, OpenedPath, Pairing, Paths, SharingPath};
use pixelferry::{
    ComputeBackend, CpuBackend, Display, ImageAccess, ImageDesc, Link, LinkOptions, MemoryDisplay, PathId, PixelFormat,
    Policy, SurfaceDesc, Unwritten,
};
use std::hint::black_box;
use std::rc::Rc;
use std::sync::Arc;

const PATHS: [PathId; 3] = [PathId::HOST_VISIBLE_IN_PLACE, PathId::PINNED_UPLOAD, PathId::HOST_ROUND_TRIP];

fn direct_frame(path: &mut OpenedPath, layout: &FrameLayout) {
    path.begin(&layout.full()).expect("begin");
    black_box(path.target().expect("target"));
    path.finish().expect("finish");
}

fn selection_layer(criterion: &mut Criterion) {
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().expect("threads"));
    let display: Rc<dyn Display> = MemoryDisplay::new();
    let image = ImageDesc::new(64, 64, PixelFormat::Rgba8).with_access(ImageAccess::Any);
    let desc = SurfaceDesc::Image(image.with_unwritten(Unwritten::Overwrite));
    for id in PATHS {
        let mut group = criterion.benchmark_group(id.name());
        let pairing = Pairing::new(&backend, &display, &desc);
        let (mut path, layout) =
            (Paths::default().get(id).expect("a path").open(&pairing).expect("a path"), pairing.layout());
        group.bench_function("path", |b| b.iter(|| direct_frame(&mut path, &layout)));
        let options = LinkOptions::new(Policy::default().with_force(id));
        let mut link = Link::open(Arc::clone(&backend), Rc::clone(&display), desc, options).expect("a link");
        group.bench_function("acquire, finish", |b| {
            b.iter(|| {
                let mut frame = link.acquire().expect("acquire");
                black_box(frame.target().expect("target"));
                frame.finish().expect("finish");
            });
        });
        group.bench_function("frame", |b| {
            b.iter(|| {
                link.frame(|frame| {
                    black_box(frame.target()?);
                    Ok(())
                })
                .expect("a frame");
            });
        });
        group.finish();
    }
}

criterion_group!(benches, selection_layer);
criterion_main!(benches);
