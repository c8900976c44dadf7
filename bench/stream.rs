//! `cargo bench -p pixelferry-measure --bench stream [-- --backend NAME --sizes TEXT;... --frames N --json FILE]`:
//! compares frames from one process to another with the same frames within one process.
//!
//! `latency` is the time from before a frame's kernel to the end of the draw that shows it, by the clock that both
//! processes share. `throughput` is the interval between shown frames while the publisher publishes without pause.
//! Within one process the link takes its best path, or the host's. The subscriber's kernels run in its display's queue
//! and store into the target. All pixels of a shown frame hold one number, which is read back and compared before
//! anything is timed.

#![allow(missing_docs, clippy::expect_used)] // a benchmark that cannot run says so and stops
#![cfg(target_os = "linux")]

use interop_core::describe::pattern::Pattern;
use measure::{Screen, argument, listed, number, write_rows};
use pixelferry::api::gl::{self, GlBackend, GlDisplay};
use pixelferry::api::wgpu::{WgpuBackend, WgpuDisplay, WgpuOptions};
use pixelferry::command::ApiChoice as _;
use pixelferry::driver::select::quantile;
use pixelferry::stream::{NextFrame, StreamDisplay, StreamOptions, Subscriber, publish};
use pixelferry::{
    Arg, BackendChoice, ComputeBackend, Display, DrawOptions, ImageAccess, ImageDesc, Kernel, KernelSource, Link,
    LinkCore, LinkOptions, PathId, PixelFormat, Policy, SurfaceDesc, Unwritten, View, open_backend,
};
use serde::Serialize;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

type Size = (u32, u32);

const SIZES: [(&str, Size); 3] = [("1080p", (1920, 1080)), ("4K", (3840, 2160)), ("8K", (7680, 4320))];
const SOON: Duration = Duration::from_secs(20);
const CHILD: &str = "--publish";

const COPY: &str = "
@group(1) @binding(0) var<storage, read> pixels: array<u32>;
@compute @workgroup_size(16, 16)
fn copy(@builtin(global_invocation_id) id: vec3<u32>) {
  if (!pf_inside(id.xy)) { return; }
  pf_store(id.xy, unpack4x8unorm(pixels[pf_arg_u32(0) + id.y * pf_arg_u32(1) + id.x]));
}";

#[derive(Serialize)]
struct StreamRow {
    size: &'static str,
    row: String,
    path: String,
    us: Vec<f64>,
}

fn desc((width, height): Size) -> SurfaceDesc {
    let image = ImageDesc::new(width, height, PixelFormat::Rgba8).with_access(ImageAccess::Any);
    SurfaceDesc::Image(image.with_unwritten(Unwritten::Overwrite))
}

/// Returns the nanoseconds of the clock that all processes share.
fn now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn frame(link: &mut LinkCore, backend: &dyn ComputeBackend, number: u32) {
    link.frame(|frame| {
        let target = frame.target()?;
        let pattern = Pattern::flat(&target.view(), number);
        backend.write_pattern(target, &pattern)
    })
    .expect("a frame");
}

/// The publisher's process: a line on its input requests one frame, and `stream` requests frames until a second line.
fn child(name: &str) {
    let backend = open_backend(backend_choice(), &[]).expect("a backend");
    let size = SIZES.iter().find(|(size, _)| listed("--sizes", size)).expect("a size").1;
    let stream = publish(name, backend.as_ref(), StreamOptions::default()).expect("a stream");
    let display: Arc<StreamDisplay> = Arc::clone(&stream);
    let mut link = Link::open(Arc::clone(&backend), display, desc(size), LinkOptions::default()).expect("a link");
    println!("{}", link.path());
    let mut made = 0;
    let mut publish = |link: &mut LinkCore| {
        made += 1;
        let began = now();
        frame(link, backend.as_ref(), made);
        stream.publish(&link.shown().expect("a frame")).expect("published");
        began
    };
    let (send, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || std::io::stdin().lines().map_while(Result::ok).all(|line| send.send(line).is_ok()));
    while let Ok(line) = lines.recv() {
        if line == "stream" {
            while lines.try_recv().is_err() {
                publish(&mut link);
            }
        } else {
            println!("{}", publish(&mut link));
        }
    }
}

