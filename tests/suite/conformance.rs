//! The conformance suite over every backend, display and path of this machine.

use interop_core::conformance::{ConformanceRow, ConformanceTable, Manner, Outcome};
use interop_core::path::Medium::{Image, Object};
use interop_core::path::PATHS;
use pixelferry::api::wgpu::{WgpuDisplay, WgpuOptions, wgpu};
use pixelferry::api::{cuda, opencl};
use pixelferry::driver::backend_in;
use pixelferry::{
    Api, Arg, BackendChoice, ComputeBackend, ComputeDisplay, CpuBackend, Display, DisplayChoice, DrawOptions, Error,
    Fit, HeadlessDisplay, Link, LinkBuilder, LinkOptions, PathId, PixelFormat, Region, SurfaceDesc, SyncKind,
    open_backend, picture,
};
use pixelferry_tests::{
    Level, Need, asked, conform, displays, few, from, given, has, in_child, level, need, pass_in_child, path_problems,
    ramp, ramp_pixel,
};
use pixelferry_wgpu::WgpuBackend;
use std::sync::Arc;

/// All but Vulkan: its crate's own tests run what has a backend of its own. rusticl, which builds kernels for minutes, goes to
/// plain memory alone at the shortest level; every path to OpenGL is driven by it in `flat::paths`.
fn screens() -> impl Iterator<Item = HeadlessDisplay> {
    let quick = |choice| choice == DisplayChoice::Memory || given() != Need::Rusticl || level() > Level::Short;
    let displays = displays().filter(move |(choice, _)| *choice != DisplayChoice::Vulkan && quick(*choice));
    displays.map(|(_, display)| display)
}

fn manner(behind: usize) -> Manner {
    if behind == 0 { Manner::default() } else { Manner::late(behind) }
}

/// Runs in latency mode and, except at the shortest level, pipelined; prints and judges.
fn check(backend: &Arc<dyn ComputeBackend>) {
    // rusticl, which takes minutes for either, is pipelined at the longest level.
    let is_rusticl = backend.device().api == Api::OpenCl && given() == Need::Rusticl;
    let behind = if is_rusticl && level() < Level::Long { &[0][..] } else { few(&[0, 3], 1) };
    for behind in behind.iter().copied() {
        let rows: Vec<ConformanceRow> =
            screens().flat_map(|d| conform(backend, &d.display(), manner(behind))).collect();
        println!("\n{behind} frames behind:");
        judge(backend, &rows);
    }
    for sync in [SyncKind::BinarySemaphore, SyncKind::TimelineSemaphore] {
        if backend.caps().can_open_semaphore(sync).is_yes() {
            let mut all = Vec::new();
            for display in screens().filter(|d| d.display().caps().can_make_semaphore(sync).is_yes()) {
                for behind in behind.iter().copied() {
                    all.extend(conform(backend, &display.display(), Manner { sync: Some(sync), ..manner(behind) }));
                }
            }
            println!("\nKept apart by a {sync}, {behind:?} frames behind:");
            judge(backend, &all);
        }
    }
}

/// wgpu on OpenGL, which shares with the host as OpenGL does.
fn check_wgpus_opengl(backend: &Arc<dyn ComputeBackend>) {
    let options = WgpuOptions::default().with_backends(wgpu::Backends::GL);
    let Some(display) = need(Need::Egl, WgpuDisplay::headless(options)) else { return };
    println!("{}", display.device().driver);
    let in_place = display.caps().in_place_images.is_yes();
    let display: Arc<dyn Display> = display;
    let mut rows = conform(backend, &display, Manner::default());
    println!("{}", ConformanceTable(&rows));
    if !in_place {
        // Linear memory of any kind that the draw itself would read.
        let reads_in_place = |path| {
            PATHS.iter().any(|row| row.id == path && row.cost.copies == 0 && !matches!(row.cost.medium, Object | Image))
        };
        let skipped =
            |row: &ConformanceRow| matches!(&row.outcome, Outcome::Skipped(why) if why.starts_with("display: "));
        rows.retain(|row| !(reads_in_place(row.path) && skipped(row)));
    }
    assert_eq!(path_problems(backend.as_ref(), &rows), Vec::<String>::new());
}

fn judge(backend: &Arc<dyn ComputeBackend>, all: &[ConformanceRow]) {
    println!("{}", ConformanceTable(all));
    assert_eq!(path_problems(backend.as_ref(), all), Vec::<String>::new());
    assert!(ConformanceTable(all).counts().0 > 0, "nothing ran");
}

#[test]
fn on_threads() {
    check(&(Arc::new(CpuBackend::new().unwrap()) as Arc<dyn ComputeBackend>));
}

#[test]
fn on_threads_to_wgpus_opengl() {
    if !from(Level::All) {
        return;
    }
    check_wgpus_opengl(&(Arc::new(CpuBackend::new().unwrap()) as Arc<dyn ComputeBackend>));
}

