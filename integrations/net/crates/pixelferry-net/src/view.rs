//! A viewer: the newest picture of a scene.

use crate::deliver::{self, AHEAD};
use crate::error::{CLOSED, Error, Result, keys};
use crate::lend::Known;
use crate::lock::{lock, until};
use crate::net::{Net, Way, now};
use crate::pixels::{Arrived, Pixels, Told, copy, read_mark};
use crate::status::Entry;
use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_media::wire::{Codec, Header, Kind, Limits, WireError};
use pixelferry_rules::key;
use pixelferry_rules::link::Meter;
use pixelferry_rules::session::{Followed, News};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use zenoh::Wait;
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::{CongestionControl, Priority};
use zenoh::query::ConsolidationMode;
use zenoh::sample::Sample;

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
    _wishes: Wishes,
    _near: Subscriber<()>,
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
    place: Arc<AtomicU64>,
    /// Memory that servers lent.
    known: Known,
}

#[derive(Default)]
struct Newest {
    followed: Followed,
    /// Lent memory is locked when the picture is read: whoever reads none keeps none.
    picture: Option<Told>,
    /// Session and frame that was read last, which may be newer than what was told of.
    read: (u64, u64),
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
        let shared = Arc::new(Shared {
            newest,
            meter,
            told: Condvar::new(),
            entry,
            limits,
            place: self.place().clone(),
            known: Known::default(),
        });
        let publisher = self.publisher(OP, keys.input(), Way::WORDS)?;
        let reports = self.publisher(OP, key::report(&keys.view()), Way::WORDS)?;
        let taken = shared.clone();
        let marks = self.subscribe_all(OP, key::mark(&keys.view()), move |sample| taken.mark(&sample))?;
        let taken = shared.clone();
        let pictures = self.subscribe_all(OP, keys.view(), move |sample| taken.take(&sample))?;
        let taken = shared.clone();
        let place = key::near(&keys.view(), self.place().load(Ordering::Relaxed));
        let near = self.subscribe_all(OP, place, move |sample| taken.hear(&sample))?;
        let (number, net, key) = (self.number(), self.clone(), keys.view());
        let wishes = Wishes::start(shared.clone(), (key.clone(), number), self.clone())?;
        Ok(Viewer {
            shared,
            key,
            publisher,
            reports,
            number,
            _wishes: wishes,
            _near: near,
            _pictures: pictures,
            _marks: marks,
            net,
        })
    }
}

impl Shared {
    /// Takes a picture that was asked for or lent, or the mark ahead of it, which the server sends where it measures.
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
        let told = Told::read(sample, Kind::Picture, &self.limits)?;
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
    /// The newest picture that no call gave yet; `None` where none came in time, or what came could not be read.
    pub fn next(&self, timeout: Duration) -> Option<Pixels> {
        self.take(timeout, Pixels::new)
    }

    /// Gives the picture of [`Viewer::next`] as a message, header and payload: for programs that pass it on. What is packed by
    /// none of `codecs` comes unpacked.
    pub fn next_message(&self, codecs: &[Codec], timeout: Duration) -> Option<Vec<u8>> {
        self.take(timeout, |arrived| copy(&arrived.header, &arrived.message, codecs))
    }

    fn take<T>(&self, timeout: Duration, read: impl Fn(Arrived) -> Result<T, WireError>) -> Option<T> {
        let until = until(timeout);
        self.report();
        loop {
            let (newest, left) = (lock(&self.shared.newest), until.saturating_duration_since(Instant::now()));
            let waited = self.shared.told.wait_timeout_while(newest, left, |newest| newest.picture.is_none());
            let mut newest = waited.unwrap_or_else(PoisonError::into_inner).0;
            let told = newest.picture.take()?;
            let fetched = told
                .fetch(&self.shared.limits, &self.shared.place, |ticket, bytes| self.shared.known.fetch(ticket, bytes));
            // The memory is written anew, by a picture that is told of next.
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
                taken.take(sample);
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

/// A wish that ended sooner, with nothing, was heard by nobody.
const SOON: Duration = Duration::from_millis(250);
/// Longest time that a large picture may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// The thread that asks for large pictures: the next whenever one came.
struct Wishes(Sender<Option<Wish>>);

/// One wish. Its end makes the next.
struct Wish {
    ends: Sender<Option<Wish>>,
    begun: Instant,
    is_heard: bool,
}

/// Tells the thread when Zenoh lets go of the wish.
struct Ending(Option<Wish>);

impl Drop for Ending {
    fn drop(&mut self) {
        if let Some(wish) = self.0.take() {
            let ends = wish.ends.clone();
            // A viewer that is gone has no wish.
            let _ = ends.send(Some(wish));
        }
    }
}

impl Wishes {
    fn start(shared: Arc<Shared>, (key, number): (String, u64), net: Net) -> Result<Self> {
        let (ends, ended) = channel();
        for _ in 0..AHEAD {
            let wish = Wish { ends: ends.clone(), begun: Instant::now(), is_heard: true };
            let _ = ends.send(Some(wish));
        }
        let thread = std::thread::Builder::new().name("pixelferry-wish".into());
        let thread = thread.spawn(move || shared.wish((&key, number), &net, &ended));
        thread.map_err(|error| Error::invalid("Net::view", format!("the system gives no thread: {error}")))?;
        Ok(Self(ends))
    }
}

impl Drop for Wishes {
    fn drop(&mut self) {
        let _ = self.0.send(None);
    }
}

impl Shared {
    fn wish(self: &Arc<Self>, (key, number): (&str, u64), net: &Net, ended: &Receiver<Option<Wish>>) {
        while let Ok(Some(mut wish)) = ended.recv() {
            if !wish.is_heard {
                std::thread::sleep(SOON.saturating_sub(wish.begun.elapsed()));
            }
            (wish.begun, wish.is_heard) = (Instant::now(), false);
            let (taken, mut ending) = (self.clone(), Ending(Some(wish)));
            let reply = move |reply: zenoh::query::Reply| {
                let Ok(sample) = reply.result() else { return };
                if let Some(wish) = &mut ending.0 {
                    wish.is_heard = true;
                }
                taken.hear(sample);
            };
            self.known.sweep();
            let wish = deliver::Wish { viewer: number, place: self.place.load(Ordering::Relaxed) }.to_bytes();
            let asked = net.session().get(key).payload(wish).callback_mut(reply);
            let asked = asked.congestion_control(CongestionControl::Block).priority(Priority::Background);
            let asked = asked.consolidation(ConsolidationMode::None).timeout(PATIENCE);
            if let Err(error) = asked.wait() {
                tracing::debug!("no picture was asked for: {error}");
            }
        }
    }
}
