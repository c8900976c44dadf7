//! Windows, all on one thread with the process's only event loop, which starts with the first window.

use crate::events::{Event, Events, InputState};
use crate::failure::Failure;
use crate::job::{Job, awaited, closed, guarded};
use crate::stage::{Screen, Settings, Stage};
use pixelferry::Extent;
use pixelferry::api::gl::winit::application::ApplicationHandler;
use pixelferry::api::gl::winit::event::{ElementState, KeyEvent, WindowEvent};
use pixelferry::api::gl::winit::event_loop::{
    ActiveEventLoop, ControlFlow, EventLoop, EventLoopBuilder, EventLoopProxy,
};
use pixelferry::api::gl::winit::keyboard::{Key, NamedKey};
use pixelferry::api::gl::winit::window::WindowId;
use pixelferry::api::gl::{GlWindow, WindowOptions};
use pixelferry::driver::describe::process::enter;
use pixelferry::driver::describe::threads;
use std::collections::HashMap;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Work for the thread.
type Task = Box<dyn FnOnce(&ActiveEventLoop, &mut Windows) + Send>;

/// Why a window ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// The user closed it.
    User,
    /// Another program destroyed it.
    Other,
    /// The program closed it, or the event loop ended.
    Program,
}

/// Signals the end of a window to waiting threads.
#[derive(Default)]
struct WindowEnd {
    end: Mutex<Option<End>>,
    changed: Condvar,
}

impl WindowEnd {
    /// If the program closes its viewer, that counts, whatever the user did before.
    fn set(&self, by: End) {
        let mut end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        *end = Some(if by == End::Program { by } else { end.unwrap_or(by) });
        self.changed.notify_all();
    }

    fn get(&self) -> Option<End> {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, most: Duration) -> bool {
        let end = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_timeout_while(end, most, |end| end.is_none()));
        self.get().is_some()
    }
}

/// A window, usable from any thread.
pub struct WindowHandle {
    id: WindowId,
    proxy: EventLoopProxy<Task>,
    gone: Arc<WindowEnd>,
    events: Arc<Events>,
}

impl WindowHandle {
    /// Opens a window.
    pub fn open(options: WindowOptions, settings: Settings) -> Result<Self, Failure> {
        let proxy = event_loop()?;
        let (gone, events) = (Arc::new(WindowEnd::default()), Arc::new(Events::default()));
        let (answer, answered) = channel();
        let task: Task = Box::new({
            let (gone, events) = (gone.clone(), events.clone());
            move |event_loop, windows| {
                let opened = guarded(|| {
                    let window = GlWindow::new(event_loop, &options).map_err(|e| Failure::NoDisplay(e.to_string()))?;
                    let (id, hand) = (window.window().id(), InputState::new(window.window()));
                    Ok((id, hand, Stage::new(Screen::Window(window), settings)))
                });
                let opened = opened.map(|(id, hand, stage)| {
                    windows.0.insert(id, Open { stage, gone, events, hand });
                    id
                });
                let _ = answer.send(opened);
            }
        });
        proxy.send_event(task).map_err(|_| ended())?;
        let id = awaited(&answered)?.ok_or_else(ended)??;
        Ok(Self { id, proxy, gone, events })
    }

    pub fn post(&self, job: Job) -> Result<(), Failure> {
        match self.gone.get() {
            None => {}
            Some(End::User) => return Err(Failure::Closed("the user closed the window".into())),
            Some(End::Other) => return Err(Failure::destroyed()),
            Some(End::Program) => return Err(closed()),
        }
        let id = self.id;
        let task: Task = Box::new(move |_, windows| {
            // Dropping a job tells its caller that the window is gone.
            if let Some(open) = windows.0.get_mut(&id) {
                job(&mut open.stage);
            }
        });
        self.proxy.send_event(task).map_err(|_| closed())
    }

    pub fn close(&self) {
        let (id, (done, wait)) = (self.id, channel::<()>());
        let task: Task = Box::new(move |_, windows| {
            windows.close(id, End::Program);
            drop(done);
        });
        if self.is_open() && self.proxy.send_event(task).is_ok() {
            let _ = wait.recv();
        }
        self.gone.set(End::Program);
    }

    pub fn is_open(&self) -> bool {
        self.gone.get().is_none()
    }

    /// Returns whether the program ended it, or lost all of its windows.
    pub fn was_closed_by_program(&self) -> bool {
        self.gone.get() == Some(End::Program)
    }

    /// Returns the user's events, even after the window has closed.
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// Waits for the window's end, up to `most`; returns whether it has ended.
    pub fn wait_closed(&self, most: Duration) -> bool {
        self.gone.wait(most)
    }
}

struct Open {
    stage: Stage,
    gone: Arc<WindowEnd>,
    events: Arc<Events>,
    hand: InputState,
}

#[derive(Default)]
struct Windows(HashMap<WindowId, Open>);

impl Windows {
    fn close(&mut self, id: WindowId, by: End) {
        if let Some(Open { stage, gone, events, .. }) = self.0.remove(&id) {
            drop(stage);
            gone.set(by);
            events.push(Event::closed());
        }
    }
}

