//! An event loop that opens windows, lets them have their sizes and closes them, again and again.

use super::canvas::{Canvas, Engine, Wgpu, gl_config};
use super::visit::{SIZES, Tools, Visit, winit_size};
use glutin::config::Config;
use pixelferry::Extent;
use pixelferry::api::gl::winit::application::ApplicationHandler;
use pixelferry::api::gl::winit::dpi::PhysicalPosition;
use pixelferry::api::gl::winit::event::{StartCause, WindowEvent};
use pixelferry::api::gl::winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoopProxy};
use pixelferry::api::gl::winit::window::{Window, WindowAttributes, WindowId};
use pixelferry::api::gl::{GlWindow, WindowOptions};
use pixelferry::api::wgpu::wgpu;
use pixelferry_tests::{Need, Patience, Usage, Viewer, need};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// API that the windows of a round are drawn with.
pub enum Api {
    /// A [`GlWindow`] on the loop's thread.
    Own,
    /// OpenGL, with contexts that an engine made.
    Engine(Config),
    /// wgpu on Vulkan, with a device for each window.
    Wgpu(wgpu::Instance),
    /// wgpu on OpenGL, with an instance for each, as its devices share one context.
    WgpuOnGl,
}

pub fn instance(event_loop: &ActiveEventLoop, backends: wgpu::Backends) -> wgpu::Instance {
    let handle = Box::new(event_loop.owned_display_handle());
    let descriptor = wgpu::InstanceDescriptor::new_with_display_handle(handle);
    wgpu::Instance::new(wgpu::InstanceDescriptor { backends, ..descriptor })
}

/// Returns the kind of windows, and their number at a time.
fn kind(name: &str, event_loop: &ActiveEventLoop) -> Option<(Api, usize)> {
    let (api, windows) = name.split_once(' ').unwrap();
    let api = match api {
        "own" => Api::Own,
        "engine-glx" => Api::Engine(gl_config(event_loop, false)),
        "engine-egl" => Api::Engine(gl_config(event_loop, true)),
        "wgpu" => {
            let instance = instance(event_loop, wgpu::Backends::VULKAN);
            let adapter = instance.request_adapter(&wgpu::RequestAdapterOptions::default());
            need(Need::Lavapipe, pollster::block_on(adapter))?;
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
struct EndNotice(EventLoopProxy<WindowId>, WindowId);

impl Drop for EndNotice {
    fn drop(&mut self) {
        // Nobody hears it where the loop has ended.
        let _ = self.0.send_event(self.1);
    }
}

/// After so many rounds.
#[derive(Debug)]
pub struct Sample {
    pub round: u32,
    pub usage: Usage,
    /// In the X server.
    pub kept: BTreeMap<String, u64>,
}

pub struct App {
    kind: String,
    rounds: u32,
    round: u32,
    tools: Arc<Tools>,
    proxy: EventLoopProxy<WindowId>,
    /// `None` where the machine lacks the driver.
    pub api: Option<(Api, usize)>,
    open: Vec<(WindowId, Open)>,
    pub samples: Vec<Sample>,
    /// Since something happened.
    alive: Patience,
}

impl App {
    /// `kind` is a name of [`kind`], and how many windows there are at a time.
    pub fn new(kind: String, rounds: u32, viewer: Viewer, proxy: EventLoopProxy<WindowId>) -> Self {
        Self {
            kind,
            rounds,
            round: 0,
            tools: Arc::new(Tools::new(viewer)),
            proxy,
            api: None,
            open: Vec::new(),
            samples: Vec::new(),
            alive: Patience::new(),
        }
    }

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
        let (tools, turn) = (&self.tools, self.round as usize + 5 * number);
        let start = |window: Window, draw: Draw| {
            let ((sizes, told), tools) = (channel(), Arc::clone(tools));
            let (id, ended) = (window.id(), EndNotice(self.proxy.clone(), window.id()));
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
            Some((Api::Own, _)) => {
                let options = WindowOptions::default().with_size(size).with_vsync(false);
                let window = GlWindow::with_attributes(event_loop, attributes, &options).unwrap();
                let id = window.window().id();
                let mut visit = Visit::new(Box::new(window), Arc::clone(tools), at, turn);
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
        assert!(!self.alive.is_over(), "nothing happens any more");
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
        self.alive.renew();
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
