//! Status of a node, for `probe`.

use crate::error::{CLOSED, Error, Result};
use crate::lock::lock;
use pixelferry_rules::key;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use zenoh::query::Queryable;
use zenoh::{Session, Wait};

/// One node's row of [`Net::probe`](crate::Net::probe).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NodeStatus {
    /// Name of the host.
    pub host: String,
    /// Process ID.
    pub process: u32,
    /// Version of this crate.
    pub version: String,
    /// Number of its place, if its pixels are in memory that nodes of the same number can read; otherwise `copied` and
    /// the reason.
    #[serde(default)]
    pub memory: String,
    /// Roles of the node.
    pub roles: Vec<Role>,
}

/// A task of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Role {
    /// `worker`, `display`, `server` or `viewer`.
    pub role: String,
    /// Name of the scene.
    pub scene: String,
    /// Number of tiles or pictures since it began.
    pub messages: u64,
    /// Number in the last second.
    pub per_second: f64,
    /// Messages that were refused.
    pub refused: u64,
    /// Codec of the pixels and, if it depends on the connection, the connection's measured properties; empty for a role
    /// that encodes nothing.
    #[serde(default)]
    pub codec: String,
    /// A worker's number, as displays name it.
    #[serde(default)]
    pub node: String,
    /// Messages about workers that a display passes over, or about tiles that a worker gave up.
    #[serde(default)]
    pub trouble: Vec<String>,
    /// The program's own description, for example a device.
    pub detail: String,
}

/// Longest wait of [`Net::probe`](crate::Net::probe) for answers.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longer answers are invalid.
const MOST_BYTES: usize = 64 << 10;
/// Maximum number of problems in a status.
const MOST_TROUBLE: usize = 64;

/// Returns the rows of all nodes that answer, sorted by host and process.
pub(crate) fn ask(session: &Session) -> Result<Vec<NodeStatus>> {
    let asked = session.get(key::all_status()).timeout(PATIENCE).wait();
    let replies = asked.map_err(Error::zenoh("Net::probe", CLOSED))?;
    let mut nodes = Vec::new();
    while let Ok(reply) = replies.recv() {
        let Ok(sample) = reply.result() else { continue };
        if sample.payload().len() > MOST_BYTES {
            continue;
        }
        nodes.extend(serde_json::from_slice::<NodeStatus>(&sample.payload().to_bytes()));
    }
    nodes.sort_by(|a, b| (&a.host, a.process).cmp(&(&b.host, b.process)));
    Ok(nodes)
}

/// Counts messages of one worker, display, server or viewer.
#[derive(Debug)]
pub(crate) struct Tally {
    started: Instant,
    messages: u64,
    /// Counts of the last full second, and of the current one.
    last: u64,
    running: u64,
    second: u64,
    refused: u64,
    codec: String,
    node: String,
    trouble: Vec<String>,
    detail: String,
}

impl Tally {
    fn new() -> Self {
        let (codec, node, trouble, detail) = Default::default();
        let (messages, last, running, second, refused) = Default::default();
        Self { started: Instant::now(), messages, last, running, second, refused, codec, node, trouble, detail }
    }

    fn turn(&mut self) {
        let second = self.started.elapsed().as_secs();
        if second != self.second {
            self.last = if second == self.second + 1 { self.running } else { 0 };
            (self.running, self.second) = (0, second);
        }
    }
}

/// What a node shares with others in its place, which may change.
#[derive(Clone)]
pub(crate) struct Memory {
    /// 0 for nothing.
    pub place: Arc<AtomicU64>,
    pub trouble: Option<&'static str>,
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.load(Ordering::Relaxed) {
            0 => write!(f, "copied: {}", self.trouble.unwrap_or("memory of another program cannot be read")),
            place => write!(f, "{place:016x}"),
        }
    }
}

/// The node's status: a row for each live handle.
pub(crate) struct Board {
    rows: Rows,
    memory: Memory,
    _queryable: Queryable<()>,
}

type Rows = Arc<Mutex<BTreeMap<u64, StatusRow>>>;

struct StatusRow {
    role: &'static str,
    scene: String,
    tally: Tally,
}

/// A row of the board, which is removed on drop.
pub(crate) struct Entry {
    rows: Rows,
    at: u64,
}

impl Board {
    pub fn declare(session: &Session, node: u64, memory: Memory) -> Result<Self> {
        let rows = Rows::default();
        let (told, shared) = (rows.clone(), memory.clone());
        let key = key::status(node);
        let own = key.clone();
        let answer = move |query: zenoh::query::Query| {
            let Ok(status) = serde_json::to_vec(&status(&told, &shared)) else { return };
            if let Err(error) = query.reply(&own, status).wait() {
                tracing::debug!("cannot send the status: {error}");
            }
        };
        let declared = session.declare_queryable(key).callback(answer).wait();
        Ok(Self { rows, memory, _queryable: declared.map_err(Error::zenoh("Net::join", CLOSED))? })
    }

    pub fn reader(&self) -> impl Fn() -> NodeStatus + Send + Sync + 'static {
        let (rows, memory) = (self.rows.clone(), self.memory.clone());
        move || status(&rows, &memory)
    }

    pub fn enter(&self, role: &'static str, scene: &str) -> Entry {
        let mut rows = lock(&self.rows);
        let at = rows.keys().next_back().map_or(0, |last| last + 1);
        rows.insert(at, StatusRow { role, scene: scene.into(), tally: Tally::new() });
        Entry { rows: self.rows.clone(), at }
    }
}

fn status(rows: &Rows, memory: &Memory) -> NodeStatus {
    let role = |row: &mut StatusRow| {
        row.tally.turn();
        Role {
            role: row.role.into(),
            scene: row.scene.clone(),
            messages: row.tally.messages,
            per_second: row.tally.last as f64,
            refused: row.tally.refused,
            codec: row.tally.codec.clone(),
            node: row.tally.node.clone(),
            trouble: row.tally.trouble.iter().take(MOST_TROUBLE).cloned().collect(),
            detail: row.tally.detail.clone(),
        }
    };
    let roles = lock(rows).values_mut().map(role).collect();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = if host.trim().is_empty() { "unnamed".into() } else { host.trim().to_owned() };
    let (version, memory) = (env!("CARGO_PKG_VERSION").into(), memory.to_string());
    NodeStatus { host, process: std::process::id(), version, memory, roles }
}

impl Entry {
    fn with(&self, change: impl FnOnce(&mut Tally)) {
        if let Some(row) = lock(&self.rows).get_mut(&self.at) {
            change(&mut row.tally);
        }
    }

    pub fn count(&self) {
        self.with(|tally| {
            tally.turn();
            tally.messages += 1;
            tally.running += 1;
        });
    }

    /// Counts a refused message, and logs the reason.
    pub fn refuse(&self, why: &dyn std::fmt::Display) {
        tracing::debug!("message refused: {why}");
        self.with(|tally| tally.refused += 1);
    }

    pub fn refused(&self) -> u64 {
        lock(&self.rows).get(&self.at).map_or(0, |row| row.tally.refused)
    }

    /// Sets the description of the codec.
    pub fn pack(&self, codec: &str) {
        self.with(|tally| tally.codec = codec.into());
    }

    /// Sets the worker's number.
    pub fn number(&self, node: u64) {
        self.with(|tally| tally.node = format!("{node:016x}"));
    }

    pub fn trouble(&self, words: Vec<String>) {
        self.with(|tally| tally.trouble = words);
    }

    pub fn describe(&self, detail: &str) {
        self.with(|tally| tally.detail = detail.into());
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        lock(&self.rows).remove(&self.at);
    }
}
