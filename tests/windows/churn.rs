//! Windows that are opened and closed again, 24 times or `PIXELFERRY_ROUNDS`: the memory of the process, its descriptors
//! and threads, and what it keeps in the X server stay what they were.

use crate::canvas::{Canvas, Engine, Wgpu, gl_config};
use crate::visit::{SIZES, Tools, Visit, winit_size};
use glutin::config::Config;
use pixelferry::Extent;
use pixelferry::gl::winit::application::ApplicationHandler;
use pixelferry::gl::winit::dpi::PhysicalPosition;
use pixelferry::gl::winit::event::{StartCause, WindowEvent};
use pixelferry::gl::winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy};
use pixelferry::gl::winit::platform::x11::EventLoopBuilderExtX11 as _;
use pixelferry::gl::winit::window::{Window, WindowAttributes, WindowId};
use pixelferry::gl::{GlWindow, WindowOptions};
use pixelferry::wgpu_display::wgpu;
use pixelferry_tests::{Driver, Usage, Viewer, Xvfb, need, pass_in_child};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Pages that the allocator keeps here and there.
const RSS_SLACK: u64 = 2 << 20;

/// Above that, what a window may leave for good: 65 bytes were measured over 2400 rounds.
const RSS_PER_WINDOW: u64 = 256;

/// The same where wgpu ends EGL's display with each window: llvmpipe keeps three pages of compiled code of each (see
/// `docs/drivers.md`).
const RSS_PER_EGL_DISPLAY: u64 = 16 << 10;

/// What Mesa's Vulkan leaves in the X server with each swapchain where it draws on the CPU (see `docs/drivers.md`), and how
/// many at most. wgpu makes a swapchain for each size.
const LEFT_BY_LAVAPIPE: [(&str, u64); 2] = [("GC", 1), ("XFixesRegion", 4)];

/// What the windows of a round are drawn with.
enum Api {
    /// A [`GlWindow`] on the loop's thread.
    Own { prefer_egl: bool },
    /// OpenGL, with contexts that an engine made.
    Engine(Config),
    /// wgpu on Vulkan, with a device for each window.
    Wgpu(wgpu::Instance),
    /// wgpu on OpenGL, with an instance for each, as its devices share one context.
    WgpuOnGl,
}

fn instance(event_loop: &ActiveEventLoop, backends: wgpu::Backends) -> wgpu::Instance {
    let handle = Box::new(event_loop.owned_display_handle());
    let descriptor = wgpu::InstanceDescriptor::new_with_display_handle(handle);
    wgpu::Instance::new(wgpu::InstanceDescriptor { backends, ..descriptor })
}

/// Of which kind, and how many at a time.
fn kind(name: &str, event_loop: &ActiveEventLoop) -> Option<(Api, usize)> {
    let (api, windows) = name.split_once(' ').unwrap();
    let api = match api {
        "own-glx" => Api::Own { prefer_egl: false },
        "own-egl" => Api::Own { prefer_egl: true },
        "engine-glx" => Api::Engine(gl_config(event_loop, false)),
        "engine-egl" => Api::Engine(gl_config(event_loop, true)),
        "wgpu" => {
            let instance = instance(event_loop, wgpu::Backends::VULKAN);
            let adapter = instance.request_adapter(&wgpu::RequestAdapterOptions::default());
            need(Driver::Lavapipe, pollster::block_on(adapter))?;
            Api::Wgpu(instance)
        }
        "wgpu-on-gl" => Api::WgpuOnGl,
        other => panic!("no windows of {other}"),
    };
    Some((api, windows.parse().unwrap()))
}

/// A window that is open.
enum Open {
    /// On this thread.
    Here(Box<Visit>),
    /// On a thread of its own, which is told the sizes.
    There(Sender<Extent>, JoinHandle<()>),
}

/// Makes what a thread draws with.
type Draw = Box<dyn FnOnce(Arc<Window>) -> Box<dyn Canvas> + Send>;

/// Tells the loop that the thread of a window is at its end, however it came there.
struct Ended(EventLoopProxy<WindowId>, WindowId);

impl Drop for Ended {
    fn drop(&mut self) {
        // Nobody hears it where the loop has ended.
        let _ = self.0.send_event(self.1);
    }
}

/// After so many rounds.
#[derive(Debug)]
struct Sample {
    round: u32,
    usage: Usage,
    /// In the X server.
    kept: BTreeMap<String, u64>,
}

