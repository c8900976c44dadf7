//! The engine's windows, contexts and threads, by winit and glutin. Nothing here depends on pixelferry.

use crate::engine::output::complain;
use crate::engine::{EngineOptions, Failure, SEA_SIDE};
use glow::HasContext as _;
use glutin::config::{Config, ConfigSurfaceTypes, ConfigTemplateBuilder};
use glutin::context::{ContextApi, ContextAttributesBuilder, NotCurrentContext, PossiblyCurrentContext, Version};
use glutin::display::{Display, DisplayApiPreference, GetGlDisplay as _};
use glutin::prelude::*;
use glutin::surface::{Surface, SurfaceAttributesBuilder, SwapInterval, WindowSurface};
use glutin_winit::finalize_window;
use std::collections::HashMap;
use std::ffi::{CStr, c_void};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::thread;
use winit::application::ApplicationHandler;
use winit::dpi::{PhysicalPosition, PhysicalSize};
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, EventLoop, EventLoopProxy};
use winit::raw_window_handle::{HasDisplayHandle as _, RawWindowHandle};
use winit::window::{Window, WindowAttributes, WindowId};

/// A window as its thread and the event loop see it.
#[derive(Default)]
struct Status {
    frame: AtomicU64,
    size: [AtomicU32; 2],
    closed: AtomicBool,
    was_lost: AtomicBool,
}

impl Status {
    fn set_size(&self, (width, height): (u32, u32)) {
        self.size[0].store(width, Relaxed);
        self.size[1].store(height, Relaxed);
    }
}

/// The next step of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramStep {
    /// Draw the frame with this number.
    Frame(u64),
    /// Lose the context.
    Lose,
    /// Draw nothing more in this context.
    End,
}

/// A context that is current on this thread, and its target.
pub struct Canvas<'a> {
    context: Option<PossiblyCurrentContext>,
    window: Option<(&'a Arc<Window>, Surface<WindowSurface>)>,
    config: &'a Config,
    options: &'a EngineOptions,
    status: &'a Status,
}

impl<'a> Canvas<'a> {
    /// Creates a context for a window, or without one, and makes it current.
    fn new(
        options: &'a EngineOptions,
        config: &'a Config,
        window: Option<&'a Arc<Window>>,
        status: &'a Status,
    ) -> Result<Self, Failure> {
        let version = ContextApi::OpenGl(Some(Version::new(3, 3)));
        let handle = window.map(|window| handle(window)).transpose()?;
        let attributes = ContextAttributesBuilder::new().with_context_api(version).build(handle);
        // SAFETY: the handle, where there is one, is of a window that is borrowed for longer than the context lives.
        let context = unsafe { config.display().create_context(config, &attributes) }?;
        let (context, window) = match window.zip(handle) {
            None => (surfaceless(context)?, None),
            Some((window, handle)) => {
                let side = |at: usize| NonZeroU32::new(status.size[at].load(Relaxed)).unwrap_or(NonZeroU32::MIN);
                let builder = SurfaceAttributesBuilder::<WindowSurface>::new();
                let attributes = builder.build(handle, side(0), side(1));
                // SAFETY: as above.
                let surface = unsafe { config.display().create_window_surface(config, &attributes) }?;
                let context = context.make_current(&surface)?;
                // The result is ignored: not every driver can set the swap interval.
                let _ = surface.set_swap_interval(&context, SwapInterval::DontWait);
                (context, Some((window, surface)))
            }
        };
        Ok(Self { context: Some(context), window, config, options, status })
    }

    /// Returns the OpenGL function with that name.
    pub fn load(&self, name: &CStr) -> *const c_void {
        self.config.display().get_proc_address(name)
    }

    /// Returns the size to draw in pixels.
    pub fn size(&self) -> (u32, u32) {
        let [width, height] = &self.status.size;
        (width.load(Relaxed).max(1), height.load(Relaxed).max(1))
    }

