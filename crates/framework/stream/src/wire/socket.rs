//! Sockets of streams: their paths, who may connect, and packets with descriptors.

use interop_core::describe::process::ProcessMark;
use interop_core::{Error, Result};
use rustix::event::{PollFd, PollFlags, Timespec, epoll, poll};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, Shutdown, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect,
    listen, recv, recvmsg, sendmsg, shutdown, socket_with, sockopt,
};
use rustix::process::{PidfdFlags, pidfd_open};
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

/// Maximum size of a packet in bytes.
pub(crate) const LONGEST: usize = 4096;
/// Maximum number of descriptors in a packet.
const DESCRIPTORS: usize = 4;
/// Maximum length of a stream's name.
const LONGEST_NAME: usize = 48;
const SUFFIX: &str = ".stream";

/// Folder of this user's streams: `pixelferry` in `XDG_RUNTIME_DIR`, or `/tmp/pixelferry-UID` if that variable is unset
/// or names another user's folder, as under `sudo -E`. Only this user may enter it.
///
/// # Errors
/// [`Error::Unavailable`] if it cannot be created or belongs to another user.
pub(crate) fn folder() -> Result<PathBuf> {
    let me = rustix::process::geteuid().as_raw();
    let is_another_users = |folder: &PathBuf| fs::metadata(folder).is_ok_and(|found| found.uid() != me);
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let runtime = runtime.filter(|folder| !is_another_users(folder));
    let folder = runtime.map_or_else(|| PathBuf::from(format!("/tmp/pixelferry-{me}")), |r| r.join("pixelferry"));
    let wrong = |reason: String| Error::Unavailable {
        what: format!("the folder of streams, {}", folder.display()),
        reason,
        hint: "Set XDG_RUNTIME_DIR to a folder that is yours alone.".into(),
    };
    match fs::DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(wrong(error.to_string())),
        _ => {}
    }
    let found = fs::symlink_metadata(&folder).map_err(|error| wrong(error.to_string()))?;
    if !found.is_dir() || found.uid() != me {
        return Err(wrong("it is not a folder of this user".into()));
    }
    if found.permissions().mode() & 0o077 != 0 {
        return Err(wrong("others may enter it; run chmod 700 on it".into()));
    }
    Ok(folder)
}

/// Path of a stream's socket.
///
/// # Errors
/// [`Error::InvalidInput`] for an invalid name; those of [`folder`].
fn path(name: &str) -> Result<PathBuf> {
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if name.is_empty() || name.len() > LONGEST_NAME || name.starts_with('.') || !name.bytes().all(is_good) {
        return Err(Error::refused(format!(
            "invalid stream name {name:?}; use 1 to {LONGEST_NAME} letters, digits, '-', '_' and '.', without a \
             leading '.'"
        )));
    }
    Ok(folder()?.join(format!("{name}{SUFFIX}")))
}

/// Names of the existing sockets, sorted; some may have no publisher any more.
///
/// # Errors
/// Those of [`folder`].
pub(crate) fn names() -> Result<Vec<String>> {
    let folder = folder()?;
    let files = fs::read_dir(&folder).map_err(|error| Error::Unavailable {
        what: format!("the list of streams in {}", folder.display()),
        reason: error.to_string(),
        hint: "Try again, or raise the limit of open files.".into(),
    })?;
    let name = |file: fs::DirEntry| Some(file.file_name().to_str()?.strip_suffix(SUFFIX)?.to_owned());
    let mut names: Vec<_> = files.filter_map(|file| name(file.ok()?)).collect();
    names.sort();
    Ok(names)
}

/// One end of a connection, and the process at the other end. Dropping it shuts the connection down: closing the
/// descriptor would not end a connection that a forked child has a copy of.
#[derive(Debug)]
pub(crate) struct Connection {
    socket: OwnedFd,
    /// A descriptor that becomes readable when that process has ended (`pidfd_open(2)`), if the system supports it: a
    /// child of that process may keep the connection open.
    process: Option<OwnedFd>,
    events: Option<Arc<OwnedFd>>,
    made: ProcessMark,
}