/// An OpenGL whose shaders read and write no storage buffers: NVIDIA gives wgpu the 3.3 that it asks for, Mesa more.
#[test]
fn on_threads_to_wgpus_opengl_3_3() {
    if !from(Level::All) {
        return;
    }
    let version = [("MESA_GL_VERSION_OVERRIDE", "3.3"), ("MESA_GLSL_VERSION_OVERRIDE", "330")];
    let child = in_child("conformance::child_threads_to_wgpus_opengl", None, &version).unwrap();
    println!("{}", child.output);
    let output = child.passed();
    if output.contains("Mesa") {
        assert!(output.contains("fragment shaders read no storage buffers"), "they do in OpenGL 3.3");
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_threads_to_wgpus_opengl() {
    check_wgpus_opengl(&(Arc::new(CpuBackend::new().unwrap()) as Arc<dyn ComputeBackend>));
}

/// WGSL on lavapipe. To plain memory the crate's own tests show it.
#[test]
fn on_wgpu() {
    let options = WgpuOptions::default().with_backends(wgpu::Backends::VULKAN);
    let Some(backend) = need(Need::Lavapipe, WgpuBackend::open(&options)) else { return };
    let backend: Arc<dyn ComputeBackend> = Arc::new(backend);
    beside_displays(&backend, DisplayChoice::Wgpu);
}

/// WGSL on lavapipe, in a Vulkan display's own queue.
#[test]
fn on_vulkan() {
    let Some(alone) = need(Need::Lavapipe, open_backend(BackendChoice::Vulkan, &[])) else { return };
    beside_displays(&alone, DisplayChoice::Vulkan);
}

/// A backend inside each display where it can be: in its queue where the display is `own`, with late frames, too. With the others it
/// shares nothing, so that at the shortest level, where its own has the paths of the host, too, that is all.
fn beside_displays(alone: &Arc<dyn ComputeBackend>, own: DisplayChoice) {
    let runs = |choice| choice == own || (level() > Level::Short && choice != DisplayChoice::Memory);
    for (choice, display) in displays().filter(|(choice, _)| runs(*choice)) {
        let display = display.display();
        let backend = backend_in(alone, display.as_ref());
        for behind in few(&[0, 3], 1).iter().take(if choice == own { 2 } else { 1 }) {
            let rows = conform(&backend, &display, manner(*behind));
            judge(&backend, &rows);
            let ran = |path| rows.iter().any(|row| row.path == path && row.outcome == Outcome::Pass);
            let in_queue = [PathId::IN_QUEUE_IN_PLACE, PathId::IN_QUEUE_UPLOAD, PathId::IN_QUEUE_TEXTURE].map(ran);
            assert_eq!(in_queue, [choice == own; 3], "{choice:?}, {behind} frames behind");
        }
    }
}

/// WGSL by OpenGL, in a context of its own, and in that of a display of its own kind. To plain memory the crate's own tests show it.
#[test]
fn on_opengl() {
    let opened = match open_backend(BackendChoice::Gl, &[]) {
        Err(Error::Unsupported { reason, .. }) => has("compute shaders", "OpenGL", Err(reason)),
        other => need(Need::Egl, other),
    };
    let Some(alone) = opened else { return };
    beside_displays(&alone, DisplayChoice::Gl);
}

/// Pairs as programs open them.
#[test]
fn pairs_of_opengl_are_one_queue() {
    let desc = SurfaceDesc::image(32, 16, PixelFormat::Rgba8);
    let pair = |choice, display| LinkBuilder::new(desc).backend(choice).display(display).open_sides();
    let Some((backend, screen)) = need(Need::Egl, pair(BackendChoice::Gl, DisplayChoice::Auto)) else { return };
    let ramp = backend.build(&ramp()).unwrap();
    let mut link = Link::open(backend.clone(), screen.display(), desc, LinkOptions::default()).unwrap();
    link.frame(|next| next.launch(ramp.as_ref(), &[Arg::U32(3)])).unwrap();
    let report = link.report().to_string();
    assert!(report.contains("in-queue"), "{report}");
    assert_eq!(link.read_back().unwrap()[..4], ramp_pixel(0, 0, 3));
    // A display of another kind is served by way of the host.
    let (backend, screen) = pair(BackendChoice::Gl, DisplayChoice::Memory).unwrap();
    let mut link = Link::open(backend.clone(), screen.display(), desc, LinkOptions::default()).unwrap();
    let ramp = backend.build(&pixelferry_tests::ramp()).unwrap();
    link.frame(|next| next.launch(ramp.as_ref(), &[Arg::U32(5)])).unwrap();
    assert_eq!(link.read_back().unwrap()[..4], ramp_pixel(0, 0, 5));
}

/// Tests a pair as programs open it without a graphics driver; the drawing is saved.
fn a_pair_is_one_queue(choice: BackendChoice, need_of: Need) {
    let desc = SurfaceDesc::image(32, 16, PixelFormat::Rgba8);
    let pair = LinkBuilder::new(desc).backend(choice).display(DisplayChoice::Compute).open_sides();
    let Some((backend, screen)) = need(need_of, pair) else { return };
    let display = Arc::clone(screen.downcast_ref::<ComputeDisplay>().unwrap());
    assert!(Arc::ptr_eq(display.backend(), &backend));
    println!("RAN ON {}", backend.device());
    let mut link = Link::open(backend.clone(), screen.display(), desc, LinkOptions::default()).unwrap();
    let pixels: Vec<u8> = (0..32 * 16).flat_map(|i: u32| ramp_pixel(i % 32, i / 32, 3)).collect();
    link.frame(|next| next.write(&pixels)).unwrap();
    assert!(link.report().to_string().contains("in-queue"), "{}", link.report());
    assert_eq!(picture(&mut link).unwrap().into_raw(), pixels);
    let mut target = display.create_offscreen_target(64, 64).unwrap();
    let options = DrawOptions::default().with_fit(Fit::Contain).with_background([0.0; 3]);
    display.draw(link.shown().unwrap().surface(), &mut target, Region::new(0, 0, 64, 64), options).unwrap();
    let drawn = target.read_pixels().unwrap();
    assert_eq!((&drawn[..4], &drawn[4 * 64 * 16..][..4]), (&[0, 0, 0, 255][..], &ramp_pixel(0, 0, 3)[..]));
    // Another backend of the device is moved into the queue; one of another device is not.
    let again = backend_in(&open_backend(choice, &[]).unwrap(), screen.display().as_ref());
    assert!(Arc::ptr_eq(&again, &backend));
    let threads: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    assert!(Arc::ptr_eq(&backend_in(&threads, screen.display().as_ref()), &threads));
}

#[test]
fn pairs_on_an_opencl_device_are_one_queue() {
    a_pair_is_one_queue(BackendChoice::OpenCl, Need::OpenCl);
}

#[test]
fn pairs_on_a_cuda_device_are_one_queue() {
    if asked(Need::Nvidia) {
        a_pair_is_one_queue(BackendChoice::Cuda, Need::Nvidia);
    }
}

fn on_opencl(check: fn(&Arc<dyn ComputeBackend>)) {
    let Some(backend) = need(given(), opencl::OpenClBackend::open_best()) else { return };
    println!("RAN ON {}", backend.device());
    check(&(Arc::new(backend) as Arc<dyn ComputeBackend>));
}

#[test]
#[ignore = "run by the tests below, in a process that sees one OpenCL driver"]
fn child_opencl() {
    on_opencl(check);
}

/// Half of a device, as a backend of its own.
#[test]
#[ignore = "run by a test below, in a process that sees one OpenCL driver"]
fn child_opencl_part() {
    let Some(devices) = need(given(), opencl::cl::Device::all()) else { return };
    let parts = devices[0].partition(&opencl::cl::Partition::ByCounts(vec![1])).unwrap();
    let backend = opencl::OpenClBackend::open(&opencl::OpenClDevice::try_from(&parts[0]).unwrap()).unwrap();
    println!("RAN ON {}", backend.device());
    assert!(backend.device().name.contains("a part of 1 units"));
    let backend: Arc<dyn ComputeBackend> = Arc::new(backend);
    let rows = screens().flat_map(|display| conform(&backend, &display.display(), Manner::default()));
    judge(&backend, &rows.collect::<Vec<_>>());
}

#[test]
#[ignore = "run by a test below, in a process that sees one OpenCL driver"]
fn child_opencl_to_wgpus_opengl() {
    on_opencl(check_wgpus_opengl);
}

fn on(driver: Need) {
    child("child_opencl", driver);
}

fn child(name: &str, driver: Need) {
    pass_in_child(&format!("conformance::{name}"), Some(driver), &[], &["RAN ON"]);
}

/// All of an NVIDIA GPU's ways, by both APIs.
#[test]
fn on_nvidia() {
    if !asked(Need::Nvidia) {
        return;
    }
    for child in ["child_opencl", "child_cuda", "child_cuda_to_wgpus_opengl"] {
        pass_in_child(&format!("conformance::{child}"), None, &[], &["RAN ON"]);
    }
}

fn on_cuda(check: fn(&Arc<dyn ComputeBackend>)) {
    let backend = cuda::CudaBackend::open_best().unwrap();
    println!("RAN ON {}", backend.device());
    check(&(Arc::new(backend) as Arc<dyn ComputeBackend>));
}

pixelferry_tests::tests! {
    #[ignore = "run by the test above, in a process of its own"]
    child_cuda => on_cuda(check);
    #[ignore = "run by the test above, in a process of its own"]
    child_cuda_to_wgpus_opengl => on_cuda(check_wgpus_opengl);
    on_pocl => on(Need::Pocl);
}

#[test]
fn on_a_part_of_pocl() {
    if !from(Level::All) {
        return;
    }
    child("child_opencl_part", Need::Pocl);
}

#[test]
fn on_pocl_to_wgpus_opengl() {
    if !from(Level::All) {
        return;
    }
    child("child_opencl_to_wgpus_opengl", Need::Pocl);
}

#[test]
fn on_rusticl() {
    on(Need::Rusticl);
}