    pub fn step(&self) -> ProgramStep {
        let frame = self.status.frame.load(Relaxed);
        if self.options.lose_at == Some(frame) && !self.status.was_lost.swap(true, Relaxed) {
            return ProgramStep::Lose;
        }
        if self.status.closed.load(Relaxed) || self.options.is_over(frame) {
            return ProgramStep::End;
        }
        ProgramStep::Frame(frame)
    }

    /// Shows what was drawn. Returns [`ProgramStep::End`] where windows are to be closed and opened again.
    pub fn present(&self) -> Result<ProgramStep, Failure> {
        if let (Some((window, surface)), Some(context)) = (&self.window, &self.context) {
            surface.swap_buffers(context)?;
            let (width, height) = self.size();
            if let (Some(width), Some(height)) = (NonZeroU32::new(width), NonZeroU32::new(height)) {
                surface.resize(context, width, height);
            }
            window.request_redraw();
        }
        let frame = self.status.frame.fetch_add(1, Relaxed) + 1;
        if let Some(size) = self.options.new_size(frame) {
            match &self.window {
                Some((window, _)) => drop(window.request_inner_size(PhysicalSize::new(size.0, size.1))),
                None => self.status.set_size(size),
            }
        }
        Ok(if self.options.reopens(frame) { ProgramStep::End } else { self.step() })
    }

    /// Destroys the context, as a driver does after a reset.
    pub fn destroy(&mut self) -> Result<(), Failure> {
        self.context.take().map_or(Ok(()), |context| Ok(context.make_not_current_in_place()?))
    }
}

/// Also called on the drawing thread, for which winit returns no handle on Windows.
fn handle(window: &Window) -> Result<RawWindowHandle, Failure> {
    #[cfg(windows)]
    // SAFETY: for making contexts and surfaces only, which WGL allows on any thread.
    let handle = unsafe { winit::platform::windows::WindowExtWindows::window_handle_any_thread(window) };
    #[cfg(not(windows))]
    let handle = winit::raw_window_handle::HasWindowHandle::window_handle(window);
    Ok(handle?.as_raw())
}

/// Makes a context current that draws to no window.
#[cfg(not(target_vendor = "apple"))]
fn surfaceless(context: NotCurrentContext) -> Result<PossiblyCurrentContext, Failure> {
    match context {
        NotCurrentContext::Egl(context) => Ok(PossiblyCurrentContext::Egl(context.make_current_surfaceless()?)),
        #[allow(unreachable_patterns)] // where EGL is all there is
        _ => Err("only EGL draws without a window".into()),
    }
}

#[cfg(target_vendor = "apple")]
fn surfaceless(context: NotCurrentContext) -> Result<PossiblyCurrentContext, Failure> {
    let NotCurrentContext::Cgl(context) = context;
    Ok(PossiblyCurrentContext::Cgl(context.make_current_surfaceless()?))
}

#[cfg(not(target_vendor = "apple"))]
fn headless_display() -> Result<Display, Failure> {
    use glutin::api::egl::{device::Device, display::Display as Egl};
    let device = Device::query_devices()?.next().ok_or("EGL lists no device")?;
    // SAFETY: no display handle is passed.
    Ok(Display::Egl(unsafe { Egl::with_device(&device, None) }?))
}

#[cfg(target_vendor = "apple")]
fn headless_display() -> Result<Display, Failure> {
    let handle = winit::raw_window_handle::AppKitDisplayHandle::new();
    // SAFETY: the handle names no system object.
    Ok(unsafe { Display::new(handle.into(), DisplayApiPreference::Cgl) }?)
}

/// Picks the configuration with the fewest samples, because the engine smooths edges itself.
fn pick(display: &Display, template: ConfigTemplateBuilder) -> Result<Config, Failure> {
    // SAFETY: a window that the template names is borrowed by the caller.
    let config = unsafe { display.find_configs(template.build()) }?.min_by_key(|config| config.num_samples());
    config.ok_or_else(|| "OpenGL has no configuration to draw with".into())
}

