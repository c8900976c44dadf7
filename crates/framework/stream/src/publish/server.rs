//! The thread that serves subscribers' connections.

use super::hub::{Hub, Peer};
use crate::wire::message::{Device, Hello, Notice, VERSION, decode, encode};
use crate::wire::socket::{Connection, Listener, SocketEvent, receive, send};
use crate::wire::table::Reader;
use interop_core::describe::threads;
use interop_core::{Error, Result};
use rustix::event::epoll::{self, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::Errno;
use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Maximum number of connections that have not identified themselves.
const MOST_WAITING: usize = 16;
/// Time limit for a connection to identify itself.
const PATIENCE: Duration = Duration::from_secs(2);
/// Interval of checks for what causes no event: that time limit, and a listener when descriptors are exhausted.
const TICK: Duration = Duration::from_millis(200);

const LISTENER: u64 = 0;
const STOP: u64 = 1;
/// Marks an event that says that the connection's process has ended.
const PROCESS_ENDED: u64 = 1 << 63;

/// Runs the thread; dropping this ends the stream.
pub(crate) struct Server {
    hub: Arc<Hub>,
    stop: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts the thread.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if the system has no more descriptors or threads.
    pub(crate) fn start(listener: Listener, hub: Arc<Hub>, device: Device) -> Result<Self> {
        let failed = |reason: String| {
            Error::unavailable("the thread of a stream's socket", reason, "Raise the limit of descriptors or threads.")
        };
        let prepared = || {
            let events = epoll::create(epoll::CreateFlags::CLOEXEC)?;
            let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
            watch(&events, listener.descriptor(), LISTENER)?;
            watch(&events, &stop, STOP)?;
            Ok((events, stop))
        };
        let (events, stop) = prepared().map_err(|errno: Errno| failed(errno.to_string()))?;
        let events = Arc::new(events);
        let (waiting, stream) = (HashMap::new(), Arc::clone(&hub));
        let room = Room { listener, hub, device, events, waiting, last: STOP, deaf_since: None };
        let thread = threads::spawn("pixelferry stream", move || room.run());
        Ok(Self { hub: stream, stop, thread: Some(thread.map_err(|error| failed(error.to_string()))?) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let thread = self.thread.take();
        if !self.hub.made.is_here() {
            // The thread belongs to the parent process, and the eventfd is the parent's, too.
            return std::mem::forget(thread);
        }
        let _ = rustix::io::write(&self.stop, &1_u64.to_ne_bytes());
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread of a stream's socket panicked");
        }
        self.hub.end();
    }
}

fn watch(events: &OwnedFd, descriptor: impl AsFd, id: u64) -> rustix::io::Result<()> {
    epoll::add(events, descriptor, epoll::EventData::new_u64(id), EventFlags::IN)
}

/// Connections of a stream.
struct Room {
    listener: Listener,
    hub: Arc<Hub>,
    device: Device,
    events: Arc<OwnedFd>,
    /// Connections that have not identified themselves.
    waiting: HashMap<u64, (Arc<Connection>, Instant)>,
    /// The most recently assigned number.
    last: u64,
    /// When the system had no descriptor for a new connection. The listener is then not watched for a tick.
    deaf_since: Option<Instant>,
}

impl Room {
    fn run(mut self) {
        let mut happened = Vec::with_capacity(16);
        let limit = Timespec { tv_sec: 0, tv_nsec: TICK.subsec_nanos().into() };
        loop {
            let limit = (self.deaf_since.is_some() || !self.waiting.is_empty()).then_some(&limit);
            happened.clear();
            match epoll::wait(&self.events, rustix::buffer::spare_capacity(&mut happened), limit) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => {
                    tracing::error!(%errno, "cannot wait for a stream's socket; the stream accepts no more subscribers");
                    return;
                }
            }
            if self.deaf_since.is_some_and(|since| since.elapsed() >= TICK)
                && watch(&self.events, self.listener.descriptor(), LISTENER).is_ok()
            {
                self.deaf_since = None;
            }
            for event in &happened {
                match event.data.u64() {
                    STOP => return,
                    LISTENER => self.admit(),
                    id if id & PROCESS_ENDED != 0 => self.dismiss(id & !PROCESS_ENDED),
                    id => self.hear(id, event.flags),
                }
            }
            self.waiting.retain(|_, (_, since)| since.elapsed() < PATIENCE);
        }
    }

    /// Accepts new connections.
    fn admit(&mut self) {
        loop {
            let mut connection = match self.listener.accept() {
                Ok(Some(connection)) => connection,
                Ok(None) => return,
                Err(errno) => {
                    tracing::debug!(%errno, "a new connection to a stream must wait");
                    let _ = epoll::delete(&self.events, self.listener.descriptor());
                    self.deaf_since = Some(Instant::now());
                    return;
                }
            };
            self.last += 1;
            if self.waiting.len() >= MOST_WAITING {
                refuse(&connection, "too many others are connecting; try again");
            } else if connection.watch(&self.events, self.last, self.last | PROCESS_ENDED).is_ok() {
                self.waiting.insert(self.last, (Arc::new(connection), Instant::now()));
            }
        }
    }

    fn dismiss(&mut self, id: u64) {
        tracing::debug!(id, "a subscriber has left");
        self.waiting.remove(&id);
        self.hub.dismiss(id);
    }

    /// Handles an event of a connection. A new connection sends a hello; a subscriber sends nothing, reads its notices,
    /// and closes at some time.
    fn hear(&mut self, id: u64, changes: EventFlags) {
        let Some((connection, _)) = self.waiting.get(&id) else {
            return if changes == EventFlags::OUT { self.hub.catch_up(id) } else { self.dismiss(id) };
        };
        let received = receive(connection.socket());
        if matches!(received, SocketEvent::Nothing) {
            return;
        }
        let Some((connection, _)) = self.waiting.remove(&id) else { return };
        // Subscribers must not send descriptors, so these are closed.
        let SocketEvent::Packet(bytes, _) = received else { return };
        let hello = decode::<Hello>(&bytes).and_then(|hello| {
            if hello.version == VERSION {
                return Ok(());
            }
            Err(Error::refused(format!("the publisher uses protocol version {VERSION}, not {}", hello.version)))
        });
        if let Err(error) = hello.and_then(|()| self.seat(id, &connection)) {
            tracing::info!(%error, "a subscriber was refused");
            refuse(&connection, &error.to_string());
        }
    }

    fn seat(&self, id: u64, connection: &Arc<Connection>) -> Result<()> {
        let (page, reader) = Reader::create()?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|errno| Error::unavailable("an eventfd", errno, "Raise the publisher's limit of descriptors."))?;
        self.hub.welcome(Peer::new(id, Arc::clone(connection), reader, wake), page.as_fd(), &self.device)
    }
}

fn refuse(connection: &Connection, reason: &str) {
    let reason = reason.chars().take(500).collect();
    if let Ok(text) = encode(&Notice::Refused { reason }) {
        send(connection.socket(), &text, &[]);
    }
}