impl Connection {
    /// Wraps a connected socket.
    ///
    /// # Errors
    /// `ESRCH` if the process at the other end has ended, and other errors of the system.
    fn new(socket: OwnedFd) -> rustix::io::Result<Self> {
        let process = match pidfd_open(sockopt::socket_peercred(&socket)?.pid, PidfdFlags::empty()) {
            Ok(process) => Some(process),
            Err(Errno::NOSYS | Errno::PERM) => None,
            Err(errno) => return Err(errno),
        };
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        if let Some(process) = &process
            && poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&now))? > 0
        {
            return Err(Errno::SRCH);
        }
        Ok(Self { socket, process, events: None, made: ProcessMark::here() })
    }

    pub(crate) fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    pub(crate) fn process(&self) -> Option<&OwnedFd> {
        self.process.as_ref()
    }

    /// Reports to `events` until it is dropped: changes of the socket with `id`, and the end of the other process with
    /// `ended`.
    pub(crate) fn watch(&mut self, events: &Arc<OwnedFd>, id: u64, ended: u64) -> rustix::io::Result<()> {
        self.events = Some(Arc::clone(events));
        let changes = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::ET;
        epoll::add(events.as_ref(), &self.socket, epoll::EventData::new_u64(id), changes)?;
        let Some(process) = &self.process else { return Ok(()) };
        epoll::add(events.as_ref(), process, epoll::EventData::new_u64(ended), epoll::EventFlags::IN)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if !self.made.is_here() {
            return;
        }
        if let Some(events) = &self.events {
            for descriptor in [Some(&self.socket), self.process.as_ref()].into_iter().flatten() {
                let _ = epoll::delete(events.as_ref(), descriptor);
            }
        }
        let _ = shutdown(&self.socket, Shutdown::Both);
    }
}

/// A publisher's socket, which removes its file on drop.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: OwnedFd,
    path: PathBuf,
    inode: u64,
}

impl Listener {
    /// Opens a socket for a stream.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a name that is invalid or in use; [`Error::Unavailable`] for errors of the system.
    pub(crate) fn open(name: &str) -> Result<Self> {
        let path = path(name)?;
        let address = address(&path)?;
        let opened = || {
            let socket = socket_with(
                AddressFamily::UNIX,
                SocketType::SEQPACKET,
                SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
                None,
            )?;
            bind(&socket, &address)?;
            listen(&socket, 16)?;
            Ok(socket)
        };
        let failed = |errno: Errno| unavailable(&format!("the socket {}", path.display()), errno);
        // Only one process at a time may check for and replace a leftover socket.
        let _turn = turn(&path)?;
        if remove_if_dead(&path, &address) == SocketCheck::Alive {
            return Err(Error::refused(format!("a stream {name:?} exists already; choose another name")));
        }
        let socket = opened().map_err(failed)?;
        let inode = fs::metadata(&path).map_or(0, |file| file.ino());
        Ok(Self { socket, path, inode })
    }

