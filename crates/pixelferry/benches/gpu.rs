//! `cargo bench -p pixelferry --bench gpu [-- --json FILE --frames N --rows TEXT,... --compute-on GPU --draw-on GPU]`:
//! CUDA and OpenCL to OpenGL on a GPU, each path beside its floors, all in one run. Every frame a kernel writes all pixels
//! and OpenGL draws them into a framebuffer of the same size. `--rows` leaves only rows with one of these names; `TEXT*` are all that begin with it.
//!
//! `latency` ends every frame with `glFinish`; `throughput` only every run of frames. Rows are measured in turns, so
//! that drift hits all alike. One JSON object a line: who, row, size, mode, median_us, p99_us, samples.

#![allow(missing_docs, clippy::expect_used)] // a benchmark that cannot run says so and stops

mod arguments;

use arguments::argument;
use pixelferry::driver::path::FrameLayout;
use pixelferry::driver::select::quantile;
use pixelferry::gl_display::glow::HasContext as _;
use pixelferry::gl_display::{DrawOptions, GlDisplay, HeadlessOptions, OffscreenTarget, Viewport};
use pixelferry::{
    Arg, ComputeBackend, ComputeMemory, DeviceIdentity, Display, Extent, ImageAccess, ImageDesc, Kernel, KernelSource,
    Link, LinkOptions, Mode, PathId, PixelFormat, Policy, RowOrder, Surface, SurfaceDesc, SyncKind, Target, Unwritten,
    cuda_backend, opencl_backend,
};
use serde::Serialize;
use std::io::Write as _;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

const SIZES: [(&str, u32, u32); 2] = [("1080p", 1920, 1080), ("4K", 3840, 2160)];
/// Paths that can be late, and by how many frames.
const PIPELINED: [(PathId, &[usize]); 6] = [
    (PathId::EXTERNAL_TEXTURE, &[1, 2, 3, 4, 8, 16]),
    (PathId::EXPORTED_TEXTURE, &[2, 4, 8, 16]),
    (PathId::EXTERNAL_IN_PLACE, &[2, 8, 16]),
    (PathId::EXTERNAL_UPLOAD, &[2, 8]),
    (PathId::EXPORTED_IN_PLACE, &[2, 8]),
    (PathId::EXPORTED_UPLOAD, &[2, 8]),
];
/// Kept apart by the GPU itself.
const SEMAPHORES: [(SyncKind, usize); 8] = [
    (SyncKind::BinarySemaphore, 0),
    (SyncKind::BinarySemaphore, 3),
    (SyncKind::TimelineSemaphore, 0),
    (SyncKind::TimelineSemaphore, 1),
    (SyncKind::TimelineSemaphore, 2),
    (SyncKind::TimelineSemaphore, 3),
    (SyncKind::TimelineSemaphore, 8),
    (SyncKind::TimelineSemaphore, 16),
];
const WARM_UP: usize = 30;
/// Frames between two `glFinish` where throughput is measured.
const RUN: usize = 100;

#[derive(Serialize)]
struct Row {
    who: &'static str,
    api: &'static str,
    row: String,
    size: &'static str,
    mode: &'static str,
    median_us: f64,
    p99_us: f64,
    n: usize,
    samples: Vec<f64>,
}

/// What both sides of every row use.
struct Bench {
    api: &'static str,
    backend: Arc<dyn ComputeBackend>,
    gl: Rc<GlDisplay>,
    kernel: Arc<dyn Kernel>,
    target: OffscreenTarget,
    width: u32,
    height: u32,
}

impl Bench {
    fn open_link(&self, path: PathId, mode: Mode, sync: Option<SyncKind>) -> pixelferry::Result<Link> {
        let policy = Policy::default().with_force(path).with_mode(mode).with_sync(sync);
        let display = Rc::clone(&self.gl) as Rc<dyn Display>;
        Link::open(Arc::clone(&self.backend), display, self.desc(path), LinkOptions::new(policy))
    }

