//! Thousands of frames (or `PIXELFERRY_FRAMES`) and 200 resizes (or `PIXELFERRY_RESIZES`) by every path: memory of the host and
//! of the GPU, file descriptors and GL objects stay flat.

use pixelferry::api::gl::{GlDisplay, ObjectCounts};
use pixelferry::api::{cuda, opencl};
use pixelferry::{
    Arg, ComputeBackend, CpuBackend, DisplayChoice, ImageAccess, ImageDesc, Link, LinkOptions, PathId, PixelFormat,
    Policy, SurfaceDesc, open_headless,
};
use pixelferry_tests::{Need, Usage, asked, by_level, given, has_path, need, number, pass_in_child, ramp};
use std::sync::Arc;

/// Pages that the allocator keeps here and there.
const RSS_SLACK: u64 = 6 << 20;

/// A driver takes and gives back device memory in blocks of 2 MiB, when it likes.
const GPU_SLACK: u64 = 8 << 20;

/// Usage of the process, the GL objects, and the free bytes of the GPU.
type Used = (Usage, Option<ObjectCounts>, Option<u64>);

/// Asks how much memory of the GPU is free; `None` where the backend has none of its own.
type GpuMemory<'a> = &'a dyn Fn() -> Option<u64>;

/// All paths, or those whose names `PIXELFERRY_PATHS` lists.
fn wanted(path: PathId) -> bool {
    std::env::var("PIXELFERRY_PATHS").map_or(true, |list| list.split(',').any(|name| name == path.name()))
}

fn used(gpu: GpuMemory<'_>, gl: Option<&GlDisplay>) -> Used {
    (Usage::here().unwrap(), gl.map(GlDisplay::object_counts), gpu())
}

fn desc(size: u32) -> SurfaceDesc {
    // The same few sizes come round, and the largest is seen in the warm-up.
    let width = 64 + 16 * (size % 4);
    SurfaceDesc::Image(ImageDesc::new(width, 48, PixelFormat::Rgba8).with_access(ImageAccess::Any))
}

fn run(backend: &Arc<dyn ComputeBackend>, gpu: GpuMemory<'_>) {
    let frames = number("PIXELFERRY_FRAMES", by_level(800, 4_000, 50_000));
    let frames_per_resize = (frames / number("PIXELFERRY_RESIZES", by_level(100, 200, 200))).max(1);
    // Drivers fill caches in the beginning, one of them for a hundred resizes.
    let warm_up = frames / 2;
    let used = |gl| used(gpu, gl);
    let Some(screen) = need(Need::Egl, open_headless(DisplayChoice::Gl)) else { return };
    let gl = screen.gl().map(|gl| gl.as_ref());
    let kernel = backend.build(&ramp()).unwrap();
    let mut ran = 0;
    for path in PathId::ALL.into_iter().filter(|path| wanted(*path)) {
        let open = || {
            let options = LinkOptions::new(Policy::default().with_force(path));
            Link::open(Arc::clone(backend), screen.display(), desc(0), options)
        };
        // The display keeps the tools it draws with; they are made for the first frame of their kind.
        let Some(mut first) = has_path(backend.as_ref(), path, open()) else { continue };
        first.acquire().unwrap().finish().unwrap();
        first.read_back().unwrap();
        drop(first);
        let (_, nothing_open, _) = used(gl);
        let mut link = open().unwrap();
        let mut before = None;
        for frame in 0..frames {
            if frame % frames_per_resize == 0 {
                link.resize(desc(frame / frames_per_resize)).unwrap();
            }
            let mut next = link.acquire().unwrap();
            next.launch(kernel.as_ref(), &[Arg::U32(frame)]).unwrap();
            next.finish().unwrap();
            // A viewer looks now and then.
            if frame % 250 == 249 {
                link.flush().unwrap();
                assert_eq!(link.read_back().unwrap()[2], frame as u8, "{path}: a stale frame");
            }
            if frame == warm_up {
                before = Some(used(gl));
            }
        }
        // At the same size as when it was measured before.
        link.resize(desc(warm_up / frames_per_resize)).unwrap();
        link.acquire().unwrap().finish().unwrap();
        let (before, after) = (before.unwrap(), used(gl));
        println!("{path}: {before:?} -> {after:?}");
        assert!(
            after.0.rss <= before.0.rss + RSS_SLACK,
            "{path}: memory grew from {} to {}",
            before.0.rss,
            after.0.rss
        );
        assert_eq!(after.0.descriptors, before.0.descriptors, "{path}: file descriptors");
        assert_eq!(after.0.threads, before.0.threads, "{path}: threads");
        assert_eq!(after.1, before.1, "{path}: GL objects");
        let gpu_grew = before.2.zip(after.2).map_or(0, |(before, after)| before.saturating_sub(after));
        assert!(gpu_grew <= GPU_SLACK, "{path}: {gpu_grew} bytes of the GPU's memory");
        drop(link);
        assert_eq!(used(gl).1, nothing_open, "{path}: GL objects after the link was dropped");
        ran += 1;
    }
    assert!(ran > 0, "no path could be run");
    println!("FLAT ON {ran} PATHS");
}

#[test]
#[ignore = "run by the tests below, in a process of its own"]
fn child_threads() {
    run(&(Arc::new(CpuBackend::new().unwrap()) as Arc<dyn ComputeBackend>), &|| None);
}

#[test]
#[ignore = "run by the tests below, in a process of its own"]
fn child_opencl() {
    let Some(backend) = need(given(), opencl::OpenClBackend::open_best()) else { return };
    run(&(Arc::new(backend) as Arc<dyn ComputeBackend>), &|| None);
}

#[test]
#[ignore = "run by the tests below, in a process of its own"]
fn child_cuda() {
    let backend = Arc::new(cuda::CudaBackend::open_best().unwrap());
    let gpu = Arc::clone(&backend);
    run(&(backend as Arc<dyn ComputeBackend>), &|| gpu.free_memory().ok());
}

fn on(test: &str, driver: Option<Need>) {
    pass_in_child(&format!("leaks::{test}"), driver, &[], &["FLAT ON"]);
}

#[test]
fn threads_leak_nothing() {
    on("child_threads", None);
}

/// A test of an NVIDIA GPU.
fn on_nvidia(test: &str) {
    if asked(Need::Nvidia) {
        on(test, None);
    }
}

pixelferry_tests::tests! {
    cuda_leaks_nothing => on_nvidia("child_cuda");
    opencl_of_nvidia_leaks_nothing => on_nvidia("child_opencl");
    pocl_leaks_nothing => on("child_opencl", Some(Need::Pocl));
    rusticl_leaks_nothing => on("child_opencl", Some(Need::Rusticl));
}