/// Picks the configuration for windows, and creates the first window if it must exist before.
fn windowed(event_loop: &ActiveEventLoop, attributes: &WindowAttributes) -> Result<(Config, Option<Window>), Failure> {
    let mut template = ConfigTemplateBuilder::new();
    let mut first = None;
    if cfg!(windows) {
        let window = first.insert(event_loop.create_window(attributes.clone())?);
        template = template.compatible_with_native_window(handle(window)?);
    }
    #[cfg(windows)]
    let preference = DisplayApiPreference::Wgl(first.as_ref().map(handle).transpose()?);
    #[cfg(all(unix, not(target_vendor = "apple")))]
    let preference = DisplayApiPreference::GlxThenEgl(Box::new(winit::platform::x11::register_xlib_error_hook));
    #[cfg(target_vendor = "apple")]
    let preference = DisplayApiPreference::Cgl;
    // SAFETY: the handle is of the running event loop, which outlives every window.
    let display = unsafe { Display::new(event_loop.display_handle()?.as_raw(), preference) }?;
    Ok((pick(&display, template)?, first))
}

impl Drop for Canvas<'_> {
    fn drop(&mut self) {
        // Otherwise a current context would stay alive.
        if let Err(error) = self.destroy() {
            complain!("a context could not be released: {error}");
        }
    }
}

/// The reason why a context is no longer drawn to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Closed,
    Reopen,
    Lost,
}

/// Draws until [`ProgramStep::End`], or loses the context at [`ProgramStep::Lose`].
type Draw = dyn Fn(&mut Canvas<'_>) -> Result<(), Failure> + Send + Sync;

fn draw(
    draw: &Draw,
    options: &EngineOptions,
    config: &Config,
    window: Option<&Arc<Window>>,
    status: &Status,
) -> Result<End, Failure> {
    let mut canvas = Canvas::new(options, config, window, status)?;
    draw(&mut canvas)?;
    Ok(match (canvas.context.is_none(), canvas.step()) {
        (true, _) => End::Lost,
        (false, ProgramStep::End) => End::Closed,
        (false, _) => End::Reopen,
    })
}

/// Runs `render` on a thread for each window, and again for each new context; without a window, on this thread.
pub fn run(
    options: EngineOptions,
    render: impl Fn(&mut Canvas<'_>) -> Result<(), Failure> + Send + Sync + 'static,
) -> Result<(), Failure> {
    if options.headless {
        let template = ConfigTemplateBuilder::new().with_surface_type(ConfigSurfaceTypes::empty());
        let (config, status) = (pick(&headless_display()?, template)?, Status::default());
        status.set_size(options.size);
        while draw(&render, &options, &config, None, &status)? != End::Closed {}
        return Ok(());
    }
    let event_loop = EventLoop::with_user_event().build()?;
    let proxy = event_loop.create_proxy();
    let windows = HashMap::new();
    let mut app = App { options, render: Arc::new(render), proxy, config: None, windows, failure: None };
    event_loop.run_app(&mut app)?;
    app.failure.map_or(Ok(()), Err)
}

/// A window whose thread has ended.
type EndedWindow = (WindowId, Result<End, Failure>);

struct App {
    options: EngineOptions,
    render: Arc<Draw>,
    proxy: EventLoopProxy<EndedWindow>,
    config: Option<Config>,
    windows: HashMap<WindowId, (Arc<Window>, Arc<Status>)>,
    failure: Option<Failure>,
}

impl App {
    fn open(&mut self, event_loop: &ActiveEventLoop, frame: u64) -> Result<(), Failure> {
        let (width, height) = self.options.size;
        let number = self.windows.len() as u32;
        let (title, left) = (format!("engine_gl {}", number + 1), number * (width + 8));
        let attributes = WindowAttributes::default()
            .with_inner_size(PhysicalSize::new(width, height))
            .with_position(PhysicalPosition::new(left, 0))
            .with_title(title);
        let (config, first) = match &self.config {
            Some(config) => (config.clone(), None),
            None => windowed(event_loop, &attributes)?,
        };
        let window = match first {
            Some(window) => window,
            None => finalize_window(event_loop, attributes, &config)?,
        };
        self.config = Some(config);
        let status = Status { frame: AtomicU64::new(frame), ..Status::default() };
        status.set_size(window.inner_size().into());
        let id = window.id();
        self.windows.insert(id, (Arc::new(window), Arc::new(status)));
        self.start(id);
        Ok(())
    }

    /// Starts a thread with a new context for the window.
    fn start(&self, id: WindowId) {
        let (Some((window, status)), Some(config)) = (self.windows.get(&id).cloned(), self.config.clone()) else {
            return;
        };
        let (options, render, proxy) = (self.options.clone(), Arc::clone(&self.render), self.proxy.clone());
        thread::spawn(move || {
            let end = draw(render.as_ref(), &options, &config, Some(&window), &status);
            drop(window);
            // If the loop has ended, the event is not received.
            let _ = proxy.send_event((id, end));
        });
    }

    fn ended(&mut self, event_loop: &ActiveEventLoop, id: WindowId, end: Result<End, Failure>) -> Result<(), Failure> {
        match end? {
            End::Lost => self.start(id),
            End::Closed => drop(self.windows.remove(&id)),
            End::Reopen => {
                let frame = self.windows.remove(&id).map_or(0, |(_, status)| status.frame.load(Relaxed));
                self.open(event_loop, frame)?;
            }
        }
        Ok(())
    }

    /// Ends the loop after the last window has closed, or closes all windows after a failure.
    fn settle(&mut self, event_loop: &ActiveEventLoop, done: Result<(), Failure>) {
        if let Err(failure) = done {
            self.failure.get_or_insert(failure);
            event_loop.exit();
        }
        if self.windows.is_empty() {
            event_loop.exit();
        }
    }
}

impl ApplicationHandler<EndedWindow> for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.config.is_none() {
            let opened = (0..self.options.windows).try_for_each(|_| self.open(event_loop, 0));
            self.settle(event_loop, opened);
        }
    }

    fn user_event(&mut self, event_loop: &ActiveEventLoop, (id, end): EndedWindow) {
        let done = self.ended(event_loop, id, end);
        self.settle(event_loop, done);
    }

    fn window_event(&mut self, _: &ActiveEventLoop, id: WindowId, event: WindowEvent) {
        let Some((_, status)) = self.windows.get(&id) else { return };
        match event {
            WindowEvent::Resized(size) => status.set_size(size.into()),
            WindowEvent::CloseRequested => status.closed.store(true, Relaxed),
            _ => {}
        }
    }
}

