//! Shows arrays in browsers: draws the window's content offscreen and applies the page's input.

mod screen;
mod stage;

pub use stage::Watcher;

use crate::array::Array;
use crate::error::{ReadError, ViewError};
use crate::keys::character;
use crate::live_arrays::LiveArrays;
use crate::shown_array::ShownArray;
use crate::view::ArrayView;
use crate::window::size_for;
use pixelferry::Extent;
use pixelferry::api::gl::winit::dpi::PhysicalPosition;
use pixelferry::api::gl::winit::event::{
    DeviceId, ElementState, MouseButton, MouseScrollDelta, TouchPhase, WindowEvent,
};
use pixelferry::api::gl::{GlDisplay, HeadlessOptions};
use pixelferry_look::Request;
use pixelferry_media::Event;
use pixelferry_media::web::{Gateway, WebOptions};
use pixelferry_media::wire::Codec;
use screen::Screen;
use stage::{PendingWork, Stage};
use std::mem;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Shortest time between pictures.
const PAUSE: Duration = Duration::from_millis(16);

/// Serves a page that shows arrays. All browsers share one view.
///
/// Threads: one thread stays in [`PageServer::run`] and shows; everything else may be called from any thread.
///
///
/// ```
/// use pixelferry_view::PageServer;
///
/// let serve = PageServer::open(([127, 0, 0, 1], 0).into())?;
/// assert!(serve.url().starts_with("http://127.0.0.1:") && serve.url().contains("/?token="));
/// # Ok::<(), pixelferry_view::ViewError>(())
/// ```
pub struct PageServer {
    stage: Arc<Stage>,
    gateway: Gateway,
    token: String,
    may_use_gpu: AtomicBool,
}

