//! The display's side: requests frames, and assembles the tiles that workers send.

use crate::alive::follow;
use crate::error::{CLOSED, Error, Result, keys};
use crate::lend::KnownSheets;
use crate::lock::{lock, until};
use crate::net::{DeliveryOptions, Net, now};
use crate::pixels::{PixelNotice, Pixels, read_mark, write_all};
use crate::status::Entry;
use pixelferry::{Extent, ImageDesc, LinkCore, Region, WriteFrame};
use pixelferry_media::wire::{Header, Limits, MessageKind, WireError};
use pixelferry_rules::board::{Board, Mode};
use pixelferry_rules::grid::Grid;
use pixelferry_rules::hash::Weights;
use pixelferry_rules::job::JobMessage;
use pixelferry_rules::key::{self, Keys};
use pixelferry_rules::link::Meter;
use pixelferry_rules::shares::Shares;
use pixelferry_rules::speeds::Speeds;
use pixelferry_rules::tile_debts::{TileDebt, TileDebts};
use pixelferry_rules::workers::Workers;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use zenoh::Wait;
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::{CongestionControl, Priority};
use zenoh::sample::Sample;

/// Interval of repeated requests for missing tiles; a change among the workers causes a request at once.
const ASK_AGAIN: Duration = Duration::from_millis(250);

/// A picture that workers compute together.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Scene {
    /// Name of the scene: letters, digits, `-` and `_`.
    pub name: String,
    /// The picture. Size, format, encoding, row order and alpha are sent to the workers.
    pub image: ImageDesc,
    /// Size of a tile.
    pub tile: Extent,
    /// When tiles are shown.
    pub mode: Mode,
    /// Whether faster workers get more tiles, according to the duration of their tiles.
    pub balance: bool,
}

impl Scene {
    /// A scene with tiles of 256x256 pixels, shown in whole frames, with equal shares.
    pub fn new(name: &str, image: ImageDesc) -> Self {
        Self { name: name.into(), image, tile: Extent::new(256, 256), mode: Mode::Whole, balance: false }
    }

    /// Sets the size of a tile.
    #[must_use]
    pub fn with_tile(self, width: u32, height: u32) -> Self {
        Self { tile: Extent::new(width, height), ..self }
    }

    /// Sets when tiles are shown.
    #[must_use]
    pub fn with_mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Sets whether faster workers get more tiles.
    #[must_use]
    pub fn with_balance(self, balance: bool) -> Self {
        Self { balance, ..self }
    }
}

/// Result of a wait.
#[derive(Debug)]
#[non_exhaustive]
pub enum Update {
    /// Nothing arrived in time.
    Nothing,
    /// Tiles to show.
    Tiles(Tiles),
    /// The deadline of a frame has passed. The shown picture stays, and the missing tiles are still requested.
    Late(Late),
}

/// Tiles to show: a whole frame, or those that arrived since the last call.
#[derive(Debug)]
pub struct Tiles {
    frame: u64,
    is_whole: bool,
    tiles: Vec<Pixels>,
}

/// A frame that is incomplete at its deadline.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Late {
    /// Number of the frame.
    pub frame: u64,
    /// Missing tiles.
    pub missing: Vec<Region>,
    /// Number of live workers.
    pub workers: usize,
    /// Workers that owe tiles, or that are passed over because they owed some.
    pub owing: Vec<TileDebt>,
}

impl Tiles {
    /// Number of the frame; for progressive tiles the newest requested one.
    pub fn frame(&self) -> u64 {
        self.frame
    }

    /// Returns whether these are all tiles of one frame.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The tiles, each with its frame's number in its header.
    pub fn tiles(&self) -> &[Pixels] {
        &self.tiles
    }

    /// Writes a whole frame's tiles into a frame of the whole picture, with one copy.
    ///
    /// # Errors
    /// [`Error::Gone`] if a tile's memory was reclaimed: cancel the frame then. [`Error::Invalid`] if these are not all
    /// tiles, or the frame is of another picture.
    pub fn write(&self, frame: &mut WriteFrame<'_>) -> Result<()> {
        if !self.is_whole {
            return Err(Error::invalid(
                "Tiles::write",
                "these are not all tiles; write each into a frame of its region",
            ));
        }
        write_all(&self.tiles, frame)
    }
}

