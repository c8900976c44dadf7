//! A window with OpenGL for engines without one of their own.

use engine_picture::WINDOW;
use glutin::config::ConfigTemplateBuilder;
use glutin::context::{
    ContextApi, ContextAttributesBuilder, NotCurrentGlContext as _, PossiblyCurrentContext, Version,
};
use glutin::display::{Display, GetGlDisplay as _, GlDisplay as _};
use glutin::surface::{GlSurface as _, Surface, WindowSurface};
use glutin_winit::{DisplayBuilder, GlWindow as _};
use std::error::Error;
use winit::application::ApplicationHandler;
use winit::dpi::PhysicalSize;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::raw_window_handle::HasWindowHandle as _;
use winit::window::{Window, WindowId};

type Fails<T> = Result<T, Box<dyn Error>>;

/// A window of [`WINDOW`] pixels, whose OpenGL 3.3 context is current on this thread.
#[derive(Debug)]
pub struct GlWindow {
    window: Window,
    surface: Surface<WindowSurface>,
    context: PossiblyCurrentContext,
}

impl GlWindow {
    fn open(events: &ActiveEventLoop) -> Fails<Self> {
        let attributes = Window::default_attributes().with_inner_size(PhysicalSize::new(WINDOW.width, WINDOW.height));
        let template = ConfigTemplateBuilder::new().with_stencil_size(8);
        let (window, config) =
            DisplayBuilder::new().with_window_attributes(Some(attributes)).build(events, template, |mut configs| {
                configs.next().unwrap_or_else(|| unreachable!("glutin gives one or more"))
            })?;
        let window = window.ok_or("no window")?;
        let raw = window.window_handle()?.as_raw();
        let version = ContextApi::OpenGl(Some(Version::new(3, 3)));
        let wanted = ContextAttributesBuilder::new().with_context_api(version).build(Some(raw));
        let display = config.display();
        // SAFETY: the window handle belongs to a window that lives as long as surface and context.
        let context = unsafe { display.create_context(&config, &wanted) }?;
        let surface = window.build_surface_attributes(Default::default())?;
        // SAFETY: as above.
        let surface = unsafe { display.create_window_surface(&config, &surface) }?;
        Ok(Self { context: context.make_current(&surface)?, surface, window })
    }

    /// Returns the display whose functions the context has.
    pub fn display(&self) -> Display {
        self.context.display()
    }
}

/// Opens a window, calls `start`, and then calls the returned function for each frame.
///
/// # Errors
/// The first error of the window system or of the two functions.
pub fn run<D: FnMut() -> Fails<()>>(start: impl FnOnce(&GlWindow) -> Fails<D>) -> Fails<()> {
    let mut app = App { start: Some(start), running: None, failed: None };
    EventLoop::new()?.run_app(&mut app)?;
    app.failed.map_or(Ok(()), Err)
}

struct App<S, D> {
    start: Option<S>,
    // Declared so that drawing objects are dropped before the window.
    running: Option<(D, GlWindow)>,
    failed: Option<Box<dyn Error>>,
}

impl<S: FnOnce(&GlWindow) -> Fails<D>, D: FnMut() -> Fails<()>> App<S, D> {
    fn open(&mut self, events: &ActiveEventLoop) -> Fails<()> {
        let Some(start) = self.start.take() else { return Ok(()) };
        let window = GlWindow::open(events)?;
        let draw = start(&window)?;
        let (_, window) = self.running.insert((draw, window));
        window.window.request_redraw();
        Ok(())
    }

    fn draw(&mut self) -> Fails<()> {
        let Some((draw, window)) = &mut self.running else { return Ok(()) };
        draw()?;
        window.surface.swap_buffers(&window.context)?;
        window.window.request_redraw();
        Ok(())
    }

    fn end_if(&mut self, events: &ActiveEventLoop, done: Fails<()>) {
        if let Err(error) = done {
            self.failed = Some(error);
            events.exit();
        }
    }
}

impl<S: FnOnce(&GlWindow) -> Fails<D>, D: FnMut() -> Fails<()>> ApplicationHandler for App<S, D> {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        let done = self.open(events);
        self.end_if(events, done);
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        match event {
            WindowEvent::RedrawRequested => {
                let done = self.draw();
                self.end_if(events, done);
            }
            WindowEvent::CloseRequested => events.exit(),
            _ => {}
        }
    }
}
