//! Exchange between the parts of a simulation, step by step: the edges of their domains.

use crate::error::{CLOSED, Error, Result, keys};
use crate::lock::lock;
use crate::net::{Net, now};
use crate::pixels::read_header;
use crate::status::Entry;
use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_media::wire::{HEADER_BYTES, Header, Kind, Limits, WireError};
use pixelferry_rules::key::{Keys, read_receiver};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use zenoh::Wait;
use zenoh::bytes::ZBytes;
use zenoh::pubsub::Subscriber;
use zenoh::qos::{CongestionControl, Priority};
use zenoh::query::{ConsolidationMode, Query, Queryable, Reply};

/// A neighbour is one step ahead at most, so what it may still need is of two.
const KEPT: usize = 2;
/// Steps of a neighbour that wait to be taken, from the one that was asked for last on. No neighbour is further ahead.
const WAITING: u64 = 4;
/// Pause after which a missing edge is asked for again.
const ASK_AGAIN: Duration = Duration::from_millis(250);
/// Answers that take longer come too late.
const ANSWERED: Duration = Duration::from_secs(2);

/// One part of a simulation that is split over workers. In each step it gives its neighbours the edges of its domain, and takes
/// theirs. Bytes that were lost, or that came before anybody was there for them, come again.
///
/// ```
/// use pixelferry_net::{Net, Options};
/// use std::time::Duration;
///
/// let net = Net::join(Options::hub("tcp/127.0.0.1:0"))?;
/// // Two parts of run 1, each the other's neighbour; usually in two programs.
/// let (left, right) = (net.halo("sea", 1, 0, &[1])?, net.halo("sea", 1, 1, &[0])?);
/// left.put(0, 1, b"right edge of 0")?;
/// assert_eq!(right.take(0, 0, Duration::from_secs(60))?, b"right edge of 0");
/// // Nobody gave the edge of step 1.
/// assert!(right.take(1, 0, Duration::from_millis(10)).is_err());
/// # Ok::<(), pixelferry_net::Error>(())
/// ```
///
/// Threads: any.
pub struct Halo {
    net: Net,
    keys: Keys,
    run: u64,
    part: u32,
    shared: Arc<Shared>,
    _edges: Subscriber<()>,
    _queryable: Queryable<()>,
}

struct Shared {
    run: u64,
    limits: Limits,
    edges: Mutex<Edges>,
    told: Condvar,
    entry: Entry,
}

#[derive(Default)]
struct Edges {
    /// Edges that each neighbour gave.
    came: BTreeMap<u32, Came>,
    /// Edges that each neighbour was given last.
    given: BTreeMap<u32, VecDeque<ZBytes>>,
    /// The step of each neighbour that is waited for, and since when it was not asked for.
    waits: BTreeMap<u32, (u64, Instant)>,
}

/// Edges that one neighbour gave.
#[derive(Default)]
struct Came {
    /// The step that was asked for last; none before the first.
    floor: Option<u64>,
    steps: BTreeMap<u64, ZBytes>,
}

impl Came {
    /// Keeps an edge that may be needed. What came before and was lost comes again; what is far ahead never was a neighbour's.
    fn put(&mut self, step: u64, message: ZBytes) -> Result<(), WireError> {
        if self.floor.is_some_and(|floor| step >= floor.saturating_add(WAITING)) {
            return Err(WireError::Scene("its step is far ahead of the one that is waited for"));
        }
        if self.floor.is_none_or(|floor| step >= floor) {
            self.steps.insert(step, message);
        }
        if self.steps.len() as u64 > WAITING {
            self.steps.pop_first();
        }
        Ok(())
    }

    fn get(&mut self, step: u64) -> Option<&ZBytes> {
        self.floor = Some(step);
        self.steps.retain(|&each, _| each >= step && each - step < WAITING);
        self.steps.get(&step)
    }
}

impl Net {
    /// Joins a simulation as one of its parts. `run` tells a simulation from the one that ran before: nothing of another run is
    /// ever taken. Whoever starts the parts says which run it is, and who is whose neighbour.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a name that is none; [`Error::Zenoh`].
    pub fn halo(&self, scene: &str, run: u64, part: u32, neighbours: &[u32]) -> Result<Halo> {
        const OP: &str = "Net::halo";
        let keys = keys(scene)?;
        let came = neighbours.iter().map(|&part| (part, Came::default())).collect();
        let edges = Mutex::new(Edges { came, ..Edges::default() });
        let (limits, entry) = (self.limits(), self.status().enter("part", scene));
        let shared = Arc::new(Shared { run, limits, edges, told: Condvar::new(), entry });
        let told = shared.clone();
        let edges = self.subscribe(OP, keys.edges_to(run, part), move |message| told.take(message))?;
        let told = shared.clone();
        let answer = move |query: Query| told.answer(&query);
        let queryable = self.session().declare_queryable(keys.edges_from(run, part)).callback(answer).wait();
        Ok(Halo {
            net: self.clone(),
            keys,
            run,
            part,
            shared,
            _edges: edges,
            _queryable: queryable.map_err(Error::zenoh(OP, CLOSED))?,
        })
    }
}