struct SceneState {
    board: Board<Pixels>,
    workers: Workers,
    /// Workers came or left since the last job.
    changed: bool,
    speeds: Speeds,
    owing: TileDebts,
    shares: Shares,
    /// Weights that were sent to the workers.
    weights: Weights,
    meter: Meter,
}

struct SceneMonitor {
    state: Mutex<SceneState>,
    told: Condvar,
    entry: Entry,
}

/// The frame that is being computed.
struct CurrentFrame {
    message: JobMessage,
    deadline: Instant,
    again: Instant,
}

/// A scene's display: requests frames and receives their tiles.
///
/// Threads: any, one at a time.
pub struct Assembly {
    scene: Scene,
    deadline: Duration,
    grid: Grid,
    epoch: u64,
    frames: u64,
    asked: Option<CurrentFrame>,
    /// The most recently taken frame.
    taken: Option<JobMessage>,
    /// Arguments that arrived while a whole frame was being computed; only the newest count.
    next: Option<(u64, Vec<u8>)>,
    shared: Arc<SceneMonitor>,
    limits: Limits,
    publisher: Publisher<'static>,
    keys: Keys,
    /// Identifies this display's reports to the workers.
    number: u64,
    net: Net,
    known: Arc<KnownSheets>,
    _tiles: Subscriber<()>,
    _marks: Subscriber<()>,
    _alive: Subscriber<()>,
}

impl Net {
    /// Shows a scene: requests frames from the workers and assembles their tiles. `deadline` is how long a frame may
    /// take before [`Update::Late`] names its missing tiles. A scene has one display; a later one takes over.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an invalid name or size; [`Error::Zenoh`].
    pub fn assemble(&self, scene: Scene, deadline: Duration) -> Result<Assembly> {
        const OP: &str = "Net::assemble";
        let keys = keys(&scene.name)?;
        let grid = Grid::new(scene.image.extent, scene.tile).map_err(|problem| Error::invalid(OP, problem))?;
        let (limits, epoch) = (self.limits(), now());
        // Refuse here a job that workers would refuse.
        let header = Header::new(MessageKind::Job, scene.image, scene.image.extent.full());
        JobMessage::new(header, grid, Vec::new()).check(&limits)?;
        let board = Board::new(scene.mode, grid.len());
        let (workers, speeds, owing, meter) = Default::default();
        let (shares, weights) = Default::default();
        let state = SceneState { board, workers, changed: false, speeds, owing, shares, weights, meter };
        let entry = self.status().enter("display", &scene.name);
        let shared = Arc::new(SceneMonitor { state: Mutex::new(state), told: Condvar::new(), entry });
        let publisher = self.publisher(
            OP,
            keys.job(),
            DeliveryOptions { congestion: CongestionControl::Block, ..DeliveryOptions::WORDS },
        )?;
        let (place, known) = (self.place().clone(), Arc::<KnownSheets>::default());
        let receiver =
            Receiver { shared: shared.clone(), image: scene.image, grid, epoch, limits, place, known: known.clone() };
        let tiles = self.subscribe_all(OP, keys.tiles(), move |sample| receiver.take(&sample))?;
        let (told, place) = (shared.clone(), self.place().clone());
        let marks = move |sample| told.mark(&sample, &limits, &place);
        let marks = self.subscribe_all(OP, key::mark(&keys.tiles()), marks)?;
        let told = shared.clone();
        let alive = move |workers: &Workers| {
            let mut state = lock(&told.state);
            state.workers = workers.clone();
            state.changed = true;
            told.told.notify_all();
        };
        let alive = follow(self.session(), &keys, alive)?;
        Ok(Assembly {
            scene,
            deadline,
            grid,
            epoch,
            frames: 0,
            asked: None,
            taken: None,
            next: None,
            shared,
            limits,
            publisher,
            keys,
            number: self.number(),
            net: self.clone(),
            known,
            _tiles: tiles,
            _marks: marks,
            _alive: alive,
        })
    }
}

