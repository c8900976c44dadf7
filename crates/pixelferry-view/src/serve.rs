//! Arrays in browsers: what the window shows, drawn off screen, and what the hand on the page does.

use crate::array::Array;
use crate::error::{ReadError, ViewError};
use crate::keys::character;
use crate::live::Live;
use crate::shown::Shown;
use crate::view::ArrayView;
use crate::window::size_for;
use pixelferry::api::gl::winit::dpi::PhysicalPosition;
use pixelferry::api::gl::winit::event::{
    DeviceId, ElementState, MouseButton, MouseScrollDelta, TouchPhase, WindowEvent,
};
use pixelferry::api::gl::{GlDisplay, HeadlessOptions};
use pixelferry::{Extent, ImageDesc, PixelFormat};
use pixelferry_look::Request;
use pixelferry_media::Event;
use pixelferry_media::web::{Gateway, Source, WebOptions};
use pixelferry_media::wire::{Codec, Header, Kind};
use std::mem;
use std::net::SocketAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Quality of JPEGs, which go beyond this machine.
const QUALITY: u8 = 90;
/// Shortest time from one picture to the next.
const PAUSE: Duration = Duration::from_millis(16);
/// Most inputs that wait; what a page sends beyond goes.
const MOST_INPUTS: usize = 4096;

/// Makes an array on the thread that shows it.
type Make = Box<dyn FnOnce() -> Result<Array, ReadError> + Send>;

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
    codec: Codec,
}

/// What the thread that shows and those of the gateway give each other.
#[derive(Default)]
struct Stage {
    waiting: Mutex<Waiting>,
    /// Something waits for the thread that shows.
    came: Condvar,
    picture: Mutex<Option<Vec<u8>>>,
    drawn: Condvar,
}

#[derive(Default)]
struct Waiting {
    /// By name, of which the newest counts.
    arrays: Vec<(String, Make)>,
    inputs: Vec<Event>,
    /// Something changed that is not here, or a picture is asked for.
    is_asked: bool,
    is_watched: bool,
    is_over: bool,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stage {
    fn change(&self, change: impl FnOnce(&mut Waiting)) {
        change(&mut lock(&self.waiting));
        self.came.notify_all();
    }

    /// Waits until there is something to do, and takes it. Without a browser nobody asks.
    fn take(&self) -> Waiting {
        let nothing = |waiting: &mut Waiting| {
            let is_asked = waiting.is_asked && waiting.is_watched;
            waiting.arrays.is_empty() && waiting.inputs.is_empty() && !is_asked && !waiting.is_over
        };
        let waited = self.came.wait_while(lock(&self.waiting), nothing);
        let mut waiting = waited.unwrap_or_else(PoisonError::into_inner);
        let (is_watched, is_over) = (waiting.is_watched, waiting.is_over);
        let is_asked = is_watched && mem::take(&mut waiting.is_asked);
        let (arrays, inputs) = (mem::take(&mut waiting.arrays), mem::take(&mut waiting.inputs));
        Waiting { arrays, inputs, is_asked, is_watched, is_over }
    }
}

/// The gateway's side of it.
struct Door(Arc<Stage>);

impl Source for Door {
    fn next_message(&self, _: &[Codec], timeout: Duration) -> Option<Vec<u8>> {
        let waited = self.0.drawn.wait_timeout_while(lock(&self.0.picture), timeout, |picture| picture.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.take()
    }

    fn is_served(&self) -> bool {
        !lock(&self.0.waiting).is_over
    }

    fn ask(&self) {
        self.0.change(|waiting| waiting.is_asked = true);
    }

    fn watch(&self, is_watched: bool) {
        self.0.change(|waiting| (waiting.is_watched, waiting.is_asked) = (is_watched, true));
    }

    fn send(&self, input: &[u8]) {
        match Event::read(input) {
            Ok(event) => self.0.change(|waiting| {
                if waiting.inputs.len() < MOST_INPUTS {
                    waiting.inputs.push(event);
                }
            }),
            Err(error) => tracing::debug!("an input is no event: {error}"),
        }
    }
}

impl Serve {
    /// Listens; port 0 lets the system choose. Pictures go to this machine's own browsers as they are, beyond it as JPEG.
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
        let gateway = Gateway::open("arrays", Door(Arc::clone(&stage)), options)?;
        Ok(Self { stage, gateway, token, codec })
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

    /// Shows an array beside the others, or in the place of the one of that name. Returns at once; `make` is called by the thread that
    /// shows, unless a newer one of that name comes before. An array that is not shown is logged.
    pub fn put(&self, name: &str, make: impl FnOnce() -> Result<Array, ReadError> + Send + 'static) {
        self.stage.change(|waiting| {
            waiting.arrays.retain(|(other, _)| other != name);
            waiting.arrays.push((name.to_owned(), Box::new(make)));
        });
    }

    /// Ends [`Serve::run`], now or when it is called.
    pub fn stop(&self) {
        self.stage.change(|waiting| waiting.is_over = true);
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
        live.wake_by(move || stage.change(|waiting| waiting.is_asked = true));
        let shown = Shown::all(arrays, &request)?;
        let size = size_for(&shown);
        let display = GlDisplay::headless(HeadlessOptions::default())?;
        let target = display.create_offscreen_target(size.width, size.height)?;
        let mut view = ArrayView::of(&display, shown)?;
        ready();
        let (mut hand, mut is_old) = (Hand::default(), true);
        let mut header =
            Header::new(Kind::Picture, ImageDesc::new(size.width, size.height, PixelFormat::Rgba8), size.full());
        header.epoch = micros();
        loop {
            let Waiting { arrays, inputs, is_asked, is_watched, is_over } = self.stage.take();
            if is_over {
                return Ok(());
            }
            is_old |= is_asked || !arrays.is_empty();
            for (name, make) in arrays {
                let made = make().map_err(ViewError::from);
                if let Err(error) = made.and_then(|array| view.put(array.named(name.clone()))) {
                    tracing::warn!("{name} is not shown: {error}");
                }
            }
            for input in inputs {
                is_old |= hand.does(&input, &mut view, size);
            }
            is_old |= live.follow(&mut view);
            if !(is_old && is_watched) {
                continue;
            }
            let begun = Instant::now();
            header.frame += 1;
            (header.time, is_old) = (micros(), false);
            target.bind()?;
            view.draw(size, 1.0)?;
            let pixels = target.read_rgba8()?;
            let message = match self.codec {
                Codec::None => [header.to_bytes().as_slice(), &pixels].concat(),
                codec => header.pack(codec, &pixels, QUALITY)?,
            };
            *lock(&self.stage.picture) = Some(message);
            self.stage.drawn.notify_all();
            sleep(PAUSE.saturating_sub(begun.elapsed()));
        }
    }
}

/// Microseconds since 1970.
fn micros() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
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
