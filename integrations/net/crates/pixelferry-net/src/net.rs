//! One program's connection to the network.

use crate::canvas::Pool;
use crate::error::{CLOSED, Error, Result};
use crate::lend;
use crate::net_options::NetOptions;
use crate::status::{self, Board, Memory, NodeStatus};
use pixelferry_media::wire::Limits;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use zenoh::bytes::ZBytes;
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::{CongestionControl, Priority};
use zenoh::sample::Sample;
use zenoh::{Session, Wait};

/// Delivery options for messages of one key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeliveryOptions {
    /// When the queue is full: whether the sender waits, or the message is lost.
    pub congestion: CongestionControl,
    pub priority: Priority,
    /// Whether a message is sent at once, without waiting for others to share its packet.
    pub express: bool,
}

impl DeliveryOptions {
    /// Options for short requests and reports, and for messages that are repeated if they are lost.
    pub const WORDS: Self =
        Self { congestion: CongestionControl::Drop, priority: Priority::InteractiveHigh, express: true };
}

/// A program's connection to the network. Clones share the connection, which ends with the last of them and of
/// everything made from it.
///
/// Threads: any; everything is `Send` and `Sync`.
#[derive(Clone)]
pub struct Net(Arc<NetState>);

pub(crate) struct NetState {
    pub session: Session,
    pub options: NetOptions,
    pub pool: Pool,
    pub status: Board,
    made: AtomicU64,
    /// The place whose processes can read each other's memory; 0 if this one cannot.
    place: Arc<AtomicU64>,
}

/// How long to wait for an endpoint to respond after joining failed.
const KNOCK: Duration = Duration::from_secs(1);

impl Net {
    /// Joins the network.
    ///
    /// # Errors
    /// [`Error::Refused`] if an endpoint refuses this program's certificate, name or password; [`Error::Zenoh`] if an
    /// endpoint cannot be listened on or reached, or an option is invalid.
    pub fn join(options: NetOptions) -> Result<Self> {
        const OP: &str = "Net::join";
        let hint = "Is the port in use by another program, and do the endpoints to connect to exist?";
        let session = open(&options)?.map_err(Error::zenoh(OP, hint))?;
        let pool = Pool::new(if options.shared_memory { options.shared_memory_bytes } else { 0 });
        let found = if options.shared_memory { lend::place() } else { Err("switched off") };
        let place = Arc::new(AtomicU64::new(found.ok().filter(|_| pool.is_shared()).unwrap_or(0)));
        let id = session.zid().to_le_bytes();
        let node = id.iter().rev().fold(0u64, |node, &byte| node.rotate_left(8) ^ u64::from(byte));
        let memory = Memory { place: place.clone(), trouble: found.err() };
        let status = Board::declare(&session, node, memory)?;
        Ok(Self(Arc::new(NetState { session, options, pool, status, made: AtomicU64::new(node), place })))
    }

    /// Returns the endpoints where others can connect to this program, with the ports that the system chose.
    ///
    /// # Errors
    /// None at present.
    pub fn endpoints(&self) -> Result<Vec<String>> {
        Ok(self.session().info().locators().wait().iter().map(ToString::to_string).collect())
    }

    /// The Zenoh session, for a program's own messages.
    pub fn session(&self) -> &Session {
        &self.0.session
    }

    /// Leaves at once; everything made from this connection fails from then on.
    ///
    /// # Errors
    /// [`Error::Zenoh`].
    pub fn leave(&self) -> Result<()> {
        self.session().close().wait().map_err(Error::zenoh("Net::leave", CLOSED))
    }

    /// For threads that must not keep the connection.
    pub(crate) fn weak(&self) -> Weak<NetState> {
        Arc::downgrade(&self.0)
    }

    /// `None` if the connection has ended.
    pub(crate) fn of(weak: &Weak<NetState>) -> Option<Self> {
        weak.upgrade().map(Self)
    }

    pub(crate) fn limits(&self) -> Limits {
        self.0.options.limits
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.0.pool
    }

    /// Asks every node of the network for its status. Takes until all have answered, at most two seconds.
    ///
    /// # Errors
    /// [`Error::Zenoh`].
    pub fn probe(&self) -> Result<Vec<NodeStatus>> {
        status::ask(self.session())
    }

    /// Returns a function for this program's own status, as in [`Net::probe`]. The function does not keep the
    /// connection.
    pub fn own_status(&self) -> impl Fn() -> NodeStatus + Send + Sync + 'static {
        self.0.status.reader()
    }

    /// Number of the place where programs read each other's memory; 0 if this program cannot.
    pub(crate) fn place(&self) -> &Arc<AtomicU64> {
        &self.0.place
    }

    /// The place as marks and queries contain it.
    pub(crate) fn place_bytes(&self) -> [u8; 8] {
        self.place().load(Ordering::Relaxed).to_le_bytes()
    }

    pub(crate) fn status(&self) -> &Board {
        &self.0.status
    }

    /// Sends messages of one key.
    pub(crate) fn publisher(
        &self,
        operation: &'static str,
        key: String,
        way: DeliveryOptions,
    ) -> Result<Publisher<'static>> {
        let publisher = self.session().declare_publisher(key).congestion_control(way.congestion);
        let publisher = publisher.priority(way.priority).express(way.express).wait();
        publisher.map_err(Error::zenoh(operation, CLOSED))
    }

    /// Receives messages of a key, on a thread of Zenoh's.
    pub(crate) fn subscribe(
        &self,
        operation: &'static str,
        key: String,
        take: impl Fn(&ZBytes) + Send + Sync + 'static,
    ) -> Result<Subscriber<()>> {
        self.subscribe_all(operation, key, move |sample| take(sample.payload()))
    }

    /// Like [`Net::subscribe`], with the attachment of a message.
    pub(crate) fn subscribe_all(
        &self,
        operation: &'static str,
        key: String,
        heard: impl Fn(Sample) + Send + Sync + 'static,
    ) -> Result<Subscriber<()>> {
        let subscriber = self.session().declare_subscriber(key).callback(heard).wait();
        subscriber.map_err(Error::zenoh(operation, CLOSED))
    }

    /// Returns a number that no other worker or display has.
    pub(crate) fn number(&self) -> u64 {
        // A difference of one is enough: every use hashes the number.
        self.0.made.fetch_add(1, Ordering::Relaxed)
    }
}

/// Zenoh reports the same error for an endpoint without a listener and for one that refuses this program; a plain
/// connection tells them apart. An endpoint that began to listen only now is tried once more.
fn open(options: &NetOptions) -> Result<zenoh::Result<Session>> {
    let join = || -> Result<_> { Ok(zenoh::open(options.config()?).wait()) };
    let opened = join()?;
    let listens = || options.connect.iter().find(|endpoint| is_listening(endpoint));
    if opened.is_ok() {
        return Ok(opened);
    }
    let Some(endpoint) = listens() else { return Ok(opened) };
    let again = join()?;
    let refused = || Error::Refused { endpoint: endpoint.clone(), papers: options.security.papers() };
    again.map(Ok).map_err(|_| refused())
}

fn is_listening(endpoint: &str) -> bool {
    let Some((_protocol, rest)) = endpoint.split_once('/') else { return false };
    let address = rest.split(['?', '#']).next().unwrap_or_default();
    let Ok(mut found) = address.to_socket_addrs() else { return false };
    found.any(|address| TcpStream::connect_timeout(&address, KNOCK).is_ok())
}

/// Microseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}