    /// Accepts the next connection of this user; `None` if there is none.
    ///
    /// # Errors
    /// Error of the system if it has no descriptor or memory for a waiting connection.
    pub(crate) fn accept(&self) -> rustix::io::Result<Option<Connection>> {
        loop {
            let peer = match accept_with(&self.socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
                Ok(peer) => peer,
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(errno) => return Err(errno),
            };
            if let Err(error) = check_peer(&peer) {
                tracing::warn!(%error, "a connection to a stream was refused");
                continue;
            }
            match Connection::new(peer) {
                Err(Errno::SRCH) => {}
                connection => return connection.map(Some),
            }
        }
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // A forked child, which does not run the thread that owns this, may have a copy of the socket. Shut it down:
        // new connections fail, and waiting ones are closed.
        let _ = shutdown(&self.socket, Shutdown::Both);
        while let Ok(Some(_)) = self.accept() {}
        let Ok(_turn) = turn(&self.path) else { return };
        // The file belongs to another socket if somebody removed ours.
        if fs::metadata(&self.path).is_ok_and(|file| file.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Connects to a stream's publisher.
///
/// # Errors
/// [`Error::Unavailable`] if there is none.
pub(crate) fn join(name: &str) -> Result<Connection> {
    let path = path(name)?;
    let address = address(&path)?;
    let joined = connected(&address).map_err(|errno| {
        let is_dead = matches!(errno, Errno::CONNREFUSED | Errno::SRCH);
        if is_dead && let Ok(_turn) = turn(&path) {
            remove_if_dead(&path, &address);
        }
        let folder = path.parent().unwrap_or(&path).display();
        let reason = match errno {
            Errno::NOENT | Errno::CONNREFUSED | Errno::SRCH => format!("no process publishes it in {folder}"),
            Errno::AGAIN => "its publisher is busy; try again".into(),
            errno => return unavailable(&format!("the stream {name:?}"), errno),
        };
        let hint = match names() {
            Ok(names) if !names.is_empty() => format!("Available streams: {}.", names.join(", ")),
            _ => "Start the publisher first, with the same XDG_RUNTIME_DIR; there are no streams.".into(),
        };
        Error::unavailable(format!("the stream {name:?}"), reason, hint)
    })?;
    check_peer(joined.socket())?;
    Ok(joined)
}

fn connected(address: &SocketAddrUnix) -> rustix::io::Result<Connection> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    connect(&socket, address)?;
    Connection::new(socket)
}

#[derive(Debug, PartialEq, Eq)]
enum SocketCheck {
    Nothing,
    Alive,
}

/// Removes a socket whose publisher was killed: no process listens there, or only a forked child has copies.
fn remove_if_dead(path: &Path, address: &SocketAddrUnix) -> SocketCheck {
    match connected(address) {
        Ok(_) | Err(Errno::AGAIN) => return SocketCheck::Alive,
        Err(Errno::CONNREFUSED | Errno::SRCH) => {
            tracing::info!(path = %path.display(), "removing a stream's leftover socket");
            let _ = fs::remove_file(path);
        }
        Err(_) => {}
    }
    SocketCheck::Nothing
}

/// Locks the folder until the returned descriptor is closed.
fn turn(path: &Path) -> Result<OwnedFd> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let taken = || {
        let folder = open(folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        flock(&folder, FlockOperation::LockExclusive)?;
        Ok(folder)
    };
    taken().map_err(|errno: Errno| unavailable(&format!("the folder {}", folder.display()), errno))
}

fn address(path: &Path) -> Result<SocketAddrUnix> {
    SocketAddrUnix::new(path).map_err(|errno| Error::Unavailable {
        what: format!("the socket {}", path.display()),
        reason: errno.to_string(),
        hint: "Its path is too long for a socket; set XDG_RUNTIME_DIR to a shorter one.".into(),
    })
}

/// Refuses another user's process.
fn check_peer(socket: &OwnedFd) -> Result<()> {
    let peer = sockopt::socket_peercred(socket).map_err(|errno| unavailable("a stream's peer", errno))?;
    let me = rustix::process::geteuid();
    if peer.uid == me {
        return Ok(());
    }
    Err(Error::refused(format!("the process at the other end of the socket belongs to user {}", peer.uid.as_raw())))
}

fn unavailable(what: &str, errno: Errno) -> Error {
    let hint = match errno {
        Errno::MFILE | Errno::NFILE => "Close files that this process has open, or raise its limit (ulimit -n).",
        _ => "Try again, or raise the limit.",
    };
    Error::unavailable(what, errno, hint)
}

/// Error of a process that has no descriptor left for what another one sent.
pub(crate) fn out_of_descriptors(name: &str) -> Error {
    unavailable(&format!("a file descriptor for the stream {name:?}"), Errno::MFILE)
}

/// Sends a packet without waiting; `false` if the socket is full or the other side has gone.
pub(crate) fn send(socket: &OwnedFd, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> bool {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return false;
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    matches!(sendmsg(socket, &[IoSlice::new(bytes)], &mut control, flags), Ok(sent) if sent == bytes.len())
}

/// Result of receiving.
#[derive(Debug)]
pub(crate) enum SocketEvent {
    Packet(Vec<u8>, Vec<OwnedFd>),
    Nothing,
    /// This process has no descriptors left for those of the next packet, which stays in the socket.
    OutOfDescriptors,
    /// The other side has gone, or has sent an invalid packet.
    Ended,
}

/// Receives the next packet, if there is one. Descriptors of a truncated packet are closed.
pub(crate) fn receive(socket: &OwnedFd) -> SocketEvent {
    let mut bytes = vec![0; LONGEST];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    // Peek first: when a packet is taken, the system drops descriptors for which this process has no room.
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT | RecvFlags::PEEK;
    let got = recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags);
    let descriptors: Vec<OwnedFd> = control
        .drain()
        .flat_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect(),
            _ => Vec::new(),
        })
        .collect();
    let got = match got {
        Ok(got) => got,
        Err(Errno::AGAIN | Errno::INTR) => return SocketEvent::Nothing,
        Err(_) => return SocketEvent::Ended,
    };
    if got.flags.contains(ReturnFlags::CTRUNC) && descriptors.len() < DESCRIPTORS {
        return SocketEvent::OutOfDescriptors;
    }
    if got.bytes == 0 || got.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
        return SocketEvent::Ended;
    }
    match recv(socket, &mut [0_u8; 1], RecvFlags::DONTWAIT) {
        Ok(_) => {
            bytes.truncate(got.bytes);
            SocketEvent::Packet(bytes, descriptors)
        }
        Err(_) => SocketEvent::Ended,
    }
}
