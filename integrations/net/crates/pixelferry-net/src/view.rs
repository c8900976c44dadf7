//! A viewer, which receives the newest picture of a scene.

use crate::error::{CLOSED, Error, Result, keys};
use crate::lend::KnownSheets;
use crate::lock::{lock, until};
use crate::net::{DeliveryOptions, Net, now};
use crate::pixels::{ArrivedMessage, PixelNotice, Pixels, begin, copy, read_mark};
use crate::status::Entry;
use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_media::wire::{Codec, HEADER_BYTES, Header, Limits, MessageKind, WireError};
use pixelferry_rules::key;
use pixelferry_rules::link::Meter;
use pixelferry_rules::pace::{Piece, Wish};
use pixelferry_rules::session::{FollowedSession, News};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use zenoh::Wait;
use zenoh::bytes::ZBytes;
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::sample::Sample;

/// Watches a scene. If pictures come faster than they are read, only the newest is kept.
///
/// Threads: any.
pub struct Viewer {
    shared: Arc<ViewerState>,
    publisher: Publisher<'static>,
    reports: Publisher<'static>,
    /// Identifies this viewer's reports to the server.
    number: u64,
    wishes: Arc<Wishes>,
    _repeated: WishRepeater,
    _near: Subscriber<()>,
    _apart: Subscriber<()>,
    _pictures: Subscriber<()>,
    _marks: Subscriber<()>,
    net: Net,
}

struct ViewerState {
    newest: Mutex<Newest>,
    meter: Mutex<Meter>,
    coming: Mutex<PartialPicture>,
    told: Condvar,
    entry: Entry,
    limits: Limits,
    place: Arc<AtomicU64>,
    /// Memory lent by servers.
    known: KnownSheets,
}

#[derive(Default)]
struct Newest {
    followed: FollowedSession,
    /// Lent memory is locked when the picture is read, so that a viewer that does not read keeps no memory.
    picture: Option<PixelNotice>,
    /// Session and frame that was read last, which may be newer than the last notification.
    read: (u64, u64),
}

impl Net {
    /// Watches a scene.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an invalid name; [`Error::Zenoh`].
    pub fn view(&self, scene: &str) -> Result<Viewer> {
        const OP: &str = "Net::view";
        let keys = keys(scene)?;
        let limits = self.limits();
        let entry = self.status().enter("viewer", scene);
        let (newest, meter, coming) = Default::default();
        let shared = Arc::new(ViewerState {
            newest,
            meter,
            coming,
            told: Condvar::new(),
            entry,
            limits,
            place: self.place().clone(),
            known: KnownSheets::default(),
        });
        let publisher = self.publisher(OP, keys.input(), DeliveryOptions::WORDS)?;
        let reports = self.publisher(OP, key::report(&keys.view()), DeliveryOptions::WORDS)?;
        let taken = shared.clone();
        let marks = self.subscribe_all(OP, key::mark(&keys.view()), move |sample| taken.mark(&sample))?;
        let taken = shared.clone();
        let pictures = self.subscribe_all(OP, keys.view(), move |sample| taken.take(&sample))?;
        let taken = shared.clone();
        let place = key::near(&keys.view(), self.place().load(Ordering::Relaxed));
        let near = self.subscribe_all(OP, place, move |sample| taken.hear(&sample))?;
        let (number, net, place) = (self.number(), self.clone(), self.place().clone());
        let wish = Mutex::new(Wish { viewer: number, place: 0, asked: 0, taken: 0 });
        let publisher_of_wishes = self.publisher(OP, key::wish(&keys.view()), DeliveryOptions::WORDS)?;
        let wishes = Arc::new(Wishes { publisher: publisher_of_wishes, wish, place });
        let (taken, telling) = (shared.clone(), wishes.clone());
        let apart = move |sample| taken.hear_apart(&sample, &telling);
        let apart = self.subscribe_all(OP, key::to(&keys.view(), number), apart)?;
        wishes.tell(|_| {}).map_err(Error::zenoh(OP, CLOSED))?;
        let repeated = WishRepeater::start(wishes.clone(), shared.clone())?;
        Ok(Viewer {
            shared,
            publisher,
            reports,
            number,
            wishes,
            _repeated: repeated,
            _near: near,
            _apart: apart,
            _pictures: pictures,
            _marks: marks,
            net,
        })
    }
}

