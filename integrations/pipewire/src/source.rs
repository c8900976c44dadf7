//! [`VideoSource`].

use crate::error::{PipewireError, failed};
use crate::offer::{Offer, pod};
use pipewire::context::ContextRc;
use pipewire::core::{CoreRc, Listener};
use pipewire::keys;
use pipewire::main_loop::MainLoopRc;
use pipewire::properties::properties;
use pipewire::spa::param::ParamType;
use pipewire::spa::param::video::VideoInfoRaw;
use pipewire::spa::pod::Pod;
use pipewire::spa::utils::Direction;
use pipewire::stream::{Stream, StreamFlags, StreamListener, StreamRc, StreamState};
use pixelferry::ImageDesc;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The last picture is sent again after this time.
const AGAIN: Duration = Duration::from_secs(1);

/// A video source of PipeWire, which any number of consumers may link to. It stays on its thread, and its calls do all
/// the work: consumers are served only during [`VideoSource::show`] and [`VideoSource::wait`].
///
/// The node exists from the first picture on. Without a new picture, the last one is sent again every second, for
/// consumers that come later.
///
///
/// ```no_run
/// use pixelferry::{ImageDesc, PixelFormat};
/// use pixelferry_pipewire::VideoSource;
///
/// let mut source = VideoSource::open("mine")?;
/// let image = ImageDesc::new(640, 480, PixelFormat::Rgba8);
/// source.show(&image, &vec![255; 640 * 480 * 4])?;
/// # Ok::<(), pixelferry_pipewire::PipewireError>(())
/// ```
pub struct VideoSource {
    // Declared before the objects that they listen to.
    _listens: (StreamListener<Rc<RefCell<SourceState>>>, Listener),
    stream: StreamRc,
    _core: CoreRc,
    main_loop: MainLoopRc,
    shared: Rc<RefCell<SourceState>>,
    /// Minimum time between two pictures.
    interval: Duration,
    sent: Option<Instant>,
}

/// State that the callbacks of PipeWire and the calls of [`VideoSource`] share.
#[derive(Default)]
struct SourceState {
    /// The current offer; `None` before the first picture.
    offer: Option<Offer>,
    /// Whether a consumer has agreed to the offer.
    is_agreed: bool,
    newest: Vec<u8>,
    /// Whether `newest` has not been sent yet.
    is_new: bool,
    /// Number of sent pictures.
    sent: u64,
    failure: Option<String>,
}

impl std::fmt::Debug for VideoSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let offer = self.shared.borrow().offer;
        f.debug_struct("VideoSource").field("node", &self.node()).field("offer", &offer).finish_non_exhaustive()
    }
}

impl VideoSource {
    /// Connects to the user's PipeWire. `name` is the node's name, for people and for links.
    ///
    /// # Errors
    /// [`PipewireError::Connect`] if no daemon answers, [`PipewireError::Name`], [`PipewireError::Call`].
    pub fn open(name: &str) -> Result<Self, PipewireError> {
        if name.is_empty() || name.len() > 200 || name.contains('\0') {
            return Err(PipewireError::Name);
        }
        pipewire::init();
        let main_loop = MainLoopRc::new(None).map_err(failed("pw_main_loop_new"))?;
        let context = ContextRc::new(&main_loop, None).map_err(failed("pw_context_new"))?;
        let core = context.connect_rc(None).map_err(PipewireError::Connect)?;
        let shared = Rc::new(RefCell::new(SourceState::default()));
        let heard = Rc::clone(&shared);
        let core_listener = core
            .add_listener_local()
            .error(move |id, _, code, message| heard.borrow_mut().lose(format!("{message} ({code}, of object {id})")))
            .register();
        let about = properties! {
            *keys::MEDIA_CLASS => "Video/Source",
            *keys::MEDIA_TYPE => "Video",
            *keys::MEDIA_ROLE => "Camera",
            *keys::NODE_NAME => name,
            *keys::NODE_DESCRIPTION => name,
        };
        let stream = StreamRc::new(core.clone(), name, about).map_err(failed("pw_stream_new"))?;
        let stream_listener = stream
            .add_local_listener_with_user_data(Rc::clone(&shared))
            .state_changed(|_, shared, _, state| shared.borrow_mut().state(&state))
            .param_changed(|stream, shared, id, param| {
                if id == ParamType::Format.as_raw() {
                    agreed(stream, shared, param);
                }
            })
            .process(|stream, shared| shared.borrow_mut().send(stream))
            .register()
            .map_err(failed("pw_stream_add_listener"))?;
        let listens = (stream_listener, core_listener);
        let interval = Duration::ZERO;
        Ok(Self { main_loop, stream, shared, interval, sent: None, _listens: listens, _core: core })
    }

    /// Sets the maximum rate in pictures per second; between two pictures, the newest one waits. The default is
    /// unlimited.
    #[must_use]
    pub fn with_rate(mut self, pictures_in_a_second: f64) -> Self {
        let interval = Duration::try_from_secs_f64(1.0 / pictures_in_a_second);
        self.interval = interval.unwrap_or(Duration::ZERO).min(Duration::from_secs(3600));
        self
    }

    /// The node's ID in PipeWire's graph; `None` before the first picture.
    pub fn node(&self) -> Option<u32> {
        Some(self.stream.node_id()).filter(|id| *id != pipewire::constants::ID_ANY)
    }

    /// Number of pictures sent to consumers.
    pub fn sent(&self) -> u64 {
        self.shared.borrow().sent
    }

