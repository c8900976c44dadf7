//! A viewer: the newest picture of a scene.

use crate::alive::lock;
use crate::error::{CLOSED, Error, Result};
use crate::key::Keys;
use crate::net::{Net, now};
use crate::pixels::{Pixels, read_header};
use crate::session::Followed;
use crate::status::Entry;
use crate::wire::{Header, Kind, Limits, WireError};
use pixelferry::{ImageDesc, PixelFormat};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use zenoh::Wait;
use zenoh::bytes::ZBytes;
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::{CongestionControl, Priority};

/// Looks at a scene. Of pictures that come faster than they are read, only the newest is kept.
///
/// Threads: any.
pub struct Viewer {
    shared: Arc<Shared>,
    publisher: Publisher<'static>,
    limits: Limits,
    _pictures: Subscriber<()>,
    /// The connection lasts as long as this.
    _net: Net,
}

struct Shared {
    newest: Mutex<Newest>,
    told: Condvar,
    entry: Entry,
    limits: Limits,
}

#[derive(Default)]
struct Newest {
    followed: Followed,
    /// Of the session that is followed.
    frame: u64,
    picture: Option<(Header, ZBytes)>,
}

impl Net {
    /// Views a scene that somebody serves.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a name that is none; [`Error::Zenoh`].
    pub fn view(&self, scene: &str) -> Result<Viewer> {
        const OP: &str = "Net::view";
        let keys = Keys::new(scene)?;
        let limits = self.limits();
        let entry = self.status().enter("viewer", scene);
        let shared = Arc::new(Shared { newest: Mutex::default(), told: Condvar::new(), entry, limits });
        let publisher = self
            .session()
            .declare_publisher(keys.input())
            .congestion_control(CongestionControl::Drop)
            .priority(Priority::InteractiveHigh)
            .express(true)
            .wait()
            .map_err(Error::zenoh(OP, CLOSED))?;
        let taken = shared.clone();
        let picture = move |sample: zenoh::sample::Sample| taken.take(sample.payload());
        let pictures = self.session().declare_subscriber(keys.view()).callback(picture).wait();
        let pictures = pictures.map_err(Error::zenoh(OP, CLOSED))?;
        // The picture of now.
        let taken = shared.clone();
        let reply = move |reply: zenoh::query::Reply| {
            if let Ok(sample) = reply.result() {
                taken.take(sample.payload());
            }
        };
        self.session().get(keys.view()).callback(reply).wait().map_err(Error::zenoh(OP, CLOSED))?;
        Ok(Viewer { shared, publisher, limits, _pictures: pictures, _net: self.clone() })
    }
}

impl Shared {
    fn take(&self, message: &ZBytes) {
        if let Err(refused) = self.read(message) {
            self.entry.refuse(&refused);
        }
    }

    fn read(&self, message: &ZBytes) -> Result<(), WireError> {
        let header = read_header(message, Kind::Picture, &self.limits)?;
        if header.region != header.image.extent.full() {
            return Err(WireError::Rectangle(header.region));
        }
        let mut newest = lock(&self.newest);
        if newest.followed.accept(header.epoch, Instant::now())? {
            newest.frame = 0;
        }
        if header.frame > newest.frame {
            newest.frame = header.frame;
            newest.picture = Some((header, message.clone()));
            self.told.notify_all();
        }
        Ok(())
    }
}

impl Viewer {
    /// The newest picture that no call gave yet; `None` where none came in time, or what came could not be read.
    pub fn next(&self, timeout: Duration) -> Option<Pixels> {
        let until = Instant::now() + timeout;
        let mut newest = lock(&self.shared.newest);
        loop {
            if let Some((header, message)) = newest.picture.take() {
                drop(newest);
                match Pixels::new(header, message) {
                    Ok(pixels) => {
                        self.shared.entry.count();
                        return Some(pixels);
                    }
                    Err(refused) => self.shared.entry.refuse(&refused),
                }
                newest = lock(&self.shared.newest);
                continue;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            newest = self.shared.told.wait_timeout(newest, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Sends bytes to the program that serves the scene: mouse, keys, whatever it understands.
    ///
    /// # Errors
    /// [`Error::Wire`] for more bytes than the limits allow; [`Error::Zenoh`].
    pub fn send(&self, input: &[u8]) -> Result<()> {
        let (bytes, limit) = (input.len() as u64, self.limits.args);
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
