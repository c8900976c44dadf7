//! The connection to a publisher.

use crate::wire::message::{Device, Hello, Kind, Notice, VERSION, decode, encode};
use crate::wire::socket::{self, Received};
use crate::wire::table::{From, Seat};
use interop_core::{Error, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

/// Time in which a publisher must answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Time for which a subscriber looks for a frame before it sleeps: waking it up takes as long as that.
const SPIN: Duration = Duration::from_micros(50);
/// Frames that follow each other this soon are looked for until they come, as those sleeps would be a good part of their interval.
const QUICK: Duration = Duration::from_millis(2);
/// Pieces that a publisher may name at once.
const MOST_PIECES: usize = 256;

/// A piece of memory as the publisher describes it.
#[derive(Debug)]
pub(super) struct Named {
    pub kind: Kind,
    pub bytes: u64,
    pub descriptor: OwnedFd,
}

/// A place at a stream.
#[derive(Debug)]
pub(super) struct Joined {
    socket: OwnedFd,
    wake: OwnedFd,
    pub seat: Seat,
    pub publisher: Device,
    /// Pieces that were named and are not gone.
    pub pieces: HashMap<u64, Named>,
    /// Pieces that the publisher needs no longer, since they were last asked for.
    pub gone: Vec<u64>,
    pub has_ended: bool,
    /// When the last frame was met, and the time from the one before to it.
    met: Instant,
    interval: Duration,
}

impl Joined {
    /// # Errors
    /// [`Error::Unavailable`] where nobody publishes this, or refuses; [`Error::InvalidInput`] for what is no publisher.
    pub(super) fn new(name: &str) -> Result<Self> {
        let socket = socket::join(name)?;
        if !socket::send(&socket, &encode(&Hello { version: VERSION })?, &[]) {
            return Err(silent(name));
        }
        let until = Instant::now() + PATIENCE;
        let (bytes, descriptors) = first(&socket, until, name)?;
        let (publisher, pieces) = match decode::<Notice>(&bytes)? {
            Notice::Welcome { device, pieces } => (device, pieces),
            Notice::Refused { reason } => {
                return Err(Error::Unavailable {
                    what: format!("the stream {name:?}"),
                    reason,
                    hint: "Ask whoever runs its publisher.".into(),
                });
            }
            _ => return Err(Error::refused("the publisher's first message is no welcome")),
        };
        let Ok([table, mine, wake]) = <[OwnedFd; 3]>::try_from(descriptors) else {
            return Err(Error::refused("the publisher's welcome came without its descriptors"));
        };
        check_wake(&wake)?;
        let mut joined = Self {
            socket,
            wake,
            seat: Seat::take(&table, &mine)?,
            publisher,
            pieces: HashMap::new(),
            gone: Vec::new(),
            has_ended: false,
            met: Instant::now(),
            interval: Duration::MAX,
        };
        for _ in 0..pieces {
            let (bytes, descriptors) = first(&joined.socket, until, name)?;
            joined.note(decode(&bytes)?, descriptors)?;
        }
        Ok(joined)
    }

    /// Takes in what the publisher has said. A publisher that says what cannot be has ended.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for such a message.
    pub(super) fn listen(&mut self) -> Result<()> {
        while !self.has_ended {
            match socket::receive(&self.socket) {
                Received::Nothing => break,
                Received::Ended => self.has_ended = true,
                Received::Packet(bytes, descriptors) => {
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
                    return Err(Error::refused(format!("piece {number} of the stream is one too many")));
                }
                self.pieces.insert(number, Named { kind, bytes, descriptor });
            }
            Notice::Gone { number } => {
                self.pieces.remove(&number);
                self.gone.push(number);
            }
            Notice::Welcome { .. } | Notice::Refused { .. } => {
                return Err(Error::refused("the publisher welcomes twice"));
            }
        }
        Ok(())
    }

    /// Waits until there is a frame other than `frame`, or the publisher has ended, or the time is over.
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
            if is_new || self.has_ended || waited >= timeout {
                return Ok(());
            }
            if waited < spin {
                std::hint::spin_loop();
                continue;
            }
            // What was written to it before is answered by what follows.
            let mut counted = [0; 8];
            let _ = rustix::io::read(&self.wake, &mut counted);
            self.listen()?;
            if self.has_ended || self.seat.newest(from).frame() != newest {
                continue;
            }
            let both = &mut [PollFd::new(&self.wake, PollFlags::IN), PollFd::new(&self.socket, PollFlags::IN)];
            sleep(both, timeout.saturating_sub(waited))?;
        }
    }
}

/// The next packet, which comes at once where all is well.
fn first(socket: &OwnedFd, until: Instant, name: &str) -> Result<(Vec<u8>, Vec<OwnedFd>)> {
    loop {
        match socket::receive(socket) {
            Received::Packet(bytes, descriptors) => return Ok((bytes, descriptors)),
            Received::Ended => return Err(silent(name)),
            Received::Nothing => {
                let left = until.checked_duration_since(Instant::now()).ok_or_else(|| silent(name))?;
                sleep(&mut [PollFd::new(socket, PollFlags::IN)], left)?;
            }
        }
    }
}

/// Waits for one of them.
fn sleep(descriptors: &mut [PollFd<'_>], limit: Duration) -> Result<()> {
    let limit = Timespec::try_from(limit).unwrap_or(Timespec { tv_sec: i64::from(i32::MAX), tv_nsec: 0 });
    match poll(descriptors, Some(&limit)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(Error::Unavailable {
            what: "waiting for a stream".into(),
            reason: errno.to_string(),
            hint: "Raise the limit of descriptors.".into(),
        }),
    }
}

/// Refuses what is no eventfd: reading another descriptor could wait for ever.
fn check_wake(wake: &OwnedFd) -> Result<()> {
    use std::os::fd::AsRawFd as _;
    let link = std::fs::read_link(format!("/proc/self/fd/{}", wake.as_raw_fd()));
    let flags = rustix::fs::fcntl_getfl(wake);
    let is_event = link.is_ok_and(|link| link.as_os_str() == "anon_inode:[eventfd]");
    if is_event && flags.is_ok_and(|flags| flags.contains(rustix::fs::OFlags::NONBLOCK)) {
        return Ok(());
    }
    Err(Error::refused("the publisher's third descriptor is no eventfd"))
}

fn silent(name: &str) -> Error {
    Error::Unavailable {
        what: format!("the stream {name:?}"),
        reason: "its publisher does not answer".into(),
        hint: "Look whether that process still runs.".into(),
    }
}