/// Creates and binds the engine's only program, and sets the state that never changes.
pub fn set_up(gl: &glow::Context) -> Result<glow::Program, Failure> {
    let vertex = include_str!("scene.vert").replace("SIDE", &SEA_SIDE.to_string());
    // SAFETY: the context is current.
    unsafe {
        let program = gl.create_program()?;
        for (kind, text) in
            [(glow::VERTEX_SHADER, vertex.as_str()), (glow::FRAGMENT_SHADER, include_str!("scene.frag"))]
        {
            let shader = gl.create_shader(kind)?;
            gl.shader_source(shader, text);
            gl.compile_shader(shader);
            gl.attach_shader(program, shader);
        }
        gl.link_program(program);
        if !gl.get_program_link_status(program) {
            return Err(gl.get_program_info_log(program).into());
        }
        gl.use_program(Some(program));
        for switch in [glow::DEPTH_TEST, glow::CULL_FACE, glow::BLEND] {
            gl.enable(switch);
        }
        gl.depth_func(glow::LEQUAL);
        gl.blend_func(glow::SRC_ALPHA, glow::ONE_MINUS_SRC_ALPHA);
        let sampler = gl.create_sampler()?;
        gl.sampler_parameter_i32(sampler, glow::TEXTURE_MIN_FILTER, glow::LINEAR as i32);
        gl.sampler_parameter_i32(sampler, glow::TEXTURE_WRAP_T, glow::CLAMP_TO_EDGE as i32);
        gl.bind_sampler(0, Some(sampler));
        Ok(program)
    }
}
