//! Sends pictures to viewers, and receives their input.

use crate::canvas::Canvas;
use crate::deliver::{Delivery, LARGE, Picture};
use crate::error::{CLOSED, Error, Result, keys};
use crate::lock::{lock, until};
use crate::net::{DeliveryOptions, Net, now};
use crate::pack::{Packer, mark};
use crate::pixels::read_header;
use crate::status::Entry;
use crate::unseen::Unseen;
use pixelferry::ImageDesc;
use pixelferry_media::wire::{Codec, HEADER_BYTES, Header, MessageKind, WireError};
use pixelferry_rules::key;
use pixelferry_rules::pace::Wish;
use pixelferry_rules::packing::Packing;
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use zenoh::Wait;
use zenoh::bytes::ZBytes;
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::{CongestionControl, Priority};

/// Quality of JPEG pictures.
const QUALITY: u8 = 85;
/// Interval of checks for viewers.
const LOOK: Duration = Duration::from_millis(10);
/// Queue limit for inputs; the oldest are dropped.
const MOST_INPUTS: usize = 1024;

/// Sends a scene's pictures to its viewers.
///
/// Threads: any. A viewer that does not read loses pictures and delays no other: the server's threads send the newest
/// picture at a time, and queues for viewers are bounded.
pub struct Server {
    net: Net,
    epoch: u64,
    packer: Arc<Packer>,
    unseen: Arc<Unseen>,
    publisher: Arc<Publisher<'static>>,
    /// To viewers in the same place.
    near: Arc<Publisher<'static>>,
    delivery: Arc<Delivery>,
    /// Made with the first picture.
    courier: OnceLock<Courier>,
    starting: Mutex<()>,
    inputs: Arc<Inputs>,
    entry: Arc<Entry>,
    _wishes: Subscriber<()>,
    _inputs: Subscriber<()>,
    _ends: Ends,
}

const OP: &str = "Server::publish";

/// The thread that publishes small pictures. It ends after the newest.
struct Courier {
    delivery: Arc<Delivery>,
    thread: Option<JoinHandle<()>>,
}