impl SceneState {
    /// Determines which workers owe tiles of a job, according to the weights sent to them, and reassigns these tiles
    /// with new weights.
    fn weigh(&mut self, job: &mut JobMessage, scene: &Scene, deadline: Duration, now: Instant) {
        let missing = self.board.missing();
        // Twice, because workers that take over owe tiles from now on.
        for _ in 0..2 {
            job.weights = self.weights.clone();
            let owners = self.shares.of(&self.workers, job);
            let owners: BTreeSet<u64> = missing.iter().filter_map(|&tile| *owners.get(tile as usize)?).collect();
            self.owing.look(&owners, self.workers.nodes(), deadline, now);
            let weights = if scene.balance { self.speeds.weights() } else { Weights::default() };
            self.weights = weights.passing_over(self.owing.passed_over(now));
            if self.weights == job.weights {
                return;
            }
        }
        job.weights = self.weights.clone();
    }

    fn owed(&self) -> Vec<TileDebt> {
        self.owing.owed(Instant::now()).filter(|owed| self.workers.has(owed.node)).collect()
    }
}

impl SceneMonitor {
    fn mark(&self, sample: &Sample, limits: &Limits, place: &AtomicU64) {
        match read_mark(sample, limits, place) {
            Ok((header, is_near)) => lock(&self.state).meter.mark(&header, is_near, Instant::now()),
            Err(refused) => self.entry.refuse(&refused),
        }
    }
}

/// Receiver of tiles from the network.
struct Receiver {
    shared: Arc<SceneMonitor>,
    image: ImageDesc,
    grid: Grid,
    epoch: u64,
    limits: Limits,
    place: Arc<AtomicU64>,
    /// Memory lent by workers.
    known: Arc<KnownSheets>,
}

impl Receiver {
    fn take(&self, sample: &Sample) {
        match self.read(sample) {
            Ok(true) => self.shared.told.notify_all(),
            Ok(false) => {}
            Err(refused) => self.shared.entry.refuse(&refused),
        }
    }

    fn read(&self, sample: &Sample) -> Result<bool, WireError> {
        let told = PixelNotice::read(sample, MessageKind::Tile, &self.limits)?;
        let Some(arrived) = told.fetch(&self.limits, &self.place, |ticket, bytes| self.known.fetch(ticket, bytes))
        else {
            return Ok(false);
        };
        let header = arrived.header;
        if header.epoch != self.epoch {
            return Err(WireError::Foreign { found: header.epoch, current: self.epoch });
        }
        // Properties that are not transmitted are taken from the local image.
        let image = header.image.with_access(self.image.access).with_unwritten(self.image.unwritten);
        if image != self.image {
            return Err(WireError::Scene("the tile belongs to another picture"));
        }
        let index =
            self.grid.index(header.region).ok_or(WireError::Scene("the tile is not one of the picture's tiles"))?;
        let mut state = lock(&self.shared.state);
        let now = Instant::now();
        state.meter.came(&header, now);
        if state.workers.has(header.sender) {
            state.owing.sent(header.sender, now);
        }
        if !state.board.wants(index, header.frame) {
            return Ok(false);
        }
        drop(state);
        // Unpack outside of the lock, because it takes time.
        let pixels = Pixels::new(arrived)?;
        let mut state = lock(&self.shared.state);
        state.speeds.note(header.sender, header.cost, header.region.extent().pixels());
        let left_over = state.board.offer(index, header.frame, pixels);
        drop(state);
        let is_taken = left_over.is_none();
        if is_taken {
            self.shared.entry.count();
        }
        Ok(is_taken)
    }
}

