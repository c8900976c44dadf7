//! A worker: tiles of the newest arguments, one after the other.

use crate::alive::follow;
use crate::canvas::Canvas;
use crate::compute;
use crate::error::{CLOSED, Error, Result, keys};
use crate::lock::{lock, until};
use crate::net::{Net, Way};
use crate::pack::Packer;
use crate::status::Entry;
use bytes::Bytes;
use pixelferry::{Arg, ComputeBackend, ImageDesc, Kernel, Region};
use pixelferry_media::wire::{Header, Kind, WireError};
use pixelferry_rules::job::JobMessage;
use pixelferry_rules::packing::Packing;
use pixelferry_rules::turns::{Turn, Turns};
use pixelferry_rules::workers::Workers;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::{Duration, Instant};
use zenoh::bytes::ZBytes;
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::{CongestionControl, Priority};
use zenoh::{Session, Wait};

/// Quality of JPEG tiles.
const QUALITY: u8 = 90;

/// A worker of one scene. Others see it as long as it lives, and give it tiles.
///
/// Threads: any number may take jobs of one worker.
pub struct Tile {
    net: Net,
    shared: Arc<Shared>,
    node: u64,
    packer: Packer,
    publisher: Publisher<'static>,
    /// The newest frame's tiles that lie in lent memory: it is not written again before the display has opened it.
    lent: Mutex<(u64, Vec<Bytes>)>,
    // Undeclared in this order: no more tiles first, then no more news.
    offer: Arc<Offer>,
    _jobs: Subscriber<()>,
    _alive: Subscriber<()>,
}

struct Shared {
    turns: Mutex<Turns>,
    changed: Condvar,
    entry: Arc<Entry>,
}

/// The token by which others see that a worker computes.
struct Offer {
    session: Session,
    key: String,
    token: Mutex<Option<LivelinessToken>>,
}

impl Offer {
    fn declare(&self) -> Result<()> {
        let token = self.session.liveliness().declare_token(self.key.clone()).wait();
        *lock(&self.token) = Some(token.map_err(Error::zenoh("Tile", CLOSED))?);
        Ok(())
    }
}

impl Net {
    /// Offers to compute tiles of a scene: all that lie inside `region`, or anywhere. Which of them this worker gets is by
    /// rendezvous hashing over the workers that live, so that nobody distributes work.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an invalid name; [`Error::Zenoh`].
    pub fn tile(&self, scene: &str, region: Option<Region>) -> Result<Tile> {
        const OP: &str = "Net::tile";
        let keys = keys(scene)?;
        let node = self.number();
        let entry = Arc::new(self.status().enter("worker", scene));
        entry.number(node);
        let turns = Mutex::new(Turns::new(node, region));
        let shared = Arc::new(Shared { turns, changed: Condvar::new(), entry });
        let way = Way { congestion: CongestionControl::Block, priority: Priority::Data, express: true };
        let publisher = self.publisher(OP, keys.tile(node), way)?;
        let (told, limits) = (shared.clone(), self.limits());
        let job = move |message: &ZBytes| {
            let message = JobMessage::read(&message.to_bytes(), &limits);
            let taken = message.and_then(|message| lock(&told.turns).take_job(message, Instant::now()));
            if let Err(refused) = taken {
                told.entry.refuse(&refused);
            }
            told.changed.notify_all();
        };
        let jobs = self.subscribe(OP, keys.job(), job)?;
        let (session, key) = (self.session().clone(), keys.worker(node, region));
        let offer = Arc::new(Offer { session, key, token: Mutex::default() });
        offer.declare()?;
        let told = shared.clone();
        let alive = move |workers: &Workers| {
            lock(&told.turns).set_workers(workers.clone());
            told.changed.notify_all();
        };
        let alive = follow(self.session(), &keys, alive)?;
        let (net, packer) = (self.clone(), Packer::new(self, &shared.entry, (keys.tile(node), way), QUALITY));
        let lent = Mutex::default();
        Ok(Tile { net, shared, node, packer, publisher, lent, offer, _jobs: jobs, _alive: alive })
    }
}