struct App {
    kind: String,
    rounds: u32,
    round: u32,
    tools: Arc<Tools>,
    proxy: EventLoopProxy<WindowId>,
    api: Option<(Api, usize)>,
    open: Vec<(WindowId, Open)>,
    samples: Vec<Sample>,
    /// Something happened.
    alive: Instant,
}

impl App {
    fn next(&mut self, event_loop: &ActiveEventLoop) {
        if self.round.is_multiple_of((self.rounds / 8).max(1)) || self.round == self.rounds {
            self.measure(event_loop);
        }
        if self.round == self.rounds {
            return event_loop.exit();
        }
        let Some((_, windows)) = self.api else { return event_loop.exit() };
        for number in 0..windows {
            self.open(event_loop, number);
        }
        self.round += 1;
    }

    fn open(&mut self, event_loop: &ActiveEventLoop, number: usize) {
        let at = (8 + 240 * number as i16, 8);
        let size = SIZES[0];
        let attributes = WindowAttributes::default()
            .with_inner_size(winit_size(size))
            .with_position(PhysicalPosition::new(at.0, at.1));
        let (tools, turn) = (Arc::clone(&self.tools), self.round as usize + 5 * number);
        let start = |window: Window, draw: Draw| {
            let (sizes, told) = channel();
            let (id, ended) = (window.id(), Ended(self.proxy.clone(), window.id()));
            let thread = std::thread::spawn(move || {
                // Goes last.
                let _ended = ended;
                let mut visit = Visit::new(draw(Arc::new(window)), tools, at, turn);
                let mut size = SIZES[0];
                while visit.sized(size) {
                    size = told.recv().unwrap();
                }
            });
            (id, Open::There(sizes, thread))
        };
        let opened = match &self.api {
            None => return,
            Some((Api::Own { prefer_egl }, _)) => {
                let options = WindowOptions { size, prefer_egl: *prefer_egl, vsync: false, ..WindowOptions::default() };
                let window = GlWindow::with_attributes(event_loop, attributes, &options).unwrap();
                let id = window.window().id();
                let mut visit = Visit::new(Box::new(window), tools, at, turn);
                assert!(visit.sized(size));
                (id, Open::Here(Box::new(visit)))
            }
            Some((Api::Engine(config), _)) => {
                let config = config.clone();
                let window = event_loop.create_window(attributes).unwrap();
                start(window, Box::new(move |window| Box::new(Engine::new(window, &config, size))))
            }
            Some((api @ (Api::Wgpu(_) | Api::WgpuOnGl), _)) => {
                let instance = match api {
                    Api::Wgpu(instance) => instance.clone(),
                    _ => instance(event_loop, wgpu::Backends::GL),
                };
                let window = event_loop.create_window(attributes).unwrap();
                start(window, Box::new(move |window| Box::new(Wgpu::new(window, &instance, size))))
            }
        };
        self.open.push(opened);
    }

    fn closed(&mut self, event_loop: &ActiveEventLoop) {
        if self.open.is_empty() {
            self.next(event_loop);
        }
    }

    /// With one window that nothing was drawn in: making it sends to the server what waits to be sent.
    fn measure(&mut self, event_loop: &ActiveEventLoop) {
        let _empty = event_loop.create_window(WindowAttributes::default().with_visible(false)).unwrap();
        let (kept, usage) = (self.tools.viewer.kept().unwrap(), Usage::here().unwrap());
        println!("{} after {} rounds: {usage:?}, {kept:?}", self.kind, self.round);
        self.samples.push(Sample { round: self.round, usage, kept });
    }
}

impl ApplicationHandler<WindowId> for App {
    fn new_events(&mut self, _: &ActiveEventLoop, _: StartCause) {
        assert!(self.alive.elapsed() < Duration::from_secs(60), "nothing happened for a minute");
    }

    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        self.api = kind(&self.kind, event_loop);
        self.next(event_loop);
    }

    fn user_event(&mut self, event_loop: &ActiveEventLoop, id: WindowId) {
        let Some(at) = self.open.iter().position(|(window, _)| *window == id) else { return };
        if let (_, Open::There(_, thread)) = self.open.swap_remove(at) {
            thread.join().unwrap();
        }
        self.closed(event_loop);
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, id: WindowId, event: WindowEvent) {
        self.alive = Instant::now();
        let WindowEvent::Resized(size) = event else { return };
        let size = Extent::new(size.width, size.height);
        let Some(at) = self.open.iter().position(|(window, _)| *window == id) else { return };
        let goes = match &mut self.open[at].1 {
            Open::Here(visit) => !visit.sized(size),
            Open::There(sizes, _) => {
                // It may be at its end.
                let _ = sizes.send(size);
                false
            }
        };
        if goes {
            self.open.swap_remove(at);
            self.closed(event_loop);
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        // winit sleeps through events that OpenGL on another thread took from the connection and left in its queue.
        event_loop.set_control_flow(ControlFlow::WaitUntil(Instant::now() + Duration::from_millis(5)));
    }
}