    fn desc(&self, path: PathId) -> SurfaceDesc {
        let in_place = path.name().ends_with("in-place");
        let access = if in_place { ImageAccess::Any } else { ImageAccess::Texture };
        let image = ImageDesc::new(self.width, self.height, PixelFormat::Rgba8);
        let image = image.with_access(access).with_row_order(RowOrder::BottomUp);
        SurfaceDesc::Image(image.with_unwritten(Unwritten::Overwrite))
    }

    /// Every row's link that can be opened.
    fn links(&self) -> Vec<(String, Link)> {
        let mut links = Vec::new();
        let mut open = |name: String, path, mode, sync| {
            if !wanted(&name) {
                return;
            }
            match self.open_link(path, mode, sync) {
                Ok(link) => {
                    let late = link.frames_behind();
                    let measured =
                        if matches!(mode, Mode::Throughput { .. }) { format!(": {late}") } else { String::new() };
                    links.push((name + &measured, link));
                }
                Err(e) => println!("SKIPPED {} {name}: {e}", self.api),
            }
        };
        for path in PathId::ALL {
            open(path.to_string(), path, Mode::Latency, None);
        }
        for (path, lateness) in PIPELINED {
            for late in lateness {
                open(format!("{path}, {late} frames late"), path, Mode::FramesBehind(*late), None);
            }
        }
        // OpenCL has no memory of its own to give: there it is the display's.
        let path = if self.api == "CUDA" { PathId::EXTERNAL_TEXTURE } else { PathId::EXPORTED_TEXTURE };
        open(format!("{path}, lateness measured"), path, Mode::Throughput { most: 16 }, None);
        for (sync, late) in SEMAPHORES {
            open(format!("{path}, {sync}, {late} frames late"), path, Mode::FramesBehind(late), Some(sync));
        }
        links
    }

    fn draw(&self, link: &Link) {
        self.draw_surface(link.shown().expect("shown").surface());
    }

    fn draw_surface(&self, surface: &dyn Surface) {
        self.target.bind().expect("bind");
        self.gl.draw(surface, Viewport::full(self.width, self.height), DrawOptions::default()).expect("draw");
    }

    fn launch_alone(&self, memory: &mut dyn ComputeMemory, n: u32) {
        let extent = Extent::new(self.width, self.height);
        let target = Target::image(memory, extent, PixelFormat::Rgba8).expect("target");
        self.backend.launch(self.kernel.as_ref(), target, &[Arg::U32(n)]).expect("launch");
    }

    fn finish_gl(&self) {
        // SAFETY: the display's context is current on this thread.
        unsafe { self.gl.gl().finish() };
    }
}

/// One frame, not waited for by OpenGL.
type Frame<'a> = Box<dyn FnMut(u32) + 'a>;

/// A row as it is measured.
struct Subject<'a> {
    name: String,
    bench: &'a Bench,
    frame: Frame<'a>,
}

fn subjects<'a>(bench: &'a Bench, links: &'a mut [(String, Link)]) -> Vec<Subject<'a>> {
    let rows = frames(bench, links).into_iter().filter(|(name, _)| wanted(name));
    rows.map(|(name, frame)| Subject { name, bench, frame }).collect()
}

/// Whether `--rows` names it, or nothing.
fn wanted(name: &str) -> bool {
    let names = |text: &str| text.strip_suffix('*').map_or(name == text, |start| name.starts_with(start));
    argument("--rows").is_none_or(|texts| texts.split(',').any(names))
}

/// The frame is read by the host, waited for, and uploaded from there, as programs without sharing do.
fn by_host<'a>(bench: &'a Bench, mut memory: Box<dyn ComputeMemory>) -> Frame<'a> {
    let desc = bench.desc(PathId::HOST_ROUND_TRIP);
    let layout = FrameLayout::new(&desc, bench.gl.caps());
    let (view, part) = (layout.whole().expect("view"), layout.full());
    let mut surface = bench.gl.create_surface(&desc).expect("surface");
    let mut bytes = vec![0; memory.len()];
    Box::new(move |n| {
        bench.launch_alone(memory.as_mut(), n);
        memory.read(0, &mut bytes).expect("read");
        surface.upload(&part, &bytes, &view).expect("upload");
        bench.draw_surface(surface.as_ref());
    })
}