impl Assembly {
    /// Requests a frame; every worker gets `args`, the program's own bytes. In whole mode the request waits for the
    /// frame that is being computed, and the newest waiting request wins. Returns the frame's number.
    ///
    /// # Errors
    /// [`Error::Wire`] for more bytes than the limits allow; [`Error::Zenoh`].
    pub fn request(&mut self, args: &[u8]) -> Result<u64> {
        let (bytes, limit) = (args.len() as u64, self.limits.args / 2);
        if bytes > limit {
            return Err(WireError::TooLarge { bytes, limit }.into());
        }
        self.frames += 1;
        if self.scene.mode == Mode::Whole && self.asked.is_some() {
            self.next = Some((self.frames, args.to_vec()));
        } else {
            self.begin(self.frames, args.to_vec())?;
        }
        Ok(self.frames)
    }

    fn begin(&mut self, frame: u64, args: Vec<u8>) -> Result<()> {
        let image = self.scene.image;
        // Workers in the same place lend their tiles.
        let sender = self.net.place().load(Ordering::Relaxed);
        let new = Header::new(MessageKind::Job, image, image.extent.full());
        let header = Header { epoch: self.epoch, frame, time: now(), sender, ..new };
        let message = JobMessage::new(header, self.grid, args);
        let mut state = lock(&self.shared.state);
        state.board.request(frame);
        state.owing.begin();
        drop(state);
        self.ask_for(message)
    }

    fn ask_for(&mut self, message: JobMessage) -> Result<()> {
        self.asked = Some(CurrentFrame { message, deadline: until(self.deadline), again: Instant::now() });
        self.ask(Vec::new())
    }

    /// Sends the job of the frame that is being computed.
    fn ask(&mut self, wanted: Vec<u32>) -> Result<()> {
        let Some(asked) = &mut self.asked else { return Ok(()) };
        let now = Instant::now();
        let mut state = lock(&self.shared.state);
        state.changed = false;
        asked.message.wanted = wanted;
        state.weigh(&mut asked.message, &self.scene, self.deadline, now);
        let owed = state.owed();
        drop(state);
        self.shared.entry.trouble(owed.iter().filter(|owed| owed.is_passed_over).map(ToString::to_string).collect());
        asked.again = now + ASK_AGAIN;
        let sent = self.publisher.put(asked.message.to_bytes()).wait();
        sent.map_err(Error::zenoh("Assembly", CLOSED))
    }

    /// Waits for tiles to show. Call it in a loop: it also repeats requests for missing tiles.
    ///
    /// # Errors
    /// [`Error::Zenoh`].
    pub fn update(&mut self, timeout: Duration) -> Result<Update> {
        self.known.sweep();
        let until = until(timeout);
        loop {
            self.report()?;
            if let Some(tiles) = self.take()? {
                return Ok(Update::Tiles(tiles));
            }
            let now = Instant::now();
            if let Some(late) = self.late(now)? {
                return Ok(Update::Late(late));
            }
            let again = self.asked.as_ref().map(|asked| (asked.again, asked.deadline));
            let mut state = lock(&self.shared.state);
            if state.board.is_ready() {
                continue;
            }
            if again.is_some_and(|(again, _)| state.changed || now >= again) {
                let missing = state.board.missing();
                drop(state);
                self.ask(missing)?;
                continue;
            }
            if now >= until {
                return Ok(Update::Nothing);
            }
            let wake = again.map_or(until, |(again, deadline)| until.min(again).min(deadline));
            state = self.shared.told.wait_timeout(state, wake - now).unwrap_or_else(PoisonError::into_inner).0;
            drop(state);
        }
    }

    /// Sends due reports about connections to their workers.
    fn report(&self) -> Result<()> {
        let due = lock(&self.shared.state).meter.due(self.number, Instant::now());
        due.iter().try_for_each(|(worker, report)| {
            let put = self.net.session().put(key::report(&self.keys.tile(*worker)), report.to_bytes());
            let put = put.congestion_control(CongestionControl::Drop).priority(Priority::InteractiveHigh);
            put.express(true).wait().map_err(Error::zenoh("Assembly", CLOSED))
        })
    }