/// Ends the viewers' threads with the server.
struct Ends(Arc<Delivery>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Drop for Courier {
    fn drop(&mut self) {
        self.delivery.end();
        // A panic there was already reported.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Inputs of viewers, oldest first.
#[derive(Default)]
struct Inputs {
    queue: Mutex<VecDeque<Vec<u8>>>,
    told: Condvar,
}

impl Inputs {
    fn push(&self, input: Vec<u8>) {
        let mut queue = lock(&self.queue);
        if queue.len() == MOST_INPUTS {
            queue.pop_front();
        }
        queue.push_back(input);
        self.told.notify_one();
    }
}

impl Net {
    /// Serves a scene to viewers.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an invalid name; [`Error::Zenoh`].
    pub fn serve(&self, scene: &str) -> Result<Server> {
        const OP: &str = "Net::serve";
        let keys = keys(scene)?;
        let entry = Arc::new(self.status().enter("server", scene));
        let way = DeliveryOptions { congestion: CongestionControl::Drop, priority: Priority::DataLow, express: false };
        let publisher = Arc::new(self.publisher(OP, keys.view(), way)?);
        let place = self.place().load(Ordering::Relaxed);
        let near = self.publisher(OP, key::near(&keys.view(), place), DeliveryOptions { express: true, ..way })?;
        let unseen = Arc::new(Unseen::default());
        let delivery = Delivery::new(keys.view(), unseen.clone());
        let (told, refusing, net) = (delivery.clone(), entry.clone(), self.weak());
        let wish = move |message: &ZBytes| match Wish::read(&message.to_bytes()) {
            Some(wish) => told.wish(wish, &net),
            None => refusing.refuse(&"invalid request of a viewer"),
        };
        let wishes = self.subscribe(OP, key::wish(&keys.view()), wish)?;
        let inputs = Arc::new(Inputs::default());
        let (taken, refusing, limits) = (inputs.clone(), entry.clone(), self.limits());
        let input = move |message: &ZBytes| {
            if let Err(refused) = read_header(message, MessageKind::Input, &limits) {
                return refusing.refuse(&refused);
            }
            taken.push(message.to_bytes().get(HEADER_BYTES..).unwrap_or_default().to_vec());
        };
        Ok(Server {
            net: self.clone(),
            epoch: now(),
            packer: Arc::new(Packer::new(self, &entry, (keys.view(), way), QUALITY)),
            unseen,
            publisher,
            near: Arc::new(near),
            _ends: Ends(delivery.clone()),
            delivery,
            courier: OnceLock::new(),
            starting: Mutex::default(),
            inputs,
            entry,
            _wishes: wishes,
            _inputs: self.subscribe(OP, keys.input(), input)?,
        })
    }
}

impl Server {
    /// Encodes pictures with a [`crate::Codec`], or with the one that suits the median viewer's connection; `quality`,
    /// from 1 to 100, is for JPEG.
    #[must_use]
    pub fn with_codec(self, codec: impl Into<Packing>, quality: u8) -> Self {
        Self { packer: Arc::new(self.packer.with(codec.into(), quality)), courier: OnceLock::new(), ..self }
    }

    /// Sends a picture, tight rows in its row order, without waiting for viewers. While there are no viewers, the
    /// newest is kept and not encoded. `frame` must increase; viewers show no older frame after a newer one. `asked` is
    /// when the picture was requested, in microseconds since 1970, or `None` for now.
    ///
    /// # Errors
    /// [`Error::Wire`] for a picture that viewers would refuse; [`Error::Invalid`] if the number of bytes does not
    /// match, or the codec does not support the format; [`Error::Zenoh`].
    pub fn publish(&self, image: ImageDesc, frame: u64, asked: Option<u64>, pixels: &[u8]) -> Result<()> {
        let new = Header::new(MessageKind::Picture, image, image.extent.full());
        let header = Header { epoch: self.epoch, frame, time: asked.unwrap_or_else(now), ..new };
        if pixels.len() as u64 != header.pixel_bytes() {
            return Err(WireError::Length { promised: header.pixel_bytes(), found: pixels.len() as u64 }.into());
        }
        if self.packer.takes(image.format) && !self.is_viewed()? {
            Header::read(&Header { payload: header.pixel_bytes(), ..header }.to_bytes(), &self.net.limits())?;
            self.unseen.keep(&header, pixels, &self.packer);
            // A viewer that came in the meantime may have asked too early.
            if !self.is_viewed()? {
                self.entry.count();
                return Ok(());
            }
        }
        let (header, packed) = self.packer.pack(&header, pixels)?;
        Header::read(&header.to_bytes(), &self.net.limits())?;
        let (message, ticket) = match packed {
            Some(packed) => ([header.to_bytes().as_slice(), &packed].concat().into(), None),
            None if pixels.len() <= LARGE => ([header.to_bytes().as_slice(), pixels].concat().into(), None),
            None => {
                let no_memory = || Error::invalid(OP, "the picture exceeds the memory");
                let mut canvas = self.net.pool().canvas(pixels.len()).ok_or_else(no_memory)?;
                canvas.write(pixels);
                canvas.into_message(&header.to_bytes())
            }
        };
        self.unseen.forget();
        if self.net.session().is_closed() {
            return Err(Error::zenoh(OP, CLOSED)("the session is closed".into()));
        }
        self.start()?;
        let place = self.net.place().load(Ordering::Relaxed);
        let waits = ticket.is_none()
            && header.codec == Codec::None
            && pixels.len() > LARGE
            && self.net.pool().lends(pixels.len());
        self.delivery.put(Picture { header, message, ticket, waits }, self.packer.is_auto(), place);
        self.entry.count();
        Ok(())
    }

    /// Waits until a picture could be sent to a viewer at once; false on a timeout, because there are no viewers or
    /// none has room. Programs that make pictures as fast as they are seen call it before each picture.
    ///
    /// # Errors
    /// [`Error::Zenoh`].
    pub fn wait_until_free(&self, timeout: Duration) -> Result<bool> {
        let until = until(timeout);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if self.is_viewed()? {
                return Ok(self.delivery.wait(left));
            }
            if left.is_zero() {
                return Ok(false);
            }
            std::thread::sleep(left.min(LOOK));
        }
    }

    /// Starts the thread for small pictures.
    fn start(&self) -> Result<()> {
        let is_started = || self.courier.get().is_some();
        if is_started() {
            return Ok(());
        }
        let _one_of_several = lock(&self.starting);
        if is_started() {
            return Ok(());
        }
        self.delivery.begin();
        let (delivery, packer, publisher) = (self.delivery.clone(), self.packer.clone(), self.publisher.clone());
        let (near, place) = (self.near.clone(), self.net.place_bytes());
        let publish = move |picture: Picture| {
            let Picture { header, message, ticket, .. } = picture;
            let Some(ticket) = ticket else {
                packer.mark(&header)?;
                return publisher.put(message).wait().map_err(Error::zenoh(OP, CLOSED));
            };
            let marked = packer.is_auto().then(|| near.put(mark(&header)).attachment(place).wait());
            let lent = || near.put(header.to_bytes()).attachment(ticket.to_bytes()).wait();
            marked.unwrap_or(Ok(())).and_then(|()| lent()).map_err(Error::zenoh(OP, CLOSED))
        };
        let publish = move |picture| {
            if let Err(error) = publish(picture) {
                tracing::debug!("cannot send a picture: {error}");
            }
        };
        let thread = std::thread::Builder::new().name("pixelferry-serve".into());
        let net = self.net.clone();
        let lend = move |picture: &Picture| {
            let pixels = picture.message.get(HEADER_BYTES..)?;
            let mut canvas = net.pool().canvas(pixels.len()).filter(Canvas::is_shared)?;
            canvas.write(pixels);
            let (message, ticket) = canvas.into_message(&picture.header.to_bytes());
            Some(Picture { header: picture.header, message, ticket, waits: false })
        };
        let thread = thread.spawn(move || delivery.publish(lend, publish));
        let thread = thread.map_err(|error| Error::invalid(OP, format!("cannot start a thread: {error}")))?;
        let _ = self.courier.set(Courier { delivery: self.delivery.clone(), thread: Some(thread) });
        Ok(())
    }

    /// Returns the oldest unread input: a program's own bytes, from [`crate::Viewer::send`], or an [`crate::Event`] of
    /// the browser's page.
    pub fn input(&self) -> Option<Vec<u8>> {
        self.next_input(Duration::ZERO)
    }

    /// Like [`Server::input`], but waits for one.
    pub fn next_input(&self, timeout: Duration) -> Option<Vec<u8>> {
        let queue = lock(&self.inputs.queue);
        let waited = self.inputs.told.wait_timeout_while(queue, timeout, |queue| queue.is_empty());
        waited.unwrap_or_else(PoisonError::into_inner).0.pop_front()
    }

    /// Returns whether the scene has viewers.
    ///
    /// # Errors
    /// [`Error::Zenoh`].
    pub fn is_viewed(&self) -> Result<bool> {
        let status = self.publisher.matching_status().wait().map_err(Error::zenoh("Server::is_viewed", CLOSED))?;
        Ok(status.matching())
    }
}