fn frames<'a>(bench: &'a Bench, links: &'a mut [(String, Link)]) -> Vec<(String, Frame<'a>)> {
    let bytes = bench.width as usize * bench.height as usize * 4;
    let memory = || bench.backend.allocate(bytes).expect("memory");
    let still = || {
        let mut link = bench.open_link(PathId::HOST_ROUND_TRIP, Mode::Latency, None).expect("a link");
        link.acquire().and_then(|f| f.finish()).expect("a frame");
        link
    };
    let mut rows: Vec<(String, Frame<'a>)> = Vec::new();
    let mut own = memory();
    rows.push((
        "floor: kernel alone".into(),
        Box::new(move |n| {
            bench.launch_alone(own.as_mut(), n);
            bench.backend.finish().expect("finish");
        }),
    ));
    let link = still();
    rows.push(("floor: draw alone".into(), Box::new(move |_| bench.draw(&link))));
    let (mut own, link) = (memory(), still());
    rows.push((
        "floor: kernel, CPU sync, draw; nothing shared".into(),
        Box::new(move |n| {
            bench.launch_alone(own.as_mut(), n);
            bench.backend.finish().expect("finish");
            bench.draw(&link);
        }),
    ));
    let (mut own, link) = (memory(), still());
    rows.push((
        "floor: kernel and draw unsynchronised".into(),
        Box::new(move |n| {
            bench.launch_alone(own.as_mut(), n);
            bench.draw(&link);
        }),
    ));
    rows.push(("naive: read by the host, upload, draw".into(), by_host(bench, memory())));
    for (name, link) in links {
        rows.push((
            name.clone(),
            Box::new(move |n| {
                let mut frame = link.acquire().expect("acquire");
                frame.launch(bench.kernel.as_ref(), &[Arg::U32(n)]).expect("launch");
                frame.finish().expect("finish");
                bench.draw(link);
            }),
        ));
    }
    rows
}

fn measure(rows: &mut [Subject<'_>], size: &'static str, count: usize) -> Vec<Row> {
    let mut latency: Vec<Vec<f64>> = vec![Vec::new(); rows.len()];
    let mut throughput = latency.clone();
    let mut n = 0;
    // Blocks of frames in turns: one frame of each in turn would make every row pay for its neighbour's caches.
    let blocks = count.div_ceil(RUN);
    for block in 0..=blocks {
        for (i, Subject { bench, frame, .. }) in rows.iter_mut().enumerate() {
            for k in 0..if block == 0 { WARM_UP } else { RUN } {
                let start = Instant::now();
                n += 1;
                frame(n);
                bench.finish_gl();
                let us = start.elapsed().as_secs_f64() * 1e6;
                // The first frames of a block still see the row before.
                if block > 0 && k >= 3 {
                    latency[i].push(us);
                }
            }
            let start = Instant::now();
            for _ in 0..RUN {
                n += 1;
                frame(n);
            }
            bench.backend.finish().expect("finish");
            bench.finish_gl();
            if block > 0 {
                throughput[i].push(start.elapsed().as_secs_f64() * 1e6 / RUN as f64);
            }
        }
    }
    let modes = [("latency", latency), ("throughput", throughput)];
    let row = |mode, subject: &Subject<'_>, samples: Vec<f64>| Row {
        who: "pixelferry",
        api: subject.bench.api,
        row: subject.name.clone(),
        size,
        mode,
        median_us: quantile(&samples, 0.5),
        p99_us: quantile(&samples, 0.99),
        n: samples.len(),
        samples,
    };
    let mut out = Vec::new();
    for (mode, all) in modes {
        out.extend(rows.iter().zip(all).map(|(subject, samples)| row(mode, subject, samples)));
    }
    out
}

fn source() -> KernelSource {
    let cuda = "__global__ void ramp(PF_IMAGE(uchar4, out), unsigned n) {
           int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
           if (x < out_width && y < out_height) PF_STORE(out, x, y, make_uchar4(x + n, y, n, 255));
         }";
    let opencl = "__kernel void ramp(PF_IMAGE(uchar4, out), uint n) {
           int x = get_global_id(0), y = get_global_id(1);
           if (x < out_width && y < out_height) PF_STORE(out, x, y, (uchar4)(x + n, y, n, 255));
         }";
    // SAFETY: both write pixels below the width and height only, and take a number.
    unsafe { KernelSource::new("ramp").cuda_cpp(cuda).opencl_c(opencl) }
}