impl Tile {
    /// Packs tiles by a [`crate::Codec`], or by the one that fits the link. By default they go as they are, through shared
    /// memory where there is some.
    #[must_use]
    pub fn with_codec(self, codec: impl Into<Packing>) -> Self {
        Self { packer: self.packer.with(codec.into(), QUALITY), ..self }
    }

    /// Sets the text that `probe` shows of this worker, its device, say.
    pub fn describe(&self, detail: &str) {
        self.shared.entry.describe(detail);
    }

    /// The next tile that is this worker's; `None` where none came in time. Of the newest arguments only: tiles of older
    /// ones that were not begun are forgotten. Those that were shown longest ago come first. A job whose tiles no memory
    /// holds is refused, as it may be a stranger's. Where three in a row were given up, this worker is away for a while, and
    /// longer each time, until it sends a tile.
    ///
    /// # Errors
    /// [`Error::Zenoh`].
    pub fn next(&self, timeout: Duration) -> Result<Option<Job>> {
        let until = until(timeout);
        loop {
            let (mut turns, now) = (lock(&self.shared.turns), Instant::now());
            let mut left = until.saturating_duration_since(now);
            if let Some(rests_until) = turns.rests_until() {
                if now >= rests_until {
                    turns.resume(now);
                    drop(turns);
                    self.shared.entry.trouble(Vec::new());
                    self.offer.declare()?;
                    continue;
                }
                left = left.min(rests_until - now);
            }
            let mut begun = None;
            let has_none = |turns: &mut Turns| {
                begun = turns.begin();
                begun.is_none()
            };
            drop(self.shared.changed.wait_timeout_while(turns, left, has_none));
            let Some(turn) = begun else {
                if Instant::now() < until {
                    continue;
                }
                return Ok(None);
            };
            match self.job(turn) {
                Ok(job) => return Ok(Some(job)),
                Err(refused) => self.shared.entry.refuse(&refused),
            }
        }
    }

    fn job(&self, turn: Turn) -> std::result::Result<Job, WireError> {
        let (shared, offer) = (self.shared.clone(), Arc::downgrade(&self.offer));
        let mut held = Held { turn, may_fail: false, shared, offer };
        let bytes = held.turn.header().pixel_bytes();
        let canvas = usize::try_from(bytes).ok().and_then(|bytes| self.net.pool().canvas(bytes));
        let canvas = canvas.ok_or(WireError::Scene("no memory holds one of its tiles"))?;
        held.may_fail = true;
        Ok(Job { held, canvas, begun: Instant::now() })
    }

    /// Sends a tile to whoever shows the scene.
    ///
    /// # Errors
    /// [`Error::Invalid`] where the codec does not take the format; [`Error::Zenoh`].
    pub fn publish(&self, job: Job) -> Result<()> {
        let Job { mut held, mut canvas, begun } = job;
        let cost = u32::try_from(begun.elapsed().as_micros()).unwrap_or(u32::MAX);
        let header = Header { kind: Kind::Tile, sender: self.node, cost, ..held.turn.header() };
        let (header, packed) = self.packer.pack(&header, canvas.payload_mut())?;
        let (message, ticket) = match packed {
            None => canvas.into_message(&header.to_bytes()),
            Some(packed) => ([header.to_bytes().as_slice(), &packed].concat().into(), None),
        };
        self.packer.mark(&header)?;
        let (ours, displays) = (self.net.place().load(Ordering::Relaxed), held.turn.message().header.sender);
        let ticket = ticket.filter(|_| ours != 0 && ours == displays);
        let put = match ticket {
            Some(ticket) => {
                self.keep(header.frame, message);
                self.publisher.put(header.to_bytes()).attachment(ticket.to_bytes())
            }
            None => self.publisher.put(message),
        };
        put.wait().map_err(Error::zenoh("Tile::publish", CLOSED))?;
        lock(&self.shared.turns).publish(&held.turn, Instant::now());
        held.may_fail = false;
        self.shared.entry.count();
        Ok(())
    }

