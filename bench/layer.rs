//! `cargo bench -p pixelferry-measure --bench layer [-- --rounds N]`: measures the overhead of a [`Link`] over the path
//! that it chose. A 64x64 frame (without a kernel) goes through `acquire` and `finish`, through `frame`, and through
//! the same path driven directly.

#![allow(missing_docs, clippy::expect_used)] // a benchmark that cannot run says so and stops

use measure::number;
use pixelferry::driver::path::{FrameLayout, OpenedPath, Pairing, Paths, SharingPath};
use pixelferry::driver::select::quantile;
use pixelferry::{
    ComputeBackend, CpuBackend, Display, ImageAccess, ImageDesc, Link, LinkCore, LinkOptions, MemoryDisplay, PathId,
    PixelFormat, Policy, SurfaceDesc, Unwritten,
};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

const PATHS: [PathId; 3] = [PathId::HOST_VISIBLE_IN_PLACE, PathId::PINNED_UPLOAD, PathId::HOST_ROUND_TRIP];
/// The number of frames in a round: a single frame is shorter than the clock's step.
const FRAMES: u32 = 500;

fn direct_frame(path: &mut OpenedPath, layout: &FrameLayout) {
    path.begin(&layout.full()).expect("begin");
    black_box(path.target().expect("target"));
    path.finish().expect("finish");
}

fn acquired(link: &mut LinkCore) {
    let mut frame = link.acquire().expect("acquire");
    black_box(frame.target().expect("target"));
    frame.finish().expect("finish");
}

fn framed(link: &mut LinkCore) {
    let write = |frame: &mut pixelferry::WriteFrame<'_>| {
        black_box(frame.target()?);
        Ok(())
    };
    link.frame(write).expect("a frame");
}

/// Returns the microseconds of a frame.
fn timed(mut frame: impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..FRAMES).for_each(|_| frame());
    start.elapsed().as_secs_f64() * 1e6 / f64::from(FRAMES)
}

fn main() {
    measure::options(&["--rounds"]);
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().expect("threads"));
    let display: Arc<dyn Display> = MemoryDisplay::new();
    let image = ImageDesc::new(64, 64, PixelFormat::Rgba8).with_access(ImageAccess::Any);
    let desc = SurfaceDesc::Image(image.with_unwritten(Unwritten::Overwrite));
    println!("| path | us alone | acquire, finish | frame |");
    println!("|---|---|---|---|");
    for id in PATHS {
        let pairing = Pairing::new(&backend, &display, &desc);
        let (mut path, layout) =
            (Paths::default().get(id).expect("a path").open(&pairing).expect("a path"), pairing.layout());
        let options = LinkOptions::new(Policy::default().with_force(id));
        let mut link = Link::open(Arc::clone(&backend), Arc::clone(&display), desc, options).expect("a link");
        let mut samples: [Vec<f64>; 3] = Default::default();
        for _ in 0..number("--rounds", 200) {
            samples[0].push(timed(|| direct_frame(&mut path, &layout)));
            samples[1].push(timed(|| acquired(&mut link)));
            samples[2].push(timed(|| framed(&mut link)));
        }
        let [alone, acquired, framed] = samples.map(|samples| quantile(&samples, 0.5));
        println!("| {id} | {alone:.3} | {acquired:.3} | {framed:.3} |");
    }
}