fn main() {
    let devices = match cuda_backend::devices() {
        Ok(devices) => devices,
        Err(e) => return println!("SKIPPED: {e}"),
    };
    let number = |name| argument(name).map_or(0, |n| n.parse().expect("a device number"));
    let device = |name| devices.get(number(name)).expect("a device that exists");
    let backend = cuda_backend::CudaBackend::open(device("--compute-on")).expect("the benchmark needs CUDA");
    let backend: Arc<dyn ComputeBackend> = Arc::new(backend);
    let same_device_as = Some(device("--draw-on").identity().clone());
    let gl = GlDisplay::headless(HeadlessOptions::default().with_same_device_as(same_device_as));
    let gl = gl.expect("the benchmark needs OpenGL");
    let opencl = opencl_on(device("--compute-on").identity());
    let apis: Vec<_> = [("CUDA", backend)].into_iter().chain(opencl.map(|b| ("OpenCL", b))).collect();
    for (_, backend) in &apis {
        println!("{} -> {}\n{}, {}", backend.device(), gl.device(), backend.device().driver, gl.device().driver);
    }
    let count = argument("--frames").and_then(|n| n.parse().ok()).unwrap_or(300);
    let mut file = argument("--json").map(|path| std::fs::File::create(path).expect("a file to write to"));
    println!("{:<6} {:<11} {:<6} {:<48} {:>10} {:>10} {:>5}", "size", "mode", "api", "row", "median us", "p99 us", "n");
    for (size, width, height) in SIZES {
        let open = |(api, backend): &(&'static str, Arc<dyn ComputeBackend>)| {
            let kernel = backend.build(&source()).expect("kernel");
            let target = gl.create_offscreen_target(width, height).expect("target");
            let bench = Bench { api, backend: Arc::clone(backend), gl: Rc::clone(&gl), kernel, target, width, height };
            let links = bench.links();
            (bench, links)
        };
        let mut benches: Vec<_> = apis.iter().map(open).collect();
        let mut rows: Vec<_> = benches.iter_mut().flat_map(|(bench, links)| subjects(bench, links)).collect();
        for row in measure(&mut rows, size, count) {
            println!(
                "{:<6} {:<11} {:<6} {:<48} {:>10.1} {:>10.1} {:>5}",
                row.size, row.mode, row.api, row.row, row.median_us, row.p99_us, row.n
            );
            if let Some(file) = &mut file {
                let line = serde_json::to_string(&row).expect("a line");
                writeln!(file, "{line}").expect("samples written");
            }
        }
    }
}

/// OpenCL's backend of the same GPU.
fn opencl_on(device: &DeviceIdentity) -> Option<Arc<dyn ComputeBackend>> {
    let devices = opencl_backend::devices().unwrap_or_default();
    let same = devices.iter().find(|d| d.identity().uuid.is_some() && d.identity().uuid == device.uuid);
    let Some(same) = same else {
        println!("SKIPPED OpenCL: no OpenCL device has the UUID of {device}");
        return None;
    };
    Some(Arc::new(opencl_backend::OpenClBackend::open(same).expect("an OpenCL device that was listed")))
}