    /// Keeps a message until the display asks for another frame: by then it has opened this one's, or does not want it.
    fn keep(&self, frame: u64, message: Bytes) {
        let mut lent = lock(&self.lent);
        if lent.0 != frame {
            *lent = (frame, Vec::new());
        }
        lent.1.push(message);
    }

    /// Messages that were none of the protocol, or of other sessions.
    pub fn refused(&self) -> u64 {
        self.shared.entry.refused()
    }

    /// Number of workers of the scene that this one sees, itself among them.
    pub fn workers(&self) -> usize {
        lock(&self.shared.turns).workers()
    }
}

/// A turn that is given back when its job goes, published or not.
struct Held {
    turn: Turn,
    /// False before there is a job, and once its tile is sent.
    may_fail: bool,
    shared: Arc<Shared>,
    offer: Weak<Offer>,
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut turns = lock(&self.shared.turns);
        turns.end(&self.turn);
        let rest = if self.may_fail { turns.give_up(&self.turn, Instant::now()) } else { None };
        // Its end comes back as news, which waits for the lock.
        drop(turns);
        let Some(rest) = rest else { return };
        tracing::warn!("too many tiles in a row were given up; this worker is away for {rest:?}");
        self.shared.entry.trouble(vec![format!("gave up too many tiles in a row, is away for {rest:?}")]);
        if let Some(offer) = self.offer.upgrade() {
            lock(&offer.token).take();
        }
    }
}

/// A tile to compute: its pixels lie in shared memory that the display reads. Dropped without [`Tile::publish`], the tile
/// was given up, and is asked for again.
pub struct Job {
    held: Held,
    canvas: Canvas,
    begun: Instant,
}

impl Job {
    /// Number of the frame.
    pub fn frame(&self) -> u64 {
        self.held.turn.header().frame
    }

    /// The whole picture.
    pub fn image(&self) -> ImageDesc {
        self.held.turn.header().image
    }

    /// The part of it to compute; rows count in the picture's row order.
    pub fn region(&self) -> Region {
        self.held.turn.header().region
    }

    /// The display's bytes: what the picture shall be.
    pub fn args(&self) -> &[u8] {
        &self.held.turn.message().args
    }

    /// True where newer arguments have come since; the tile may be given up.
    pub fn is_stale(&self) -> bool {
        lock(&self.held.shared.turns).is_stale(&self.held.turn)
    }

    /// The region's pixels in tight rows, zero at first.
    pub fn pixels(&mut self) -> &mut [u8] {
        self.canvas.payload_mut()
    }

    /// Writes all of the region's pixels, in tight rows: for pixels that were computed elsewhere, faster than [`Job::pixels`].
    ///
    /// # Errors
    /// [`Error::Invalid`] where the bytes are not as many as the region's pixels take.
    pub fn write(&mut self, pixels: &[u8]) -> Result<()> {
        if self.canvas.write(pixels) {
            return Ok(());
        }
        let (found, needed) = (pixels.len(), self.canvas.len());
        Err(Error::invalid("Job::write", format!("{found} bytes for a tile that takes {needed}")))
    }

    /// True where the pixels lie in memory that other processes read in place.
    pub fn is_shared(&self) -> bool {
        self.canvas.is_shared()
    }

    /// Runs a kernel over the region's pixels and waits for it. The kernel counts pixels from the region's corner; where
    /// that lies is for `args`. It writes the shared memory in place where the backend takes host memory there.
    ///
    /// # Errors
    /// What the backend reported.
    pub fn launch(&mut self, backend: &dyn ComputeBackend, kernel: &dyn Kernel, args: &[Arg<'_>]) -> Result<()> {
        let described = (self.region().extent(), self.image().format);
        compute::launch(&mut self.canvas, backend, described, kernel, args)
    }
}