impl Drop for Windows {
    fn drop(&mut self) {
        for (_, open) in self.0.drain() {
            open.gone.set(End::Program);
        }
    }
}

impl ApplicationHandler<Task> for Windows {
    fn resumed(&mut self, _: &ActiveEventLoop) {}

    fn user_event(&mut self, event_loop: &ActiveEventLoop, task: Task) {
        task(event_loop, self);
    }

    fn window_event(&mut self, _: &ActiveEventLoop, id: WindowId, event: WindowEvent) {
        let escape = Key::Named(NamedKey::Escape);
        let Some(open) = self.0.get_mut(&id) else { return };
        let Open { stage, events, hand, .. } = &mut *open;
        for event in hand.follow(&event, |x, y| stage.pixel_at(x, y)) {
            events.push(event);
        }
        if let Err(failure) = guarded(|| open.stage.follow(&event)) {
            tracing::warn!(?failure, "a window failed to handle an event");
        }
        let done = match event {
            WindowEvent::CloseRequested => return self.close(id, End::User),
            WindowEvent::Destroyed => return self.close(id, End::Other),
            WindowEvent::KeyboardInput {
                event: KeyEvent { logical_key, state: ElementState::Pressed, .. }, ..
            } if logical_key == escape => return self.close(id, End::User),
            WindowEvent::Resized(size) => guarded(|| open.stage.resized(Extent::new(size.width, size.height))),
            WindowEvent::RedrawRequested => guarded(|| open.stage.draw()),
            _ => Ok(()),
        };
        // No caller waits for this; the next `show` meets the same failure.
        if let Err(failure) = done {
            tracing::warn!(?failure, "a window could not be drawn");
        }
    }
}

fn ended() -> Failure {
    Failure::NoDisplay("the windows' thread has ended; restart the program to open a window".into())
}

/// The event loop, after the first attempt to start it: winit allows one attempt per process, even if it fails.
static EVENT_LOOP: Mutex<Option<LoopResult>> = Mutex::new(None);

type LoopResult = Result<EventLoopProxy<Task>, String>;

fn event_loop() -> Result<EventLoopProxy<Task>, Failure> {
    // A forked process does not have its thread.
    let _entered = enter("a window")?;
    let mut made = EVENT_LOOP.lock().unwrap_or_else(PoisonError::into_inner);
    if made.is_none() {
        check_display()?;
        *made = Some(start());
    }
    match made.as_ref() {
        Some(Ok(proxy)) => Ok(proxy.clone()),
        Some(Err(reason)) => Err(Failure::NoDisplay(format!("{reason}. {HINT}"))),
        None => Err(ended()),
    }
}

const HINT: &str = "Without a screen, use Viewer(..., headless=True) or show(..., save=\"picture.png\")";

/// As long as there is no display server, do not start the event loop, so that one can be set later.
fn check_display() -> Result<(), Failure> {
    let named = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if cfg!(windows) || ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"].into_iter().any(named) {
        return Ok(());
    }
    Err(Failure::NoDisplay(format!("there is no screen: neither DISPLAY nor WAYLAND_DISPLAY is set. {HINT}")))
}

fn start() -> LoopResult {
    let (answer, answered) = channel();
    let thread = threads::spawn("pixelferry windows", move || run(&answer));
    thread.map_err(|e| format!("cannot start a thread: {e}"))?;
    answered.recv().unwrap_or_else(|_| Err("the windows' thread ended at once".into()))
}

fn run(answer: &Sender<LoopResult>) {
    let made = guarded(|| {
        let mut builder = EventLoop::<Task>::with_user_event();
        on_any_thread(&mut builder);
        builder.build().map_err(|e| Failure::NoDisplay(e.to_string()))
    });
    let event_loop = match made {
        Ok(event_loop) => event_loop,
        Err(Failure::NoDisplay(reason) | Failure::Device(reason)) => return drop(answer.send(Err(reason))),
        Err(other) => return drop(answer.send(Err(format!("{other:?}")))),
    };
    event_loop.set_control_flow(ControlFlow::Wait);
    if answer.send(Ok(event_loop.create_proxy())).is_ok()
        && let Err(error) = event_loop.run_app(&mut Windows::default())
    {
        tracing::warn!(%error, "the windows' event loop ended");
    }
}

#[cfg(all(unix, not(target_vendor = "apple")))]
fn on_any_thread(builder: &mut EventLoopBuilder<Task>) {
    use pixelferry::api::gl::winit::platform::{wayland, x11};
    wayland::EventLoopBuilderExtWayland::with_any_thread(builder, true);
    x11::EventLoopBuilderExtX11::with_any_thread(builder, true);
}

#[cfg(windows)]
fn on_any_thread(builder: &mut EventLoopBuilder<Task>) {
    use pixelferry::api::gl::winit::platform::windows::EventLoopBuilderExtWindows;
    builder.with_any_thread(true);
}

/// On other systems, winit itself reports that it needs the main thread.
#[cfg(not(any(windows, all(unix, not(target_vendor = "apple")))))]
fn on_any_thread(_: &mut EventLoopBuilder<Task>) {}