    fn take(&mut self) -> Result<Option<Tiles>> {
        let mut state = lock(&self.shared.state);
        let is_complete = state.board.is_complete();
        let tiles = state.board.take();
        if is_complete {
            state.owing.clear();
        }
        drop(state);
        let Some(asked) = self.asked.as_ref().filter(|_| !tiles.is_empty()) else { return Ok(None) };
        let frame = asked.message.header.frame;
        let is_whole = self.scene.mode == Mode::Whole;
        if is_complete {
            self.taken = self.asked.take().map(|asked| asked.message);
            self.begin_next()?;
        }
        Ok(Some(Tiles { frame, is_whole, tiles }))
    }

    fn begin_next(&mut self) -> Result<()> {
        match self.next.take() {
            Some((frame, args)) => self.begin(frame, args),
            None => Ok(()),
        }
    }

    fn late(&mut self, now: Instant) -> Result<Option<Late>> {
        let Some(asked) = self.asked.as_mut().filter(|asked| now >= asked.deadline) else { return Ok(None) };
        let frame = asked.message.header.frame;
        asked.deadline = until(self.deadline);
        let state = lock(&self.shared.state);
        let missing = state.board.missing().into_iter().filter_map(|index| self.grid.region(index)).collect();
        let late = Late { frame, missing, workers: state.workers.count(), owing: state.owed() };
        drop(state);
        // Newer arguments need not wait for tiles without workers.
        self.begin_next()?;
        Ok(Some(late))
    }

    /// Calls [`Assembly::update`], and shows the result: whole frames with one frame of the link, progressive tiles
    /// with a frame for each region. If that fails, the picture stays unchanged.
    ///
    /// # Errors
    /// [`Error::Pixelferry`] from the link, which must be for the scene's picture; [`Error::Zenoh`].
    pub fn show(&mut self, link: &mut LinkCore, timeout: Duration) -> Result<Update> {
        let update = self.update(timeout)?;
        let Update::Tiles(tiles) = &update else { return Ok(update) };
        match show(tiles, link) {
            Ok(()) => Ok(update),
            Err(Error::Gone(region)) => {
                self.again(tiles.frame, region)?;
                Ok(Update::Nothing)
            }
            Err(error) => Err(error),
        }
    }

    /// Requests a tile again that was taken and could not be read; in whole mode, the whole frame. Does nothing if a
    /// newer frame has been requested.
    ///
    /// # Errors
    /// [`Error::Zenoh`].
    pub fn again(&mut self, frame: u64, region: Region) -> Result<()> {
        let Some(index) = self.grid.index(region) else { return Ok(()) };
        let newest = self.asked.as_ref().map(|asked| asked.message.header.frame);
        if newest.is_some_and(|newest| newest != frame) {
            return Ok(());
        }
        lock(&self.shared.state).board.again(index);
        match self.taken.take_if(|taken| newest.is_none() && taken.header.frame == frame) {
            Some(message) => self.ask_for(message),
            None => Ok(()),
        }
    }

    /// Number of the session.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Number of live workers.
    pub fn workers(&self) -> usize {
        lock(&self.shared.state).workers.count()
    }

    /// Live workers whose tiles are given to others, because they owed tiles for too long.
    pub fn passed_over(&self) -> Vec<TileDebt> {
        let mut owed = lock(&self.shared.state).owed();
        owed.retain(|owed| owed.is_passed_over);
        owed
    }

    /// Number of refused messages: invalid ones, or those of other sessions or pictures.
    pub fn refused(&self) -> u64 {
        self.shared.entry.refused()
    }
}

fn show(tiles: &Tiles, link: &mut LinkCore) -> Result<()> {
    if tiles.is_whole {
        let mut frame = link.acquire()?;
        tiles.write(&mut frame)?;
        return Ok(frame.finish()?);
    }
    for tile in &tiles.tiles {
        let mut frame = link.acquire_region(tile.region())?;
        frame.write(&tile.to_bytes()?)?;
        frame.finish()?;
    }
    Ok(())
}
