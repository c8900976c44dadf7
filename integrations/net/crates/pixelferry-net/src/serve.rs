//! Pictures for viewers, and what viewers send back.

use crate::error::{CLOSED, Error, Result, keys};
use crate::lock::lock;
use crate::net::{Net, Way, now};
use crate::pack::Packer;
use crate::pixels::read_header;
use crate::status::Entry;
use crate::unseen::Unseen;
use pixelferry::ImageDesc;
use pixelferry_media::wire::{HEADER_BYTES, Header, Kind, WireError};
use pixelferry_rules::packing::Packing;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use zenoh::Wait;
use zenoh::bytes::ZBytes;
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::{CongestionControl, Priority};
use zenoh::query::Queryable;

/// Quality of JPEG pictures.
const QUALITY: u8 = 85;
/// Inputs that wait to be read; of more the oldest are forgotten.
const MOST_INPUTS: usize = 1024;

/// Sends a scene's pictures to whoever views it.
///
/// Threads: any. A viewer that does not read loses pictures and delays nobody: what waits for it is bounded.
pub struct Server {
    net: Net,
    epoch: u64,
    packer: Arc<Packer>,
    unseen: Arc<Unseen>,
    publisher: Publisher<'static>,
    last: Arc<Mutex<Option<ZBytes>>>,
    inputs: Arc<Inputs>,
    entry: Arc<Entry>,
    _queryable: Queryable<()>,
    _inputs: Subscriber<()>,
}

/// Inputs that viewers sent, the oldest first.
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
    /// [`Error::Invalid`] for a name that is none; [`Error::Zenoh`].
    pub fn serve(&self, scene: &str) -> Result<Server> {
        const OP: &str = "Net::serve";
        let keys = keys(scene)?;
        let entry = Arc::new(self.status().enter("server", scene));
        let way = Way { congestion: CongestionControl::Drop, priority: Priority::DataLow, express: false };
        let publisher = self.publisher(OP, keys.view(), way)?;
        // A new viewer gets the current picture, even if none comes after it.
        let last = Arc::new(Mutex::new(None::<ZBytes>));
        let unseen = Arc::new(Unseen::default());
        let (told, kept, key) = (last.clone(), unseen.clone(), keys.view());
        let answer = move |query: zenoh::query::Query| {
            let Some(picture) = kept.message().or_else(|| lock(&told).clone()) else { return };
            if let Err(error) = query.reply(&key, picture).wait() {
                tracing::debug!("no picture was sent: {error}");
            }
        };
        let queryable = self.session().declare_queryable(keys.view()).callback(answer).wait();
        let queryable = queryable.map_err(Error::zenoh(OP, CLOSED))?;
        let inputs = Arc::new(Inputs::default());
        let (taken, refusing, limits) = (inputs.clone(), entry.clone(), self.limits());
        let input = move |message: &ZBytes| {
            if let Err(refused) = read_header(message, Kind::Input, &limits) {
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
            last,
            inputs,
            entry,
            _queryable: queryable,
            _inputs: self.subscribe(OP, keys.input(), input)?,
        })
    }
}

impl Server {
    /// Packs pictures by a [`crate::Codec`], or by the one that fits the link of the median viewer; `quality` from 1 to 100 is
    /// JPEG's.
    #[must_use]
    pub fn with_codec(self, codec: impl Into<Packing>, quality: u8) -> Self {
        Self { packer: Arc::new(self.packer.with(codec.into(), quality)), ..self }
    }

    /// Sends a picture: tight rows in its row order. While nobody views, the newest is kept and not packed. `frame` counts up; viewers show no older frame after a newer one.
    /// `asked` is when it was asked for, in microseconds since 1970, or `None` for now.
    ///
    /// # Errors
    /// [`Error::Wire`] for a picture that viewers would refuse; [`Error::Invalid`] where the bytes are not as many as its
    /// pixels take, or the codec does not take its format; [`Error::Zenoh`].
    pub fn publish(&self, image: ImageDesc, frame: u64, asked: Option<u64>, pixels: &[u8]) -> Result<()> {
        let new = Header::new(Kind::Picture, image, image.extent.full());
        let header = Header { epoch: self.epoch, frame, time: asked.unwrap_or_else(now), ..new };
        if pixels.len() as u64 != header.pixel_bytes() {
            return Err(WireError::Length { promised: header.pixel_bytes(), found: pixels.len() as u64 }.into());
        }
        if self.packer.takes(image.format) && !self.is_viewed()? {
            Header::read(&Header { payload: header.pixel_bytes(), ..header }.to_bytes(), &self.net.limits())?;
            self.unseen.keep(&header, pixels, &self.packer);
            *lock(&self.last) = None;
            // Whoever came meanwhile may have asked too early.
            if !self.is_viewed()? {
                self.entry.count();
                return Ok(());
            }
        }
        let (header, packed) = self.packer.pack(&header, pixels)?;
        Header::read(&header.to_bytes(), &self.net.limits())?;
        // A new viewer waits for the new picture. The memory of the one before is free for it.
        let mut last = lock(&self.last);
        *last = None;
        let message: ZBytes = match packed {
            Some(packed) => [header.to_bytes().as_slice(), &packed].concat().into(),
            None => {
                let no_memory = || Error::invalid("Server::publish", "the picture is larger than memory");
                let mut canvas = self.net.pool().canvas(pixels.len()).ok_or_else(no_memory)?;
                canvas.write(pixels);
                canvas.into_message(&header.to_bytes())
            }
        };
        *last = Some(message.clone());
        self.unseen.forget();
        drop(last);
        self.packer.mark(&header)?;
        self.publisher.put(message).wait().map_err(Error::zenoh("Server::publish", CLOSED))?;
        self.entry.count();
        Ok(())
    }

    /// The oldest input that no call gave yet: a program's own bytes, from [`crate::Viewer::send`], or an [`crate::Event`]
    /// of the browser's page.
    pub fn input(&self) -> Option<Vec<u8>> {
        self.next_input(Duration::ZERO)
    }

    /// Like [`Server::input`], but waits for one.
    pub fn next_input(&self, timeout: Duration) -> Option<Vec<u8>> {
        let queue = lock(&self.inputs.queue);
        let waited = self.inputs.told.wait_timeout_while(queue, timeout, |queue| queue.is_empty());
        waited.unwrap_or_else(PoisonError::into_inner).0.pop_front()
    }

    /// Tells whether anybody views the scene.
    ///
    /// # Errors
    /// [`Error::Zenoh`].
    pub fn is_viewed(&self) -> Result<bool> {
        let status = self.publisher.matching_status().wait().map_err(Error::zenoh("Server::is_viewed", CLOSED))?;
        Ok(status.matching())
    }
}
