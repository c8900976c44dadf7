//! A window's event loop, for programs without one.

use super::window::{GlWindow, WindowOptions};
use interop_core::{Error, Extent, Result};
use winit::application::ApplicationHandler;
use winit::event::{ElementState, KeyEvent, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy};
use winit::keyboard::{Key, NamedKey};
use winit::window::WindowId;

/// What the window does after a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Shows the next frame at once.
    Continue,
    /// Shows the next frame when [`GlWindow::request_redraw`] is called, or the window system requests it.
    Wait,
    /// Closes the window.
    Exit,
}

/// Requests the next frame of [`run_window`] from any thread; after the end of the loop it does nothing.
#[derive(Debug, Clone)]
pub struct Waker(EventLoopProxy<()>);

impl Waker {
    /// Requests the next frame, if the window waits for it ([`Flow::Wait`]).
    pub fn wake(&self) {
        // A loop that has ended needs no frame.
        let _ = self.0.send_event(());
    }
}

/// Callbacks of a window. Any error ends the loop, and [`run_window`] returns it.
pub trait WindowApp {
    /// The program's own error type.
    type Error: From<Error>;

    /// Called once, before the window is open: for threads that produce frames.
    fn waker(&mut self, waker: Waker) {
        let _ = waker;
    }

    /// Called once, with the window open and its context current.
    fn init(&mut self, window: &GlWindow) -> Result<(), Self::Error>;

    /// Draws a frame. The window's framebuffer is bound and its context current; the frame is presented afterwards.
    fn frame(&mut self, window: &GlWindow) -> Result<Flow, Self::Error>;

    /// Called when the window has a new size, with both sides above 0.
    fn resized(&mut self, window: &GlWindow, size: Extent) -> Result<(), Self::Error> {
        let (_, _) = (window, size);
        Ok(())
    }

    /// Called for every event of the window, before it is handled.
    fn event(&mut self, window: &GlWindow, event: &WindowEvent) {
        let (_, _) = (window, event);
    }

    /// The last call, while the context is still current: drop the objects in it.
    fn closing(&mut self, window: &GlWindow) {
        let _ = window;
    }
}

struct Runner<'a, A: WindowApp> {
    options: &'a WindowOptions,
    app: &'a mut A,
    window: Option<GlWindow>,
    frames: u64,
    error: Option<A::Error>,
}

/// Opens a window and draws frames in it until it is closed, Esc is pressed, the app returns [`Flow::Exit`], or
/// [`WindowOptions::max_frames`] is reached. Returns the number of frames.
///
/// Call it once in a process, from the main thread where the platform requires it (macOS does, Windows does not).
///
/// # Errors
/// [`Error::Unavailable`] where there is no display server or no OpenGL; every error of the app.
pub fn run_window<A: WindowApp>(options: &WindowOptions, app: &mut A) -> Result<u64, A::Error> {
    let no_server = |e: winit::error::EventLoopError| Error::Unavailable {
        what: "a window".into(),
        reason: reason(&e),
        hint: "Start the program under X11 or Wayland, or with xvfb-run, which provides a virtual X server.".into(),
    };
    let event_loop = event_loop().map_err(no_server)?;
    // Frames follow each other through redraw requests; the loop waits for nothing else.
    event_loop.set_control_flow(ControlFlow::Wait);
    app.waker(Waker(event_loop.create_proxy()));
    let mut runner = Runner { options, app, window: None, frames: 0, error: None };
    let ran = event_loop.run_app(&mut runner);
    match runner.error {
        Some(e) => Err(e),
        None => ran.map(|()| runner.frames).map_err(|e| no_server(e).into()),
    }
}

/// Returns the error's text without the leading location in winit's source.
fn reason(e: &winit::error::EventLoopError) -> String {
    let text = e.to_string();
    let told = text.strip_prefix("os error at ").and_then(|t| t.split_once(": ")).map_or(text.as_str(), |(_, t)| t);
    told.trim_end_matches('.').to_owned()
}

fn event_loop() -> Result<EventLoop<()>, winit::error::EventLoopError> {
    let mut builder = EventLoop::builder();
    // X11, Wayland and Windows allow any thread; winit panics unless it is told so.
    #[cfg(all(unix, not(target_vendor = "apple")))]
    {
        use winit::platform::{wayland::EventLoopBuilderExtWayland, x11::EventLoopBuilderExtX11};
        EventLoopBuilderExtX11::with_any_thread(&mut builder, true);
        EventLoopBuilderExtWayland::with_any_thread(&mut builder, true);
    }
    #[cfg(windows)]
    winit::platform::windows::EventLoopBuilderExtWindows::with_any_thread(&mut builder, true);
    builder.build()
}

impl<A: WindowApp> Runner<'_, A> {
    fn end(&mut self, event_loop: &ActiveEventLoop, result: Result<(), A::Error>) {
        // The first error is the cause; later ones follow from it.
        if let (Err(e), None) = (result, &self.error) {
            self.error = Some(e);
        }
        if let Some(window) = self.window.take() {
            self.app.closing(&window);
        }
        event_loop.exit();
    }

    fn open(&mut self, event_loop: &ActiveEventLoop) -> Result<(), A::Error> {
        let window = GlWindow::new(event_loop, self.options)?;
        let result = self.app.init(&window);
        window.request_redraw();
        self.window = Some(window);
        result
    }

    /// Draws a frame, if there is a surface to draw on.
    fn frame(&mut self) -> Result<Flow, A::Error> {
        let Some(window) = &self.window else { return Ok(Flow::Continue) };
        let size = window.size();
        if size.width == 0 || size.height == 0 {
            return Ok(Flow::Continue);
        }
        let flow = self.app.frame(window)?;
        window.present()?;
        self.frames += 1;
        if flow == Flow::Exit || self.options.max_frames.is_some_and(|max| self.frames >= max) {
            return Ok(Flow::Exit);
        }
        if flow == Flow::Continue {
            window.request_redraw();
        }
        Ok(flow)
    }

    fn resized(&mut self, size: Extent) -> Result<(), A::Error> {
        let Some(window) = &self.window else { return Ok(()) };
        if size.width > 0 && size.height > 0 {
            window.resize(size)?;
            self.app.resized(window, size)?;
        }
        window.request_redraw();
        Ok(())
    }
}

impl<A: WindowApp> ApplicationHandler for Runner<'_, A> {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.window.is_some() || self.error.is_some() {
            return;
        }
        if let Err(e) = self.open(event_loop) {
            self.end(event_loop, Err(e));
        }
    }

    fn user_event(&mut self, _: &ActiveEventLoop, (): ()) {
        if let Some(window) = &self.window {
            window.request_redraw();
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        if let Some(window) = &self.window {
            self.app.event(window, &event);
        }
        let escape = Key::Named(NamedKey::Escape);
        let result = match event {
            WindowEvent::RedrawRequested => self.frame(),
            WindowEvent::Resized(size) => self.resized(Extent::new(size.width, size.height)).map(|()| Flow::Continue),
            WindowEvent::CloseRequested => Ok(Flow::Exit),
            WindowEvent::KeyboardInput {
                event: KeyEvent { logical_key, state: ElementState::Pressed, .. }, ..
            } if logical_key == escape => Ok(Flow::Exit),
            _ => Ok(Flow::Continue),
        };
        match result {
            Ok(Flow::Continue | Flow::Wait) => {}
            Ok(Flow::Exit) => self.end(event_loop, Ok(())),
            Err(e) => self.end(event_loop, Err(e)),
        }
    }
}
