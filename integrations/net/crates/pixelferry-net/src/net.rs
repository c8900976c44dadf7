//! The network as one program sees it.

use crate::canvas::Pool;
use crate::error::{CLOSED, Error, Result};
use crate::lend;
use crate::options::Options;
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
pub(crate) struct Way {
    /// Behaviour of a full queue: the sender waits, or the message is lost.
    pub congestion: CongestionControl,
    pub priority: Priority,
    /// True where a message goes at once, and waits for none that could share its packet.
    pub express: bool,
}

impl Way {
    /// Options for short requests and reports, and for messages that are repeated if they are lost.
    pub const WORDS: Self =
        Self { congestion: CongestionControl::Drop, priority: Priority::InteractiveHigh, express: true };
}

/// A program's connection to the network. Clones are the same connection, which ends with the last of them and of what
/// was made of it.
///
/// Threads: any; all of it is `Send` and `Sync`.
#[derive(Clone)]
pub struct Net(Arc<Shared>);

pub(crate) struct Shared {
    pub session: Session,
    pub options: Options,
    pub pool: Pool,
    pub status: Board,
    made: AtomicU64,
    /// The place whose processes can read each other's memory; 0 where this one cannot.
    place: Arc<AtomicU64>,
}

/// Longest wait for somebody who listens at an endpoint that was not joined.
const KNOCK: Duration = Duration::from_secs(1);

impl Net {
    /// Joins.
    ///
    /// # Errors
    /// [`Error::Refused`] where somebody listens who does not take this program's certificate, name or password;
    /// [`Error::Zenoh`] where an endpoint cannot be listened at or reached, or an option is invalid.
    pub fn join(options: Options) -> Result<Self> {
        const OP: &str = "Net::join";
        let hint = "Does something else listen at the endpoint, and does somebody where it connects?";
        let session = open(&options)?.map_err(Error::zenoh(OP, hint))?;
        let pool = Pool::new(if options.shared_memory { options.shared_memory_bytes } else { 0 });
        let found = if options.shared_memory { lend::place() } else { Err("switched off") };
        let place = Arc::new(AtomicU64::new(found.ok().filter(|_| pool.is_shared()).unwrap_or(0)));
        let id = session.zid().to_le_bytes();
        let node = id.iter().rev().fold(0u64, |node, &byte| node.rotate_left(8) ^ u64::from(byte));
        let memory = Memory { place: place.clone(), trouble: found.err() };
        let status = Board::declare(&session, node, memory)?;
        Ok(Self(Arc::new(Shared { session, options, pool, status, made: AtomicU64::new(node), place })))
    }

    /// Tells where others can connect to this program, with the ports that the system chose.
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

    /// Leaves at once; whatever was made of this connection fails from then on.
    ///
    /// # Errors
    /// [`Error::Zenoh`].
    pub fn leave(&self) -> Result<()> {
        self.session().close().wait().map_err(Error::zenoh("Net::leave", CLOSED))
    }

    /// For threads that shall not keep the connection.
    pub(crate) fn weak(&self) -> Weak<Shared> {
        Arc::downgrade(&self.0)
    }

    /// `None` where nobody has it any more.
    pub(crate) fn of(weak: &Weak<Shared>) -> Option<Self> {
        weak.upgrade().map(Self)
    }

    pub(crate) fn limits(&self) -> Limits {
        self.0.options.limits
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.0.pool
    }

    /// Asks every node of the network what it does. Takes until all answered, two seconds at most.
    ///
    /// # Errors
    /// [`Error::Zenoh`].
    pub fn probe(&self) -> Result<Vec<NodeStatus>> {
        status::ask(self.session())
    }

    /// What this program itself does, as [`Net::probe`] tells others. Whoever holds it does not hold the connection.
    pub fn own_status(&self) -> impl Fn() -> NodeStatus + Send + Sync + 'static {
        self.0.status.reader()
    }

    /// Number of the place where others read this program's memory, and it theirs; 0 where nobody does.
    pub(crate) fn place(&self) -> &Arc<AtomicU64> {
        &self.0.place
    }

    /// As marks and queries tell it.
    pub(crate) fn place_bytes(&self) -> [u8; 8] {
        self.place().load(Ordering::Relaxed).to_le_bytes()
    }

    pub(crate) fn status(&self) -> &Board {
        &self.0.status
    }

    /// Sends messages of one key.
    pub(crate) fn publisher(&self, operation: &'static str, key: String, way: Way) -> Result<Publisher<'static>> {
        let publisher = self.session().declare_publisher(key).congestion_control(way.congestion);
        let publisher = publisher.priority(way.priority).express(way.express).wait();
        publisher.map_err(Error::zenoh(operation, CLOSED))
    }

    /// Hears messages of a key, on a thread of Zenoh's.
    pub(crate) fn subscribe(
        &self,
        operation: &'static str,
        key: String,
        take: impl Fn(&ZBytes) + Send + Sync + 'static,
    ) -> Result<Subscriber<()>> {
        self.subscribe_all(operation, key, move |sample| take(sample.payload()))
    }

    /// Like [`Net::subscribe`], with what was sent beside a message.
    pub(crate) fn subscribe_all(
        &self,
        operation: &'static str,
        key: String,
        heard: impl Fn(Sample) + Send + Sync + 'static,
    ) -> Result<Subscriber<()>> {
        let subscriber = self.session().declare_subscriber(key).callback(heard).wait();
        subscriber.map_err(Error::zenoh(operation, CLOSED))
    }

    /// A number that no other worker or display has.
    pub(crate) fn number(&self) -> u64 {
        // One apart is enough: every use hashes it.
        self.0.made.fetch_add(1, Ordering::Relaxed)
    }
}

/// Zenoh says the same of an endpoint where nobody listens and of one that lets nobody in; a bare connection tells them
/// apart. Who began to listen only now is asked once more.
fn open(options: &Options) -> Result<zenoh::Result<Session>> {
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