    /// Makes a picture the newest: tight rows, top row first. It is sent at once if there is a consumer and the rate
    /// allows it; otherwise [`VideoSource::wait`] sends it, unless a newer one comes first.
    ///
    /// # Errors
    /// [`PipewireError::Format`], [`PipewireError::Size`]; [`PipewireError::Lost`] once PipeWire has ended.
    pub fn show(&mut self, image: &ImageDesc, rows: &[u8]) -> Result<(), PipewireError> {
        let offer = Offer::of(image, rows.len())?;
        let before = self.shared.borrow().offer;
        if before != Some(offer) {
            {
                let mut shared = self.shared.borrow_mut();
                (shared.offer, shared.is_agreed, shared.is_new) = (Some(offer), false, false);
            }
            self.offer(&offer, before.is_none())?;
        }
        {
            let mut shared = self.shared.borrow_mut();
            shared.newest.clear();
            shared.newest.extend_from_slice(rows);
            shared.is_new = true;
        }
        self.wait(Duration::ZERO)
    }

    fn offer(&self, offer: &Offer, is_first: bool) -> Result<(), PipewireError> {
        let format = offer.format();
        let params = &mut [pod(&format)?];
        if is_first {
            let flags = StreamFlags::DRIVER | StreamFlags::MAP_BUFFERS;
            self.stream.connect(Direction::Output, None, flags, params).map_err(failed("pw_stream_connect"))
        } else {
            self.stream.update_params(params).map_err(failed("pw_stream_update_params"))
        }
    }

    /// Serves PipeWire for up to `timeout`, and sends the newest picture when it is due.
    ///
    /// # Errors
    /// [`PipewireError::Lost`] once PipeWire has ended, or refused the source.
    pub fn wait(&mut self, timeout: Duration) -> Result<(), PipewireError> {
        let began = Instant::now();
        loop {
            let rest = timeout.saturating_sub(began.elapsed());
            let due = self.due();
            // Waits have a resolution of milliseconds, and an hour is long enough.
            let slice = if due.is_zero() { rest } else { rest.min(due.max(Duration::from_millis(1))) };
            self.main_loop.loop_().iterate(slice.min(Duration::from_secs(3600)));
            if let Some(failure) = self.shared.borrow().failure.clone() {
                return Err(PipewireError::Lost(failure));
            }
            self.send()?;
            if began.elapsed() >= timeout {
                return Ok(());
            }
        }
    }

    /// Time until a picture is due.
    fn due(&self) -> Duration {
        let interval = if self.shared.borrow().is_new { self.interval } else { self.interval.max(AGAIN) };
        self.sent.map_or(Duration::ZERO, |sent| interval.saturating_sub(sent.elapsed()))
    }

    /// Sends the newest picture if it is due. If another node drives the graph, the next cycle takes it.
    fn send(&mut self) -> Result<(), PipewireError> {
        let is_due = self.due().is_zero();
        let (before, is_ready) = {
            let mut shared = self.shared.borrow_mut();
            shared.is_new |= is_due && shared.sent > 0;
            (shared.sent, shared.is_new && shared.is_agreed)
        };
        // A picture that is sent before there is a consumer is lost.
        let is_taken = matches!(self.stream.state(), StreamState::Streaming);
        if is_due && is_ready && is_taken && self.stream.is_driving() {
            self.stream.trigger_process().map_err(failed("pw_stream_trigger_process"))?;
        }
        if self.sent() != before {
            self.sent = Some(Instant::now());
        }
        Ok(())
    }
}

/// Answers a consumer's choice with the buffers for it.
fn agreed(stream: &Stream, shared: &RefCell<SourceState>, chosen: Option<&Pod>) {
    let mut info = VideoInfoRaw::new();
    let is_read = chosen.is_some_and(|chosen| info.parse(chosen).is_ok());
    let offer = {
        let mut shared = shared.borrow_mut();
        let offer = shared.offer.filter(|offer| is_read && offer.is_agreed(&info));
        shared.is_agreed = offer.is_some();
        // A new consumer gets the last picture.
        shared.is_new |= shared.is_agreed && !shared.newest.is_empty();
        offer
    };
    let Some(offer) = offer else { return };
    let buffers = offer.buffers();
    let done = pod(&buffers)
        .and_then(|buffers| stream.update_params(&mut [buffers]).map_err(failed("pw_stream_update_params")));
    if let Err(error) = done {
        shared.borrow_mut().lose(error.to_string());
    }
}

impl SourceState {
    fn lose(&mut self, failure: String) {
        self.failure.get_or_insert(failure);
    }

    fn state(&mut self, state: &StreamState) {
        match state {
            StreamState::Error(reason) => self.lose(reason.clone()),
            StreamState::Streaming => self.is_new |= self.is_agreed && !self.newest.is_empty(),
            _ => {}
        }
    }

    /// Copies the newest picture to a free buffer.
    fn send(&mut self, stream: &Stream) {
        let Some(offer) = self.offer.filter(|_| self.is_new && self.is_agreed) else { return };
        // If none is free, consumers are behind; the picture waits or is replaced by a newer one.
        let Some(mut buffer) = stream.dequeue_buffer() else { return };
        let Some(data) = buffer.datas_mut().first_mut() else { return };
        let place = data.data().and_then(|place| place.get_mut(..self.newest.len()));
        let (len, stride) = match place {
            Some(place) => {
                place.copy_from_slice(&self.newest);
                (self.newest.len() as u32, offer.stride())
            }
            // A buffer from before a change of size: send it empty, so that it is not shown.
            None => (0, 0),
        };
        let chunk = data.chunk_mut();
        (*chunk.offset_mut(), *chunk.size_mut(), *chunk.stride_mut()) = (0, len, stride);
        if len > 0 {
            self.is_new = false;
            self.sent += 1;
        }
    }
}
