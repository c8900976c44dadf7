//! A viewer: the newest picture of a scene.

use crate::error::{CLOSED, Error, Result, keys};
use crate::lock::{lock, until};
use crate::net::{Net, Way, now};
use crate::pixels::{Pixels, copy, read_header};
use crate::status::Entry;
use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_media::wire::{Codec, Header, Kind, Limits, WireError};
use pixelferry_rules::key;
use pixelferry_rules::link::Meter;
use pixelferry_rules::session::{Followed, News};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use zenoh::Wait;
use zenoh::bytes::ZBytes;
use zenoh::pubsub::{Publisher, Subscriber};

/// Looks at a scene. Of pictures that come faster than they are read, only the newest is kept.
///
/// Threads: any.
pub struct Viewer {
    shared: Arc<Shared>,
    key: String,
    publisher: Publisher<'static>,
    reports: Publisher<'static>,
    /// By which the server knows this viewer's reports.
    number: u64,
    _pictures: Subscriber<()>,
    _marks: Subscriber<()>,
    net: Net,
}

struct Shared {
    newest: Mutex<Newest>,
    meter: Mutex<Meter>,
    told: Condvar,
    entry: Entry,
    limits: Limits,
}

#[derive(Default)]
struct Newest {
    followed: Followed,
    picture: Option<(Header, ZBytes)>,
}

impl Net {
    /// Views a scene that somebody serves.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a name that is none; [`Error::Zenoh`].
    pub fn view(&self, scene: &str) -> Result<Viewer> {
        const OP: &str = "Net::view";
        let keys = keys(scene)?;
        let limits = self.limits();
        let entry = self.status().enter("viewer", scene);
        let (newest, meter) = Default::default();
        let shared = Arc::new(Shared { newest, meter, told: Condvar::new(), entry, limits });
        let publisher = self.publisher(OP, keys.input(), Way::WORDS)?;
        let reports = self.publisher(OP, key::report(&keys.view()), Way::WORDS)?;
        let taken = shared.clone();
        let marks = self.subscribe(OP, key::mark(&keys.view()), move |message| taken.mark(message))?;
        let taken = shared.clone();
        let pictures = self.subscribe(OP, keys.view(), move |message| taken.take(message))?;
        let (number, net, key) = (self.number(), self.clone(), keys.view());
        let viewer = Viewer { shared, key, publisher, reports, number, _pictures: pictures, _marks: marks, net };
        viewer.ask()?;
        Ok(viewer)
    }
}

impl Shared {
    fn take(&self, message: &ZBytes) {
        if let Err(refused) = self.read(message) {
            self.entry.refuse(&refused);
        }
    }

    fn mark(&self, message: &ZBytes) {
        match read_header(message, Kind::Mark, &self.limits) {
            Ok(header) => lock(&self.meter).mark(&header, message.as_shm().is_some(), Instant::now()),
            Err(refused) => self.entry.refuse(&refused),
        }
    }

    fn read(&self, message: &ZBytes) -> Result<(), WireError> {
        let header = read_header(message, Kind::Picture, &self.limits)?;
        if header.region != header.image.extent.full() {
            return Err(WireError::Rectangle(header.region));
        }
        lock(&self.meter).came(&header, Instant::now());
        let mut newest = lock(&self.newest);
        if matches!(newest.followed.accept(header.epoch, header.frame, Instant::now())?, News::Session | News::Newer) {
            newest.picture = Some((header, message.clone()));
            self.told.notify_all();
        }
        Ok(())
    }
}

impl Viewer {
    /// The newest picture that no call gave yet; `None` where none came in time, or what came could not be read.
    pub fn next(&self, timeout: Duration) -> Option<Pixels> {
        self.take(timeout, Pixels::new)
    }

    /// Gives the picture of [`Viewer::next`] as a message, header and payload: for programs that pass it on. What is packed by
    /// none of `codecs` comes unpacked.
    pub fn next_message(&self, codecs: &[Codec], timeout: Duration) -> Option<Vec<u8>> {
        self.take(timeout, |header, message| copy(&header, &message, codecs))
    }

    fn take<T>(&self, timeout: Duration, read: impl Fn(Header, ZBytes) -> Result<T, WireError>) -> Option<T> {
        let until = until(timeout);
        self.report();
        loop {
            let (newest, left) = (lock(&self.shared.newest), until.saturating_duration_since(Instant::now()));
            let waited = self.shared.told.wait_timeout_while(newest, left, |newest| newest.picture.is_none());
            let (header, message) = waited.unwrap_or_else(PoisonError::into_inner).0.picture.take()?;
            match read(header, message) {
                Ok(picture) => {
                    self.shared.entry.count();
                    return Some(picture);
                }
                Err(refused) => self.shared.entry.refuse(&refused),
            }
        }
    }

    /// Tells the server what is known of the link, where that is due.
    fn report(&self) {
        let due = lock(&self.shared.meter).due(self.number, Instant::now());
        for (_server, report) in due {
            if let Err(error) = self.reports.put(report.to_bytes()).wait() {
                tracing::debug!("no report was sent: {error}");
            }
        }
    }

    /// Asks for the picture of now, where none comes by itself. It comes by [`Viewer::next`] unless a newer one was there.
    ///
    /// # Errors
    /// [`Error::Zenoh`].
    pub fn ask(&self) -> Result<()> {
        let taken = self.shared.clone();
        let reply = move |reply: zenoh::query::Reply| {
            if let Ok(sample) = reply.result() {
                taken.take(sample.payload());
            }
        };
        let asked = self.net.session().get(self.key.as_str()).callback(reply).wait();
        asked.map_err(Error::zenoh("Viewer::ask", CLOSED))
    }

    /// Tells whether anybody serves the scene.
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
        let header = Header { time: now(), payload: bytes, ..Header::new(Kind::Input, image, image.extent.full()) };
        let message = [header.to_bytes().as_slice(), input].concat();
        self.publisher.put(message).wait().map_err(Error::zenoh("Viewer::send", CLOSED))
    }

    /// Messages that were none of the protocol, or of other sessions.
    pub fn refused(&self) -> u64 {
        self.shared.entry.refused()
    }
}
