//! A worker: computes tiles of the newest arguments, one after the other.

use crate::alive::follow;
use crate::canvas::Canvas;
use crate::compute;
use crate::error::{CLOSED, Error, Result, keys};
use crate::lock::{lock, until};
use crate::net::{DeliveryOptions, Net};
use crate::pack::Packer;
use crate::status::Entry;
use bytes::Bytes;
use pixelferry::{Arg, ComputeBackend, ImageDesc, Kernel, Region};
use pixelferry_media::wire::{Header, MessageKind, WireError};
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

/// A worker of one scene. Others give it tiles for as long as it lives.
///
/// Threads: any number may take jobs of one worker.
pub struct Tile {
    net: Net,
    shared: Arc<WorkerState>,
    node: u64,
    packer: Packer,
    publisher: Publisher<'static>,
    /// The newest frame's tiles in lent memory, which is not overwritten before the display has opened it.
    lent: Mutex<(u64, Vec<Bytes>)>,
    // Undeclared in this order: first no more tiles, then no more news.
    offer: Arc<Offer>,
    _jobs: Subscriber<()>,
    _alive: Subscriber<()>,
}

struct WorkerState {
    turns: Mutex<Turns>,
    changed: Condvar,
    entry: Arc<Entry>,
}

/// The token that announces the worker.
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
    /// Offers to compute tiles of a scene: those inside `region`, or all. Rendezvous hashing over the live workers
    /// determines which of them this worker gets, so there is no coordinator.
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
        let shared = Arc::new(WorkerState { turns, changed: Condvar::new(), entry });
        let way = DeliveryOptions { congestion: CongestionControl::Block, priority: Priority::Data, express: true };
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
    /// Encodes tiles with a [`crate::Codec`], or with the one that suits the connection. By default they are not
    /// encoded, and use shared memory if possible.
    #[must_use]
    pub fn with_codec(self, codec: impl Into<Packing>) -> Self {
        Self { packer: self.packer.with(codec.into(), QUALITY), ..self }
    }

    /// Sets the text that `probe` shows for this worker, for example its device.
    pub fn describe(&self, detail: &str) {
        self.shared.entry.describe(detail);
    }

    /// Returns the next tile for this worker; `None` if none comes in time. Tiles always belong to the newest
    /// arguments: unstarted tiles of older ones are dropped. Tiles that were shown longest ago come first. A job whose
    /// tiles exceed the memory is refused, because it may be a stranger's. After three given-up tiles in a row, this
    /// worker pauses, longer each time, until it sends a tile.
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
        let mut held = HeldTurn { turn, may_fail: false, shared, offer };
        let bytes = held.turn.header().pixel_bytes();
        let canvas = usize::try_from(bytes).ok().and_then(|bytes| self.net.pool().canvas(bytes));
        let canvas = canvas.ok_or(WireError::Scene("there is no memory for one of its tiles"))?;
        held.may_fail = true;
        Ok(Job { held, canvas, begun: Instant::now() })
    }

    /// Sends a tile to the scene's display.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the codec does not support the format; [`Error::Zenoh`].
    pub fn publish(&self, job: Job) -> Result<()> {
        let Job { mut held, mut canvas, begun } = job;
        let cost = u32::try_from(begun.elapsed().as_micros()).unwrap_or(u32::MAX);
        let header = Header { kind: MessageKind::Tile, sender: self.node, cost, ..held.turn.header() };
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

    /// Keeps a message until the display requests another frame: by then it has opened this frame's, or does not need
    /// it.
    fn keep(&self, frame: u64, message: Bytes) {
        let mut lent = lock(&self.lent);
        if lent.0 != frame {
            *lent = (frame, Vec::new());
        }
        lent.1.push(message);
    }

    /// Number of refused messages: invalid ones, or those of other sessions.
    pub fn refused(&self) -> u64 {
        self.shared.entry.refused()
    }

    /// Number of workers of the scene that this one sees, including itself.
    pub fn workers(&self) -> usize {
        lock(&self.shared.turns).workers()
    }
}

/// A turn that is returned when its job is dropped, published or not.
struct HeldTurn {
    turn: Turn,
    /// False before there is a job, and after its tile was sent.
    may_fail: bool,
    shared: Arc<WorkerState>,
    offer: Weak<Offer>,
}

impl Drop for HeldTurn {
    fn drop(&mut self) {
        let mut turns = lock(&self.shared.turns);
        turns.end(&self.turn);
        let rest = if self.may_fail { turns.give_up(&self.turn, Instant::now()) } else { None };
        // Release the lock first: ending the offer causes news, which waits for it.
        drop(turns);
        let Some(rest) = rest else { return };
        tracing::warn!("too many tiles in a row were given up; this worker pauses for {rest:?}");
        self.shared.entry.trouble(vec![format!("gave up too many tiles in a row, pauses for {rest:?}")]);
        if let Some(offer) = self.offer.upgrade() {
            lock(&offer.token).take();
        }
    }
}

/// A tile to compute: its pixels are in shared memory that the display reads. If it is dropped without
/// [`Tile::publish`], the tile is given up and requested again.
pub struct Job {
    held: HeldTurn,
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

    /// The region to compute; rows count in the picture's row order.
    pub fn region(&self) -> Region {
        self.held.turn.header().region
    }

    /// The display's bytes, which describe the picture.
    pub fn args(&self) -> &[u8] {
        &self.held.turn.message().args
    }

    /// Returns whether newer arguments have arrived, so that the tile may be given up.
    pub fn is_stale(&self) -> bool {
        lock(&self.held.shared.turns).is_stale(&self.held.turn)
    }

    /// The region's pixels in tight rows, initially zero.
    pub fn pixels(&mut self) -> &mut [u8] {
        self.canvas.payload_mut()
    }

    /// Writes all of the region's pixels, in tight rows: for pixels that were computed elsewhere, faster than
    /// [`Job::pixels`].
    ///
    /// # Errors
    /// [`Error::Invalid`] if the number of bytes does not match.
    pub fn write(&mut self, pixels: &[u8]) -> Result<()> {
        if self.canvas.write(pixels) {
            return Ok(());
        }
        let (found, needed) = (pixels.len(), self.canvas.len());
        Err(Error::invalid("Job::write", format!("{found} bytes for a tile that needs {needed}")))
    }

    /// Returns whether the pixels are in memory that other processes read in place.
    pub fn is_shared(&self) -> bool {
        self.canvas.is_shared()
    }

    /// Runs a kernel over the region's pixels and waits for it. The kernel counts pixels from the region's corner; pass
    /// its position in `args`. The kernel writes the shared memory in place if the backend accepts host memory.
    ///
    /// # Errors
    /// Errors of the backend.
    pub fn launch(&mut self, backend: &dyn ComputeBackend, kernel: &dyn Kernel, args: &[Arg<'_>]) -> Result<()> {
        let described = (self.region().extent(), self.image().format);
        compute::launch(&mut self.canvas, backend, described, kernel, args)
    }
}