impl ViewerState {
    /// Handles messages for this viewer only.
    fn hear_apart(&self, sample: &Sample, wishes: &Wishes) {
        let Some(piece) = sample.attachment().and_then(|piece| Piece::read(&piece.to_bytes())) else {
            return self.hear(sample);
        };
        if let Err(error) = wishes.tell(|wish| wish.taken = piece.number) {
            tracing::debug!("cannot send a request: {error}");
        }
        let whole = lock(&self.coming).take(&piece, sample.payload().clone(), &self.limits);
        let message = whole.and_then(|message| {
            message
                .map_or(Ok(()), |message| self.accept(PixelNotice::whole(message, MessageKind::Picture, &self.limits)?))
        });
        if let Err(refused) = message {
            self.entry.refuse(&refused);
        }
    }

    /// Handles a lent picture, or the mark before it, which the server sends if it measures.
    fn hear(&self, sample: &Sample) {
        let is_mark = sample.attachment().is_some_and(|place| place.len() == 8);
        if is_mark { self.mark(sample) } else { self.take(sample) }
    }

    fn take(&self, sample: &Sample) {
        if let Err(refused) = self.read(sample) {
            self.entry.refuse(&refused);
        }
    }

    fn mark(&self, sample: &Sample) {
        match read_mark(sample, &self.limits, &self.place) {
            Ok((header, is_near)) => lock(&self.meter).mark(&header, is_near, Instant::now()),
            Err(refused) => self.entry.refuse(&refused),
        }
    }

    fn read(&self, sample: &Sample) -> Result<(), WireError> {
        self.accept(PixelNotice::read(sample, MessageKind::Picture, &self.limits)?)
    }

    fn accept(&self, told: PixelNotice) -> Result<(), WireError> {
        let header = told.header;
        if header.region != header.image.extent.full() {
            return Err(WireError::Rectangle(header.region));
        }
        lock(&self.meter).came(&header, Instant::now());
        let mut newest = lock(&self.newest);
        let news = newest.followed.accept(header.epoch, header.frame, Instant::now())?;
        let is_read = header.epoch == newest.read.0 && header.frame <= newest.read.1;
        if news == News::Session || news == News::Newer && !is_read {
            newest.picture = Some(told);
            self.told.notify_all();
        }
        Ok(())
    }
}

impl Viewer {
    /// Returns the newest unread picture; `None` if none arrives in time, or it could not be read.
    pub fn next(&self, timeout: Duration) -> Option<Pixels> {
        self.take(timeout, Pixels::new)
    }

    /// Returns the picture of [`Viewer::next`] as a message, header and payload, for programs that forward it. It is
    /// decoded unless its codec is in `codecs`.
    pub fn next_message(&self, codecs: &[Codec], timeout: Duration) -> Option<Vec<u8>> {
        self.take(timeout, |arrived| copy(&arrived.header, &arrived.message, codecs))
    }

    fn take<T>(&self, timeout: Duration, read: impl Fn(ArrivedMessage) -> Result<T, WireError>) -> Option<T> {
        let until = until(timeout);
        self.report();
        loop {
            let (newest, left) = (lock(&self.shared.newest), until.saturating_duration_since(Instant::now()));
            let waited = self.shared.told.wait_timeout_while(newest, left, |newest| newest.picture.is_none());
            let mut newest = waited.unwrap_or_else(PoisonError::into_inner).0;
            let told = newest.picture.take()?;
            let fetched = told
                .fetch(&self.shared.limits, &self.shared.place, |ticket, bytes| self.shared.known.fetch(ticket, bytes));
            // The memory is being overwritten with a picture whose notification follows.
            let Some(arrived) = fetched else { continue };
            newest.read = (arrived.header.epoch, arrived.header.frame);
            drop(newest);
            match read(arrived) {
                Ok(picture) => {
                    self.shared.entry.count();
                    return Some(picture);
                }
                Err(refused) => self.shared.entry.refuse(&refused),
            }
        }
    }

    /// Sends a due report about the connection to the server.
    fn report(&self) {
        let due = lock(&self.shared.meter).due(self.number, Instant::now());
        for (_server, report) in due {
            if let Err(error) = self.reports.put(report.to_bytes()).wait() {
                tracing::debug!("cannot send a report: {error}");
            }
        }
    }

    /// Requests the current picture, if none comes otherwise. [`Viewer::next`] returns it unless a newer one has
    /// arrived.
    ///
    /// # Errors
    /// [`Error::Zenoh`].
    pub fn ask(&self) -> Result<()> {
        let asked = self.wishes.tell(|wish| wish.asked += 1);
        asked.map_err(Error::zenoh("Viewer::ask", CLOSED))
    }