impl Shared {
    fn take(&self, message: &ZBytes) {
        if let Err(refused) = self.read(message) {
            self.entry.refuse(&refused);
        }
    }

    fn read(&self, message: &ZBytes) -> Result<(), WireError> {
        let header = read_header(message, Kind::Edge, &self.limits)?;
        if header.epoch != self.run {
            return Err(WireError::Foreign { found: header.epoch, current: self.run });
        }
        let mut edges = lock(&self.edges);
        let neighbour = u32::try_from(header.sender).ok().and_then(|part| edges.came.get_mut(&part));
        let came = neighbour.ok_or(WireError::Scene("it is of a part that is no neighbour"))?;
        came.put(header.frame, message.clone())?;
        drop(edges);
        self.entry.count();
        self.told.notify_all();
        Ok(())
    }

    fn answer(&self, query: &Query) {
        let Some(to) = read_receiver(query.key_expr().as_str()) else { return };
        let given: Vec<_> = lock(&self.edges).given.get(&to).into_iter().flatten().cloned().collect();
        for edge in given {
            if let Err(error) = query.reply(query.key_expr().clone(), edge).wait() {
                tracing::debug!("no edge was sent again: {error}");
            }
        }
    }
}

impl Halo {
    /// Gives a neighbour what it needs of a step. Steps count up; of each neighbour the newest two can be had again.
    ///
    /// # Errors
    /// [`Error::Wire`] for more bytes than the limits allow; [`Error::Zenoh`].
    pub fn put(&self, step: u64, to: u32, edge: &[u8]) -> Result<()> {
        let image = ImageDesc::new(1, 1, PixelFormat::R8);
        let (epoch, sender, payload) = (self.run, self.part.into(), edge.len() as u64);
        let new = Header::new(Kind::Edge, image, image.extent.full());
        let header = Header { epoch, sender, payload, frame: step, time: now(), ..new }.to_bytes();
        Header::read(&header, &self.net.limits())?;
        let message = ZBytes::from([header.as_slice(), edge].concat());
        let mut edges = lock(&self.shared.edges);
        let given = edges.given.entry(to).or_default();
        given.push_back(message.clone());
        if given.len() > KEPT {
            given.pop_front();
        }
        drop(edges);
        let put = self.net.session().put(self.keys.edge(self.run, self.part, to), message);
        let put = put.congestion_control(CongestionControl::Block).priority(Priority::Data).express(true);
        put.wait().map_err(Error::zenoh("Halo::put", CLOSED))
    }

    /// Returns what a neighbour gave of a step; waits for it. Steps before it are forgotten.
    ///
    /// # Errors
    /// [`Error::NoEdge`] where it did not come in time; [`Error::Invalid`] for a part that is no neighbour; [`Error::Zenoh`].
    pub fn take(&self, step: u64, from: u32, timeout: Duration) -> Result<Vec<u8>> {
        let begun = Instant::now();
        let mut edges = lock(&self.shared.edges);
        loop {
            let no_neighbour = || Error::invalid("Halo::take", format!("part {from} is no neighbour of {}", self.part));
            let came = edges.came.get_mut(&from).ok_or_else(no_neighbour)?;
            if let Some(message) = came.get(step) {
                return Ok(message.to_bytes().get(HEADER_BYTES..).unwrap_or_default().to_vec());
            }
            let waited = begun.elapsed();
            if waited >= timeout {
                return Err(Error::NoEdge { part: from, step, waited });
            }
            let wait = edges.waits.entry(from).or_insert((step, begun));
            if wait.0 != step {
                *wait = (step, begun);
            }
            if wait.1.elapsed() >= ASK_AGAIN {
                wait.1 = Instant::now();
                drop(edges);
                self.ask(from)?;
                edges = lock(&self.shared.edges);
                continue;
            }
            let wait = (timeout - waited).min(ASK_AGAIN);
            edges = self.shared.told.wait_timeout(edges, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn ask(&self, from: u32) -> Result<()> {
        let taken = self.shared.clone();
        let reply = move |reply: Reply| {
            if let Ok(sample) = reply.result() {
                taken.take(sample.payload());
            }
        };
        let get = self.net.session().get(self.keys.edge(self.run, from, self.part)).timeout(ANSWERED);
        let get = get.consolidation(ConsolidationMode::None).callback(reply);
        get.wait().map_err(Error::zenoh("Halo::take", CLOSED))
    }

    /// Messages that were none of the protocol, or of other runs or parts.
    pub fn refused(&self) -> u64 {
        self.shared.entry.refused()
    }
}