/// The publisher as the subscriber's process sees it.
struct Publisher {
    process: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    asks: ChildStdin,
    name: String,
    path: String,
}

impl Publisher {
    fn start(size: &str) -> Self {
        let name = format!("bench-{}-{size}", std::process::id());
        let backend = backend_choice().name();
        let mut process = Command::new(std::env::current_exe().expect("this program"))
            .args([CHILD, &name, "--sizes", size, "--backend", backend])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("another process");
        let asks = process.stdin.take().expect("a pipe");
        let mut lines = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        let path = lines.next().expect("a publisher").expect("its path");
        Self { process, lines, asks, name, path }
    }

    fn ask(&mut self, line: &str) {
        writeln!(self.asks, "{line}").expect("the publisher lives");
    }

    /// Returns when the requested frame began.
    fn began(&mut self) -> u64 {
        self.lines.next().expect("a line").expect("a line").parse().expect("a time")
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A display and the backend in its queue.
struct Shows {
    name: &'static str,
    display: Arc<dyn Display>,
    backend: Arc<dyn ComputeBackend>,
    screen: Screen,
    kernel: Arc<dyn Kernel>,
    link: Link,
    size: Size,
}

impl Shows {
    fn new(name: &'static str, size: Size) -> pixelferry::Result<Self> {
        let (display, backend, screen): (Arc<dyn Display>, Arc<dyn ComputeBackend>, _) = if name == "OpenGL" {
            let display = GlDisplay::headless(gl::HeadlessOptions::default())?;
            let backend = Arc::new(GlBackend::on(&display)?);
            let screen = Screen::gl(&display, size)?;
            (display, backend, screen)
        } else {
            let display = WgpuDisplay::headless(WgpuOptions::default())?;
            let backend = Arc::new(WgpuBackend::on(display.shared_device())?);
            let screen = Screen::wgpu(&display, size)?;
            (display, backend, screen)
        };
        let kernel = backend.build(&KernelSource::new("copy").wgsl(COPY))?;
        let link = Link::open(Arc::clone(&backend), Arc::clone(&display), desc(size), LinkOptions::default())?;
        Ok(Self { name, display, backend, screen, kernel, link, size })
    }

    /// Shows the newest frame of a stream, and waits until it is shown.
    fn stream(&mut self, subscriber: &mut Subscriber) {
        let next = subscriber.next(SOON).expect("a stream");
        let frame =
            if let NextFrame::Frame(frame) = next { Some(frame) } else { None }.expect("a frame that comes soon");
        let view = frame.view();
        let view = view.pixels().expect("a stream of images");
        let args = [Arg::Memory(frame.memory()), Arg::U32(view.offset as u32 / 4), Arg::U32(view.pitch() as u32 / 4)];
        let kernel = self.kernel.as_ref();
        let launch = |next: &mut pixelferry::WriteFrame<'_>| next.launch(kernel, &args);
        self.screen.show(&mut self.link, self.size, DrawOptions::default(), launch).expect("a frame");
        self.screen.finish().expect("the display goes on");
    }

    /// Compares the number of every pixel with that of the frame.
    fn compare(&self, number: u32) {
        let view = View::Image(pixelferry::ImageView {
            offset: 0,
            row_pitch: self.size.0 as isize * 4,
            extent: pixelferry::Extent::new(self.size.0, self.size.1),
            format: PixelFormat::Rgba8,
        });
        let wanted = Pattern::flat(&view, number).word(0, 0).to_ne_bytes();
        let pixels = self.screen.pixels().expect("pixels");
        assert!(
            pixels.chunks_exact(4).all(|pixel| pixel == wanted),
            "{}: {:?} is not {wanted:?}",
            self.name,
            &pixels[..4]
        );
    }
}

fn backend_choice() -> BackendChoice {
    argument("--backend").map_or(BackendChoice::Auto, |name| BackendChoice::parse(&name).expect("a backend"))
}

fn report(rows: &mut Vec<StreamRow>, size: &'static str, row: String, path: String, mut us: Vec<f64>) {
    us.sort_by(f64::total_cmp);
    let at = |q| quantile(&us, q);
    println!("{size:6} {row:44} {path:20} {:9.1} {:9.1}", at(0.5), at(0.99));
    rows.push(StreamRow { size, row, path, us });
}

/// A link within this process, by its own best path or one that is asked for.
fn within(shows: &Shows, backend: &Arc<dyn ComputeBackend>, path: Option<PathId>, frames: usize) -> (String, Vec<f64>) {
    let policy = path.map_or_else(Policy::default, |path| Policy::default().with_force(path));
    let display = Arc::clone(&shows.display);
    let mut link =
        Link::open(Arc::clone(backend), display, desc(shows.size), LinkOptions::new(policy)).expect("a link");
    let mut number = 0;
    let mut show = |link: &mut LinkCore| {
        number += 1;
        let kernel = |next: &mut pixelferry::WriteFrame<'_>| {
            let target = next.target()?;
            let pattern = Pattern::flat(&target.view(), number);
            backend.write_pattern(target, &pattern)
        };
        shows.screen.show(link, shows.size, DrawOptions::default(), kernel).expect("a frame");
        shows.screen.finish().expect("the display goes on");
    };
    for _ in 0..50 {
        show(&mut link);
    }
    shows.compare(50);
    let timed = |_| {
        let began = Instant::now();
        show(&mut link);
        began.elapsed().as_secs_f64() * 1e6
    };
    let latency: Vec<_> = (0..frames).map(timed).collect();
    (link.path().to_string(), latency)
}

fn main() {
    measure::options(&["--backend", "--frames", "--json", "--publish", "--sizes"]);
    if let Some(name) = argument(CHILD) {
        return child(&name);
    }
    let frames = number("--frames", 300);
    let mut rows = Vec::new();
    println!("{:6} {:44} {:20} {:>9} {:>9}", "size", "row", "path", "median us", "p99 us");
    for (name, size) in SIZES.into_iter().filter(|(name, _)| listed("--sizes", name)) {
        let backend = open_backend(backend_choice(), &[]).expect("a backend");
        for shown in ["OpenGL", "wgpu"] {
            let mut shows = match Shows::new(shown, size) {
                Ok(shows) => shows,
                Err(error) => {
                    println!("SKIPPED: {shown}: {error}");
                    continue;
                }
            };
            let mut publisher = Publisher::start(name);
            let mut subscriber = Subscriber::open(&publisher.name, &shows.backend).expect("a stream");
            for number in 1..=50 {
                publisher.ask("one");
                shows.stream(&mut subscriber);
                publisher.began();
                if number % 10 == 0 {
                    shows.compare(number);
                }
            }
            let path = format!("{} > {}", publisher.path, subscriber.path().expect("a frame"));
            for (path, reason) in subscriber.refused() {
                println!("{path}: {reason}");
            }
            let mut latency = Vec::new();
            for _ in 0..frames {
                publisher.ask("one");
                shows.stream(&mut subscriber);
                let end = now();
                latency.push((end - publisher.began()) as f64 / 1e3);
            }
            report(&mut rows, name, format!("{shown}: latency, two processes"), path.clone(), latency);
            publisher.ask("stream");
            let mut intervals = Vec::new();
            for at in 0..frames + 20 {
                let began = Instant::now();
                shows.stream(&mut subscriber);
                if at >= 20 {
                    intervals.push(began.elapsed().as_secs_f64() * 1e6);
                }
            }
            publisher.ask("stop");
            report(&mut rows, name, format!("{shown}: interval, two processes"), path, intervals);
            drop(subscriber);
            drop(publisher);
            for (label, path) in [
                ("one process", None),
                ("one process, the same path", Some(PathId::EXPORTED_IN_PLACE)),
                ("one process, by the host", Some(PathId::HOST_ROUND_TRIP)),
            ] {
                let (path, latency) = within(&shows, &backend, path, frames);
                report(&mut rows, name, format!("{shown}: latency, {label}"), path, latency);
            }
        }
    }
    write_rows(&rows);
}
