//! The thread that subscribers meet.

use super::hub::{Hub, Peer};
use crate::wire::message::{Device, Hello, Notice, VERSION, decode, encode};
use crate::wire::socket::{Listener, Received, receive, send};
use crate::wire::table::Reader;
use interop_core::describe::threads;
use interop_core::{Error, Result};
use rustix::event::{EventfdFlags, Timespec, epoll, eventfd};
use rustix::io::Errno;
use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Connections that have not said who they are, at most.
const MOST_WAITING: usize = 16;
/// Time in which they must be done.
const PATIENCE: Duration = Duration::from_secs(2);

const LISTENER: u64 = 0;
const STOP: u64 = 1;

/// Runs until it is dropped.
pub(crate) struct Server {
    stop: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// # Errors
    /// [`Error::Unavailable`] where the system has no more descriptors or threads.
    pub(crate) fn start(listener: Listener, hub: Arc<Hub>, device: Device) -> Result<Self> {
        let failed = |reason: String| Error::Unavailable {
            what: "the thread of a stream's socket".into(),
            reason,
            hint: "Raise the limit of descriptors or threads.".into(),
        };
        let prepared = || {
            let events = epoll::create(epoll::CreateFlags::CLOEXEC)?;
            let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
            watch(&events, listener.descriptor(), LISTENER)?;
            watch(&events, &stop, STOP)?;
            Ok((events, stop))
        };
        let (events, stop) = prepared().map_err(|errno: Errno| failed(errno.to_string()))?;
        let room = Room { listener, hub, device, events, waiting: HashMap::new(), last: STOP };
        let thread = threads::spawn("pixelferry stream", move || room.run());
        Ok(Self { stop, thread: Some(thread.map_err(|error| failed(error.to_string()))?) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = rustix::io::write(&self.stop, &1_u64.to_ne_bytes());
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread of a stream's socket panicked");
        }
    }
}

fn watch(events: &OwnedFd, descriptor: impl AsFd, id: u64) -> rustix::io::Result<()> {
    epoll::add(events, descriptor, epoll::EventData::new_u64(id), epoll::EventFlags::IN)
}

/// Subscriber at the socket.
struct Room {
    listener: Listener,
    hub: Arc<Hub>,
    device: Device,
    events: OwnedFd,
    /// Connections that have not said who they are yet.
    waiting: HashMap<u64, (OwnedFd, Instant)>,
    /// The number given last.
    last: u64,
}

impl Room {
    fn run(mut self) {
        let mut happened = Vec::with_capacity(16);
        loop {
            let limit = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
            let limit = (!self.waiting.is_empty()).then_some(&limit);
            happened.clear();
            match epoll::wait(&self.events, rustix::buffer::spare_capacity(&mut happened), limit) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => {
                    tracing::error!(%errno, "a stream's socket cannot be waited for; it takes no more subscribers");
                    return;
                }
            }
            for event in &happened {
                match event.data.u64() {
                    STOP => return,
                    LISTENER => self.admit(),
                    id => self.hear(id),
                }
            }
            self.waiting.retain(|_, (_, since)| since.elapsed() < PATIENCE);
        }
    }

    /// Takes in who has connected.
    fn admit(&mut self) {
        while let Some(socket) = self.listener.accept() {
            self.last += 1;
            if self.waiting.len() >= MOST_WAITING {
                refuse(&socket, "too many others connect at once; try again");
            } else if watch(&self.events, &socket, self.last).is_ok() {
                self.waiting.insert(self.last, (socket, Instant::now()));
            }
        }
    }

    /// Listens to one connection: who waits says hello, a subscriber says nothing and goes at some time.
    fn hear(&mut self, id: u64) {
        let Some((socket, _)) = self.waiting.remove(&id) else {
            if self.hub.has(id) {
                tracing::debug!(id, "a subscriber has gone");
                self.hub.dismiss(id);
            }
            return;
        };
        let bytes = match receive(&socket) {
            // Descriptors are no business of a subscriber's: they are closed.
            Received::Packet(bytes, _) => bytes,
            Received::Nothing | Received::Ended => return,
        };
        let seated = decode::<Hello>(&bytes).and_then(|hello| {
            if hello.version == VERSION {
                return Ok(());
            }
            Err(Error::refused(format!("the publisher speaks version {VERSION}, not {}", hello.version)))
        });
        if let Err(error) = seated.and_then(|()| self.seat(id, &socket)) {
            tracing::info!(%error, "a subscriber was refused");
            refuse(&socket, &error.to_string());
        }
    }

    fn seat(&self, id: u64, socket: &OwnedFd) -> Result<()> {
        let (page, reader) = Reader::create()?;
        let unavailable = |what: &str, reason: String| Error::Unavailable {
            what: what.into(),
            reason,
            hint: "Raise the publisher's limit of descriptors.".into(),
        };
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|errno| unavailable("an eventfd", errno.to_string()))?;
        let socket = socket.try_clone().map_err(|error| unavailable("a descriptor", error.to_string()))?;
        let woken = wake.try_clone().map_err(|error| unavailable("a descriptor", error.to_string()))?;
        // The number stays that of the connection, which `epoll` knows for as long as a copy of it is open.
        let descriptors = [self.hub.table.descriptor().as_fd(), page.as_fd(), woken.as_fd()];
        self.hub.welcome(Peer { id, socket, reader, wake }, &descriptors, &self.device)
    }
}

fn refuse(socket: &OwnedFd, reason: &str) {
    let reason = reason.chars().take(500).collect();
    if let Ok(text) = encode(&Notice::Refused { reason }) {
        send(socket, &text, &[]);
    }
}
