//! CUDA beside wgpu on one NVIDIA GPU, with no window: `PIXELFERRY_GPU=1`.

use crate::common;
use interop_core::describe::pattern::Pattern;
use interop_core::{
    ComputeBackend, Display, Extent, ImageAccess, ImageDesc, Link, LinkOptions, Mode, PathId, PixelFormat, Policy,
    RowOrder, SurfaceDesc, SyncKind, Target,
};
use pixelferry_gl::{GlDisplay, HeadlessOptions};
use pixelferry_testing::{Need, need};
use pixelferry_wgpu::{WgpuDisplay, WgpuOptions};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// Both on one device.
fn with_both(f: impl FnOnce(Arc<dyn ComputeBackend>, Rc<dyn Display>)) {
    let Some(backend) = common::gpu() else { return };
    let options = WgpuOptions::default().with_same_device_as(backend.device().clone());
    let display = WgpuDisplay::headless(options).map_err(|e| e.to_string());
    let drawn_by_gpu = display.and_then(|display| match display.device().software {
        true => Err(format!("wgpu draws by the CPU here: {}", display.device())),
        false => Ok(display),
    });
    if let Some(display) = need(Need::NvidiaVulkan, drawn_by_gpu) {
        println!("{:?}\n{:?}", display.device(), display.caps());
        f(Arc::new(backend), display);
    }
}

#[test]
fn the_conformance_suite() {
    with_both(|backend, display| common::conformance(&backend, &display));
}

const FRAMES: usize = 100;

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// Frames shown and drawn, each waited for (microseconds at the median), or only the last (microseconds a frame).
fn frames(display: &dyn Display, each: bool, mut frame: impl FnMut(u32)) -> f64 {
    (0..20).for_each(&mut frame);
    display.finish().unwrap();
    let whole = Instant::now();
    let samples = (0..FRAMES as u32).map(|n| {
        let start = Instant::now();
        frame(n);
        if each {
            display.finish().unwrap();
        }
        start.elapsed().as_secs_f64() * 1e6
    });
    let samples: Vec<_> = samples.collect();
    display.finish().unwrap();
    if each { median(samples) } else { whole.elapsed().as_secs_f64() * 1e6 / FRAMES as f64 }
}

/// Prints the time of a frame on every path beside the floor at which nothing is shared.
#[test]
#[ignore = "a measurement: run it by name"]
fn latencies() {
    with_both(|backend, wgpu| {
        let both = |name, display: Rc<dyn Display>| {
            for (width, height) in [(1920, 1080), (3840, 2160)] {
                measure(&backend, name, &display, width, height);
            }
        };
        both("wgpu", wgpu);
        both("gl", GlDisplay::headless(HeadlessOptions::default()).unwrap());
    });
}

fn measure(backend: &Arc<dyn ComputeBackend>, name: &str, display: &Rc<dyn Display>, width: u32, height: u32) {
    let native = display.caps().native_row_order;
    let desc = |access| image(width, height, access, native);
    let extent = Extent::new(width, height);
    let mut own = backend.allocate(width as usize * height as usize * 4).unwrap();
    let still = display.create_surface(&desc(ImageAccess::Texture)).unwrap();
    for each in [true, false] {
        let time = frames(display.as_ref(), each, |n| {
            let target = Target::image(own.as_mut(), extent, PixelFormat::Rgba8).unwrap();
            backend.write_pattern(target, &Pattern { and_mask: u32::MAX, or_mask: 0, nonce: n }).unwrap();
            backend.finish().unwrap();
            display.draw_offscreen(&still).unwrap();
        });
        let what = if each { "latency" } else { "throughput" };
        println!("{name} {extent} {what:10} {time:7.0} us  floor: kernel, wait, draw; nothing shared");
        let time = frames(display.as_ref(), each, |_| display.draw_offscreen(&still).unwrap());
        println!("{name} {extent} {what:10} {time:7.0} us  floor: draw alone");
        for path in PathId::ALL {
            for (mode, sync) in [
                (Mode::Latency, None),
                (Mode::Latency, Some(SyncKind::TimelineSemaphore)),
                (Mode::FramesBehind(3), Some(SyncKind::HostFence)),
                (Mode::FramesBehind(3), Some(SyncKind::TimelineSemaphore)),
            ] {
                let in_place = path.to_string().ends_with("in-place");
                let desc = desc(if in_place { ImageAccess::Any } else { ImageAccess::Texture });
                let policy = Policy::default().with_force(path).with_mode(mode).with_sync(sync);
                let Ok(mut link) = Link::open(Arc::clone(backend), Rc::clone(display), desc, LinkOptions::new(policy))
                else {
                    continue;
                };
                let time = frames(display.as_ref(), each, |n| {
                    let mut frame = link.acquire().unwrap();
                    let pattern = Pattern { and_mask: u32::MAX, or_mask: 0, nonce: n };
                    backend.write_pattern(frame.target().unwrap(), &pattern).unwrap();
                    frame.finish().unwrap();
                    display.draw_offscreen(link.shown().unwrap().surface()).unwrap();
                });
                println!("{name} {extent} {what:10} {time:7.0} us  {path} {mode:?} {sync:?}");
            }
        }
    }
}

fn image(width: u32, height: u32, access: ImageAccess, rows: RowOrder) -> SurfaceDesc {
    let image = ImageDesc::new(width, height, PixelFormat::Rgba8);
    SurfaceDesc::Image(image.with_access(access).with_row_order(rows))
}