#[test]
#[ignore = "run by the tests below, each in a process of its own"]
fn child() {
    let kind = std::env::var("PIXELFERRY_WINDOWS_OF").unwrap();
    let rounds = std::env::var("PIXELFERRY_ROUNDS").map_or(24, |n| n.parse().expect("a number"));
    let viewer = Viewer::of(&std::env::var("DISPLAY").unwrap()).unwrap();
    let event_loop = EventLoop::with_user_event().with_any_thread(true).build().unwrap();
    let mut app = App {
        kind,
        rounds,
        round: 0,
        tools: Arc::new(Tools::new(viewer)),
        proxy: event_loop.create_proxy(),
        api: None,
        open: Vec::new(),
        samples: Vec::new(),
        alive: Instant::now(),
    };
    event_loop.run_app(&mut app).unwrap();
    let Some(api) = &app.api else { return };
    // The first half fills the caches of drivers.
    let (first, last) = (&app.samples[app.samples.len() / 2], app.samples.last().unwrap());
    judge(first, last, api);
    println!("CHURNED: {} rounds of {}", app.round, app.kind);
}

fn judge(first: &Sample, last: &Sample, (api, at_a_time): &(Api, usize)) {
    let windows = u64::from(last.round - first.round) * *at_a_time as u64;
    assert!(windows > 0, "too few rounds");
    let left = if let Api::WgpuOnGl = api { RSS_PER_EGL_DISPLAY } else { RSS_PER_WINDOW };
    let swapchains = if let Api::Wgpu(_) = api { windows * SIZES.len() as u64 } else { 0 };
    let grew = last.usage.rss.saturating_sub(first.usage.rss);
    println!("{windows} windows: {} bytes more with each", grew / windows);
    assert!(grew <= RSS_SLACK + left * windows, "memory grew from {} to {}", first.usage.rss, last.usage.rss);
    assert_eq!(last.usage.descriptors, first.usage.descriptors, "file descriptors");
    assert_eq!(last.usage.threads, first.usage.threads, "threads");
    let mut kept = last.kept.clone();
    for (what, left) in LEFT_BY_LAVAPIPE {
        let (before, limit) = (first.kept.get(what).copied().unwrap_or(0), left * swapchains);
        kept.entry(what.into()).and_modify(|n| *n = (*n).saturating_sub(limit).max(before));
    }
    assert_eq!(kept, first.kept, "in the X server");
}

/// Of a kind of windows, and so many at a time.
fn churn(kind: &str) {
    let Some(server) = need(Driver::Xvfb, Xvfb::start(800, 600)) else { return };
    // With a heap for each thread that comes and goes the allocator keeps 10 MB more or less by chance.
    let env = [("DISPLAY", server.display()), ("PIXELFERRY_WINDOWS_OF", kind), ("MALLOC_ARENA_MAX", "1")];
    let before = Usage::of(server.process()).unwrap();
    pass_in_child("churn::child", None, &env, &["CHURNED", "SKIPPED"]);
    println!("the X server: {before:?} -> {:?}", Usage::of(server.process()).unwrap());
}

#[test]
fn windows_by_glx() {
    churn("own-glx 1");
}

#[test]
fn windows_by_egl() {
    churn("own-egl 1");
}

#[test]
fn windows_by_wgpu() {
    churn("wgpu 1");
}

#[test]
fn windows_by_wgpu_on_opengl() {
    churn("wgpu-on-gl 1");
}

#[test]
fn two_threads_by_glx() {
    churn("engine-glx 2");
}

#[test]
fn two_threads_by_egl() {
    churn("engine-egl 2");
}

#[test]
fn two_threads_by_wgpu() {
    churn("wgpu 2");
}
