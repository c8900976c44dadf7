//! The connection to a publisher.

use crate::wire::message::{Device, Hello, Notice, PieceKind, VERSION, decode, encode};
use crate::wire::socket::{self, Connection, SocketEvent};
use crate::wire::table::{From, Seat};
use interop_core::{Error, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time limit for a publisher's answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a subscriber polls for a frame before it sleeps: waking up takes as long as that.
const SPIN: Duration = Duration::from_micros(50);
/// If frames follow each other faster than this, poll until the next one: sleeps would take a good part of the
/// interval.
const QUICK: Duration = Duration::from_millis(2);
/// Maximum number of pieces that a publisher may announce.
const MOST_PIECES: usize = 256;

/// A piece of memory that the publisher announced.
#[derive(Debug)]
pub(super) struct NamedPiece {
    pub kind: PieceKind,
    pub bytes: u64,
    pub descriptor: OwnedFd,
}

/// A connection to a stream.
#[derive(Debug)]
pub(super) struct Subscription {
    pub connection: Arc<Connection>,
    wake: OwnedFd,
    pub seat: Seat,
    pub publisher: Device,
    /// Announced pieces that still exist.
    pub pieces: HashMap<u64, NamedPiece>,
    /// Pieces that the publisher has released since the last check.
    pub gone: Vec<u64>,
    pub has_ended: bool,
    name: String,
    /// When the last frame was found, and the time since the previous one.
    met: Instant,
    interval: Duration,
}

impl Subscription {
    /// Connects to a stream.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if there is no publisher or it refuses; [`Error::InvalidInput`] if the socket is not a
    /// publisher's.
    pub(super) fn new(name: &str) -> Result<Self> {
        let connection = socket::join(name)?;
        if !socket::send(connection.socket(), &encode(&Hello { version: VERSION })?, &[]) {
            return Err(silent(name));
        }
        let until = Instant::now() + PATIENCE;
        let (bytes, descriptors) = first(&connection, until, name)?;
        let (publisher, pieces) = match decode::<Notice>(&bytes)? {
            Notice::Welcome { device, pieces } => (device, pieces),
            Notice::Refused { reason } => {
                return Err(Error::unavailable(
                    format!("the stream {name:?}"),
                    reason,
                    "Ask the user who runs the publisher.",
                ));
            }
            _ => return Err(Error::refused("the publisher's first message is not a welcome")),
        };
        let Ok([table, mine, wake]) = <[OwnedFd; 3]>::try_from(descriptors) else {
            return Err(Error::refused("the publisher's welcome came without its descriptors"));
        };
        check_wake(&wake)?;
        let mut joined = Self {
            connection: Arc::new(connection),
            wake,
            seat: Seat::take(&table, &mine)?,
            publisher,
            pieces: HashMap::new(),
            gone: Vec::new(),
            has_ended: false,
            name: name.into(),
            met: Instant::now(),
            interval: Duration::MAX,
        };
        for _ in 0..pieces {
            let (bytes, descriptors) = first(&joined.connection, until, name)?;
            joined.note(decode(&bytes)?, descriptors)?;
        }
        Ok(joined)
    }

    /// Reads notices. A publisher that sends an invalid one counts as ended.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an invalid notice; [`Error::Unavailable`] if no descriptor is left for a piece,
    /// which the publisher announces again.
    fn listen(&mut self) -> Result<()> {
        while !self.has_ended {
            match socket::receive(self.connection.socket()) {
                SocketEvent::Nothing => break,
                SocketEvent::OutOfDescriptors => return Err(socket::out_of_descriptors(&self.name)),
                SocketEvent::Ended => self.has_ended = true,
                SocketEvent::Packet(bytes, descriptors) => {
                    if let Err(error) = decode(&bytes).and_then(|notice| self.note(notice, descriptors)) {
                        self.has_ended = true;
                        return Err(error);
                    }
                }
            }
        }
        Ok(())
    }

    fn note(&mut self, notice: Notice, descriptors: Vec<OwnedFd>) -> Result<()> {
        match notice {
            Notice::Piece { number, kind, bytes } => {
                let Ok([descriptor]) = <[OwnedFd; 1]>::try_from(descriptors) else {
                    return Err(Error::refused("a piece of the stream came without its descriptor"));
                };
                if self.pieces.len() >= MOST_PIECES || self.pieces.contains_key(&number) {
                    return Err(Error::refused(format!("piece {number} of the stream exceeds the limit")));
                }
                self.pieces.insert(number, NamedPiece { kind, bytes, descriptor });
            }
            Notice::Gone { number } => {
                self.pieces.remove(&number);
                self.gone.push(number);
            }
            Notice::Welcome { .. } | Notice::Refused { .. } => {
                return Err(Error::refused("the publisher sent a second welcome"));
            }
        }
        Ok(())
    }

    /// Returns whether the publisher has announced this piece.
    ///
    /// # Errors
    /// Those of reading notices.
    pub(super) fn is_named(&mut self, number: u64) -> Result<bool> {
        if !self.pieces.contains_key(&number) {
            self.listen()?;
        }
        Ok(self.pieces.contains_key(&number))
    }

    /// Waits until a notice arrives, the publisher ends, or the time is over.
    pub(super) fn wait_for_notice(&mut self, limit: Duration) -> Result<()> {
        if sleep(&self.connection, None, limit)? {
            // Read earlier notices first.
            self.listen()?;
            self.has_ended = true;
        }
        Ok(())
    }

    /// Waits until there is a frame other than `frame`, the publisher ends, or the time is over.
    pub(super) fn wait(&mut self, from: From, frame: u64, timeout: Duration) -> Result<()> {
        let begun = Instant::now();
        let spin = if self.interval < QUICK { self.interval * 2 } else { SPIN };
        loop {
            let newest = self.seat.newest(from).frame();
            let waited = begun.elapsed();
            let is_new = newest != frame && newest != 0;
            if is_new {
                self.interval = self.met.elapsed();
                self.met = Instant::now();
            }
            if is_new || self.has_ended {
                return Ok(());
            }
            if waited < spin.min(timeout) {
                std::hint::spin_loop();
                continue;
            }
            // Clear the counter: the check that follows covers all earlier wake-ups.
            let mut counted = [0; 8];
            let _ = rustix::io::read(&self.wake, &mut counted);
            self.listen()?;
            if self.has_ended || self.seat.newest(from).frame() != newest {
                continue;
            }
            if sleep(&self.connection, Some(&self.wake), timeout.saturating_sub(waited))? {
                self.listen()?;
                self.has_ended = true;
            } else if waited >= timeout {
                return Ok(());
            }
        }
    }
}

/// Receives the first packet, which normally arrives at once.
fn first(connection: &Connection, until: Instant, name: &str) -> Result<(Vec<u8>, Vec<OwnedFd>)> {
    loop {
        match socket::receive(connection.socket()) {
            SocketEvent::Packet(bytes, descriptors) => return Ok((bytes, descriptors)),
            SocketEvent::OutOfDescriptors => return Err(socket::out_of_descriptors(name)),
            SocketEvent::Ended => return Err(silent(name)),
            SocketEvent::Nothing => {
                let left = until.checked_duration_since(Instant::now()).ok_or_else(|| silent(name))?;
                if sleep(connection, None, left)? {
                    // The publisher was killed in the meantime; connecting again reports that.
                    return Err(socket::join(name).err().unwrap_or_else(|| silent(name)));
                }
            }
        }
    }
}

/// Waits for the connection or a wake-up; returns whether the publisher's process has ended.
fn sleep(connection: &Connection, wake: Option<&OwnedFd>, limit: Duration) -> Result<bool> {
    let process = connection.process();
    let all = [Some(connection.socket()), wake, process].into_iter().flatten();
    let mut descriptors: Vec<_> = all.map(|descriptor| PollFd::new(descriptor, PollFlags::IN)).collect();
    let limit = Timespec::try_from(limit).unwrap_or(Timespec { tv_sec: i64::from(i32::MAX), tv_nsec: 0 });
    match poll(&mut descriptors, Some(&limit)) {
        Ok(_) => Ok(process.is_some() && descriptors.last().is_some_and(|last| !last.revents().is_empty())),
        Err(Errno::INTR) => Ok(false),
        Err(errno) => Err(Error::unavailable("waiting for a stream", errno, "Raise the limit of descriptors.")),
    }
}

/// Refuses any other kind of descriptor: reading it could block forever.
fn check_wake(wake: &OwnedFd) -> Result<()> {
    use std::os::fd::AsRawFd as _;
    let link = std::fs::read_link(format!("/proc/self/fd/{}", wake.as_raw_fd()));
    let flags = rustix::fs::fcntl_getfl(wake);
    let is_event = link.is_ok_and(|link| link.as_os_str() == "anon_inode:[eventfd]");
    if is_event && flags.is_ok_and(|flags| flags.contains(rustix::fs::OFlags::NONBLOCK)) {
        return Ok(());
    }
    Err(Error::refused("the publisher's third descriptor is not an eventfd"))
}

fn silent(name: &str) -> Error {
    Error::unavailable(
        format!("the stream {name:?}"),
        "its publisher does not answer",
        "Check whether that process is running, and whether it has file descriptors left.",
    )
}