    /// Returns whether the scene is being served.
    ///
    /// # Errors
    /// [`Error::Zenoh`].
    pub fn is_served(&self) -> Result<bool> {
        let status = self.publisher.matching_status().wait().map_err(Error::zenoh("Viewer::is_served", CLOSED))?;
        Ok(status.matching())
    }

    /// Sends bytes to the program that serves the scene: mouse, keys, whatever it understands.
    ///
    /// # Errors
    /// [`Error::Wire`] for more bytes than the limits allow; [`Error::Zenoh`].
    pub fn send(&self, input: &[u8]) -> Result<()> {
        let (bytes, limit) = (input.len() as u64, self.net.limits().args);
        if bytes > limit {
            return Err(WireError::TooLarge { bytes, limit }.into());
        }
        let image = ImageDesc::new(1, 1, PixelFormat::R8);
        let header =
            Header { time: now(), payload: bytes, ..Header::new(MessageKind::Input, image, image.extent.full()) };
        let message = [header.to_bytes().as_slice(), input].concat();
        self.publisher.put(message).wait().map_err(Error::zenoh("Viewer::send", CLOSED))
    }

    /// Number of refused messages: invalid ones, or those of other sessions.
    pub fn refused(&self) -> u64 {
        self.shared.entry.refused()
    }
}

/// Interval at which a viewer repeats its request: messages may be lost, and servers come and go.
const REPEAT: Duration = Duration::from_millis(250);
/// After this time of silence of a session, pieces of an earlier one are accepted.
const SILENCE: Duration = Duration::from_secs(5);

/// What the viewer requests of the server, and its state.
struct Wishes {
    publisher: Publisher<'static>,
    wish: Mutex<Wish>,
    place: Arc<AtomicU64>,
}

impl Wishes {
    /// Changes the request and sends it.
    fn tell(&self, change: impl FnOnce(&mut Wish)) -> zenoh::Result<()> {
        let mut wish = lock(&self.wish);
        change(&mut wish);
        wish.place = self.place.load(Ordering::Relaxed);
        let bytes = wish.to_bytes();
        drop(wish);
        self.publisher.put(bytes).wait()
    }
}

/// The thread that repeats the request. It ends with its viewer.
struct WishRepeater(#[allow(dead_code)] Sender<()>);

impl WishRepeater {
    fn start(wishes: Arc<Wishes>, shared: Arc<ViewerState>) -> Result<Self> {
        let (ends, ended) = channel();
        let repeat = move || {
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(REPEAT) {
                if let Err(error) = wishes.tell(|_| {}) {
                    tracing::debug!("cannot send a request: {error}");
                }
                shared.known.sweep();
            }
        };
        let thread = std::thread::Builder::new().name("pixelferry-wish".into()).spawn(repeat);
        thread.map_err(|error| Error::invalid("Net::view", format!("cannot start a thread: {error}")))?;
        Ok(Self(ends))
    }
}

/// A picture that arrives in pieces.
#[derive(Default)]
struct PartialPicture {
    epoch: u64,
    heard: Option<Instant>,
    pieces: Vec<ZBytes>,
    /// Received bytes, and bytes of the whole message.
    came: u64,
    length: u64,
}

impl PartialPicture {
    /// Adds a piece; returns the whole message after its last piece.
    fn take(&mut self, piece: &Piece, bytes: ZBytes, limits: &Limits) -> Result<Option<ZBytes>, WireError> {
        let is_heard = self.heard.is_some_and(|heard| heard.elapsed() < SILENCE);
        if piece.epoch < self.epoch && is_heard {
            return Err(WireError::Foreign { found: piece.epoch, current: self.epoch });
        }
        (self.epoch, self.heard) = (piece.epoch, Some(Instant::now()));
        if piece.offset == 0 {
            self.pieces.clear();
            (self.came, self.length) = (0, 0);
            self.length = begin(&bytes, limits)?.payload.saturating_add(HEADER_BYTES as u64);
        }
        // An earlier piece was lost.
        if piece.offset != self.came || self.length == 0 {
            self.length = 0;
            return Ok(None);
        }
        self.came += bytes.len() as u64;
        self.pieces.push(bytes);
        if self.came < self.length {
            return Ok(None);
        }
        let mut message = ZBytes::writer();
        std::mem::take(&mut self.pieces).into_iter().for_each(|piece| message.append(piece));
        self.length = 0;
        Ok(Some(message.finish()))
    }
}