impl PageServer {
    /// Listens on an address; port 0 lets the system choose a port. If that address is this machine's own, pictures go
    /// to browsers uncompressed, otherwise as JPEG ([`PageServer::use_gpu`]).
    ///
    /// # Errors
    /// [`ViewError::Web`] if it cannot listen, [`ViewError::Token`] if the system provides no random numbers
    /// for the token.
    pub fn open(listen: SocketAddr) -> Result<Self, ViewError> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|error| ViewError::Token(error.to_string()))?;
        let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut options = WebOptions::at(listen);
        (options.tokens.watch, options.tokens.steer) = (Some(token.clone()), Some(token.clone()));
        options.is_framed = true;
        let codec = if listen.ip().is_loopback() { Codec::None } else { Codec::Jpeg };
        let stage = Arc::new(Stage::default());
        let gateway = Gateway::open("arrays", Watcher::new(&stage, codec), options)?;
        Ok(Self { stage, gateway, token, may_use_gpu: AtomicBool::new(true) })
    }

    /// Returns the page's address, including its token.
    pub fn url(&self) -> String {
        let mut address = self.gateway.address();
        if address.ip().is_unspecified() {
            address.set_ip(match address {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        format!("http://{address}/?token={}", self.token)
    }

    /// Number of browsers that are watching now.
    pub fn viewers(&self) -> usize {
        self.gateway.viewers()
    }

    /// Adds a watcher beside the browsers, such as a notebook, which gets pictures as JPEG.
    pub fn watcher(&self) -> Watcher {
        Watcher::new(&self.stage, Codec::Jpeg)
    }

    /// Lets the GPU that draws encode JPEGs if it is CUDA's, has nvJPEG ([`GpuJpeg`](pixelferry_media::GpuJpeg)), and
    /// its first picture is as good as the host's. With `false` the host encodes them. Call this before [`PageServer::run`].
    pub fn use_gpu(&self, may_use_gpu: bool) {
        self.may_use_gpu.store(may_use_gpu, Ordering::Relaxed);
    }

    /// Describes what encodes JPEGs: `libnvjpeg.so.13 on ...` and the path, or `the host` and why. Empty before
    /// [`PageServer::run`]; `none yet` before the first JPEG.
    pub fn encoder(&self) -> String {
        self.stage.encoder()
    }

    /// Shows an array beside the others, or in place of the one of that name. Returns at once: the showing thread calls
    /// `make`, unless a newer array of that name comes first. `own` is the array's look, see [`ArrayView::put_as`]. If
    /// the array cannot be shown, that is logged.
    pub fn put(
        &self,
        name: &str,
        own: Option<Request>,
        make: impl FnOnce() -> Result<Array, ReadError> + Send + 'static,
    ) {
        self.stage.put(name, own, Box::new(make));
    }

    /// Ends [`PageServer::run`], now or as soon as it is called.
    pub fn stop(&self) {
        self.stage.stop();
    }

    /// Shows arrays, then also those of [`PageServer::put`] and `live`, until [`PageServer::stop`]. Draws nothing while no
    /// browser is watching. Calls `ready` when the first picture is there.
    ///
    /// # Errors
    /// [`ViewError::Refused`] if arrays and look do not match; [`ViewError::Driver`] if OpenGL does not work
    /// without a window.
    pub fn run(
        &self,
        arrays: Vec<Array>,
        request: Request,
        live: LiveArrays,
        ready: impl FnOnce(),
    ) -> Result<(), ViewError> {
        let ended = self.show(arrays, request, live, ready);
        self.stop();
        ended
    }

    fn show(
        &self,
        mut arrays: Vec<Array>,
        request: Request,
        live: LiveArrays,
        ready: impl FnOnce(),
    ) -> Result<(), ViewError> {
        live.begin(&mut arrays)?;
        let stage = Arc::clone(&self.stage);
        live.wake_by(move || stage.ask());
        let shown = ShownArray::all(arrays, &request)?;
        let size = size_for(&shown);
        let display = GlDisplay::headless(HeadlessOptions::default())?;
        let mut screen = Screen::new(&display, size, self.may_use_gpu.load(Ordering::Relaxed))?;
        self.stage.set_encoder(screen.encoder());
        let mut view = live.view(&display, shown)?;
        view.is_titled = false;
        ready();
        let (mut hand, mut is_old) = (Hand::default(), true);
        loop {
            let PendingWork { arrays, inputs, is_asked, watched, is_over } = self.stage.take();
            if is_over {
                return Ok(());
            }
            is_old |= is_asked || !arrays.is_empty();
            for (name, own, make) in arrays {
                let made = make().map_err(ViewError::from);
                if let Err(error) = made.and_then(|array| view.put_as(array.named(name.clone()), own)) {
                    tracing::warn!("cannot show {name}: {error}");
                }
            }
            for input in inputs {
                is_old |= hand.does(&input, &mut view, size);
            }
            is_old |= live.follow(&mut view);
            if !is_old {
                continue;
            }
            if watched.is_empty() {
                // The next watcher needs a picture, too.
                self.stage.ask();
                is_old = false;
                continue;
            }
            let begun = Instant::now();
            is_old = false;
            self.stage.begin();
            screen.begin()?;
            view.draw(size, 1.0)?;
            for codec in watched {
                let message = screen.message(codec)?;
                // Set this first: a watcher that has the picture may ask for its encoder.
                self.stage.set_encoder(screen.encoder());
                self.stage.hand(codec, message);
            }
            sleep(PAUSE.saturating_sub(begun.elapsed()));
        }
    }
}

/// State of the left mouse button of the user who controls the view.
#[derive(Default)]
struct Hand {
    is_down: bool,
}

impl Hand {
    /// Applies a browser user's input. Returns true if the picture must be redrawn.
    fn does(&mut self, input: &Event, view: &mut ArrayView, size: Extent) -> bool {
        const LEFT: u16 = 1;
        let device_id = DeviceId::dummy();
        let at = |view: &mut ArrayView, x: f32, y: f32| {
            let position = PhysicalPosition::new(f64::from(x), f64::from(y));
            view.event(&WindowEvent::CursorMoved { device_id, position }, size)
        };
        match input {
            Event::Pointer { x, y, buttons } => {
                let has_moved = at(view, *x, *y);
                let is_down = buttons & LEFT != 0;
                if mem::replace(&mut self.is_down, is_down) == is_down {
                    return has_moved;
                }
                let state = if is_down { ElementState::Pressed } else { ElementState::Released };
                view.event(&WindowEvent::MouseInput { device_id, state, button: MouseButton::Left }, size) | has_moved
            }
            Event::Wheel { x, y, dx, dy } => {
                let has_moved = at(view, *x, *y);
                let by = PhysicalPosition::new(-f64::from(*dx), -f64::from(*dy));
                let (delta, phase) = (MouseScrollDelta::PixelDelta(by), TouchPhase::Moved);
                view.event(&WindowEvent::MouseWheel { device_id, delta, phase }, size) | has_moved
            }
            Event::Key { key, down: true, .. } => character(key).is_some_and(|key| view.press(key)),
            _ => false,
        }
    }
}
