//! Arrays in browsers: what the window shows, drawn off screen, and what the hand on the page does.

mod screen;
mod stage;

pub use stage::Watcher;

use crate::array::Array;
use crate::error::{ReadError, ViewError};
use crate::keys::character;
use crate::live::Live;
use crate::shown::Shown;
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
use stage::{Stage, Waiting};
use std::mem;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Shortest time from one picture to the next.
const PAUSE: Duration = Duration::from_millis(16);

/// A page with arrays for browsers, all of which see the same view and share it.
///
/// Threads: one is in [`Serve::run`] and shows; all else may be called from any.
///
/// ```
/// use pixelferry_view::Serve;
///
/// let serve = Serve::open(([127, 0, 0, 1], 0).into())?;
/// assert!(serve.url().starts_with("http://127.0.0.1:") && serve.url().contains("/?token="));
/// # Ok::<(), pixelferry_view::ViewError>(())
/// ```
pub struct Serve {
    stage: Arc<Stage>,
    gateway: Gateway,
    token: String,
    may_use_gpu: AtomicBool,
}

impl Serve {
    /// Listens; port 0 lets the system choose. Pictures go to this machine's own browsers as they are, beyond it as JPEG
    /// ([`Serve::use_gpu`]).
    ///
    /// # Errors
    /// [`ViewError::Web`] where it cannot listen, or the system gives no random numbers for the token.
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

    /// The page's address, with the token that it needs.
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

    /// Browsers that look on at the moment.
    pub fn viewers(&self) -> usize {
        self.gateway.viewers()
    }

    /// One more who looks on, beside the browsers, such as a notebook: pictures come as JPEG.
    pub fn watcher(&self) -> Watcher {
        Watcher::new(&self.stage, Codec::Jpeg)
    }

    /// JPEGs are packed by the GPU that draws, where it is CUDA's and has nvJPEG ([`GpuJpeg`](pixelferry_media::GpuJpeg)) and its first
    /// picture is as good as the host's; with `false` by the host. To be called before [`Serve::run`].
    pub fn use_gpu(&self, may_use_gpu: bool) {
        self.may_use_gpu.store(may_use_gpu, Ordering::Relaxed);
    }

    /// What packs JPEGs, in words: `libnvjpeg.so.13 on ...`, by which path, or `the host` and why. Empty before [`Serve::run`]; `none
    /// yet` before the first.
    pub fn encoder(&self) -> String {
        self.stage.encoder()
    }

    /// Shows an array beside the others, or instead of the one of that name. Returns at once; `make` is called by the thread that
    /// shows, unless a newer one of that name comes before. `own` is its look, as [`ArrayView::put_as`] has it. An array that is not shown
    /// is logged.
    pub fn put(
        &self,
        name: &str,
        own: Option<Request>,
        make: impl FnOnce() -> Result<Array, ReadError> + Send + 'static,
    ) {
        self.stage.put(name, own, Box::new(make));
    }

    /// Ends [`Serve::run`], now or when it is called.
    pub fn stop(&self) {
        self.stage.stop();
    }

    /// Shows arrays, then also what comes by [`Serve::put`] and live, until [`Serve::stop`]. Nothing is drawn while no
    /// browser looks on. `ready` is called when the first picture is there.
    ///
    /// # Errors
    /// [`ViewError::Refused`] where arrays and look do not go together; [`ViewError::Driver`] where there is no OpenGL without a
    /// window.
    pub fn run(&self, arrays: Vec<Array>, request: Request, live: Live, ready: impl FnOnce()) -> Result<(), ViewError> {
        let ended = self.show(arrays, request, live, ready);
        self.stop();
        ended
    }

    fn show(
        &self,
        mut arrays: Vec<Array>,
        request: Request,
        live: Live,
        ready: impl FnOnce(),
    ) -> Result<(), ViewError> {
        live.begin(&mut arrays)?;
        let stage = Arc::clone(&self.stage);
        live.wake_by(move || stage.ask());
        let shown = Shown::all(arrays, &request)?;
        let size = size_for(&shown);
        let display = GlDisplay::headless(HeadlessOptions::default())?;
        let mut screen = Screen::new(&display, size, self.may_use_gpu.load(Ordering::Relaxed))?;
        self.stage.set_encoder(screen.encoder());
        let mut view = live.view(&display, shown)?;
        ready();
        let (mut hand, mut is_old) = (Hand::default(), true);
        loop {
            let Waiting { arrays, inputs, is_asked, watched, is_over } = self.stage.take();
            if is_over {
                return Ok(());
            }
            is_old |= is_asked || !arrays.is_empty();
            for (name, own, make) in arrays {
                let made = make().map_err(ViewError::from);
                if let Err(error) = made.and_then(|array| view.put_as(array.named(name.clone()), own)) {
                    tracing::warn!("{name} is not shown: {error}");
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
                // For who waits next.
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
                // Whoever has the picture may ask what packed it.
                self.stage.set_encoder(screen.encoder());
                self.stage.hand(codec, message);
            }
            sleep(PAUSE.saturating_sub(begun.elapsed()));
        }
    }
}

/// The left button of whoever steers.
#[derive(Default)]
struct Hand {
    is_down: bool,
}

impl Hand {
    /// Does what a browser's user did. True where the picture is to be drawn again.
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
