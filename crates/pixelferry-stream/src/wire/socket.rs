//! Sockets of streams: where they are, who may connect, and packets with descriptors.

use interop_core::{Error, Result};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen,
    recvmsg, sendmsg, socket_with, sockopt,
};
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Bytes of a packet at most.
pub(crate) const LONGEST: usize = 4096;
/// Descriptors of a packet at most.
const DESCRIPTORS: usize = 4;
/// Letters of a stream's name at most.
const LONGEST_NAME: usize = 48;
const SUFFIX: &str = ".stream";

/// Folder of this user's streams: `pixelferry` in `XDG_RUNTIME_DIR`, or `/tmp/pixelferry-UID`. Nobody else may enter it.
///
/// # Errors
/// [`Error::Unavailable`] where it cannot be made, or is somebody else's.
pub(crate) fn folder() -> Result<PathBuf> {
    let me = rustix::process::geteuid().as_raw();
    let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
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
        return Err(wrong("it is no folder of this user's".into()));
    }
    if found.permissions().mode() & 0o077 != 0 {
        return Err(wrong("others may enter it; make it chmod 700".into()));
    }
    Ok(folder)
}

/// File of a stream's socket.
///
/// # Errors
/// [`Error::InvalidInput`] for a name that is none; those of [`folder`].
fn path(name: &str) -> Result<PathBuf> {
    let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if name.is_empty() || name.len() > LONGEST_NAME || name.starts_with('.') || !name.bytes().all(is_good) {
        return Err(Error::refused(format!(
            "{name:?} cannot name a stream; give 1 to {LONGEST_NAME} letters, digits, '-', '_' and '.', no '.' first"
        )));
    }
    Ok(folder()?.join(format!("{name}{SUFFIX}")))
}

/// Names of the sockets there are, in order; not all of them may have a publisher.
///
/// # Errors
/// Those of [`folder`].
pub(crate) fn names() -> Result<Vec<String>> {
    let folder = folder()?;
    let files = fs::read_dir(&folder).map_err(|error| unavailable("the list of streams", &error.to_string()))?;
    let name = |file: fs::DirEntry| Some(file.file_name().to_str()?.strip_suffix(SUFFIX)?.to_owned());
    let mut names: Vec<_> = files.filter_map(|file| name(file.ok()?)).collect();
    names.sort();
    Ok(names)
}

/// A publisher's socket, whose file goes with it.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: OwnedFd,
    path: PathBuf,
    inode: u64,
}

impl Listener {
    /// # Errors
    /// [`Error::InvalidInput`] for a name that is none, or is taken; [`Error::Unavailable`] for what the system refuses.
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
        let failed = |errno: Errno| unavailable(&format!("the socket {}", path.display()), &errno.to_string());
        // One at a time looks whether a socket is left over, and takes its place.
        let _turn = turn(&path)?;
        if remove_if_dead(&path, &address) == Left::Alive {
            return Err(Error::refused(format!("a stream {name:?} is published already; give another name")));
        }
        let socket = opened().map_err(failed)?;
        let inode = fs::metadata(&path).map_or(0, |file| file.ino());
        Ok(Self { socket, path, inode })
    }

    /// The next who connects, of this user's; `None` where nobody waits.
    pub(crate) fn accept(&self) -> Option<OwnedFd> {
        let peer = accept_with(&self.socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK).ok()?;
        match check_peer(&peer) {
            Ok(()) => Some(peer),
            Err(error) => {
                tracing::warn!(%error, "somebody who connected to a stream was refused");
                None
            }
        }
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let Ok(_turn) = turn(&self.path) else { return };
        // Another's by now, where somebody removed ours.
        if fs::metadata(&self.path).is_ok_and(|file| file.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A connection to a stream's publisher.
///
/// # Errors
/// [`Error::Unavailable`] where there is none.
pub(crate) fn join(name: &str) -> Result<OwnedFd> {
    let path = path(name)?;
    let address = address(&path)?;
    let joined = connected(&address).map_err(|errno| {
        if errno == Errno::CONNREFUSED
            && let Ok(_turn) = turn(&path)
        {
            remove_if_dead(&path, &address);
        }
        let reason = match errno {
            Errno::NOENT | Errno::CONNREFUSED => "nobody publishes it".into(),
            Errno::AGAIN => "its publisher is busy; try again".into(),
            other => other.to_string(),
        };
        let hint = match names() {
            Ok(names) if !names.is_empty() => format!("Streams there are: {}.", names.join(", ")),
            _ => "Start the publisher first; this user has no streams.".into(),
        };
        Error::Unavailable { what: format!("the stream {name:?}"), reason, hint }
    })?;
    check_peer(&joined)?;
    Ok(joined)
}

fn connected(address: &SocketAddrUnix) -> rustix::io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    connect(&socket, address)?;
    Ok(socket)
}

#[derive(Debug, PartialEq, Eq)]
enum Left {
    Nothing,
    Alive,
}

/// Removes a socket that nobody listens at: its publisher was killed.
fn remove_if_dead(path: &Path, address: &SocketAddrUnix) -> Left {
    match connected(address) {
        Ok(_) | Err(Errno::AGAIN) => return Left::Alive,
        Err(Errno::CONNREFUSED) => {
            tracing::info!(path = %path.display(), "a stream's socket was left over and is removed");
            let _ = fs::remove_file(path);
        }
        Err(_) => {}
    }
    Left::Nothing
}

/// A turn at the folder, until it is dropped.
fn turn(path: &Path) -> Result<OwnedFd> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let taken = || {
        let folder = open(folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        flock(&folder, FlockOperation::LockExclusive)?;
        Ok(folder)
    };
    taken().map_err(|errno: Errno| unavailable(&format!("the folder {}", folder.display()), &errno.to_string()))
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
    let peer = sockopt::socket_peercred(socket).map_err(|errno| unavailable("a stream's peer", &errno.to_string()))?;
    let me = rustix::process::geteuid();
    if peer.uid == me {
        return Ok(());
    }
    Err(Error::refused(format!("a process of user {} is at the other end of the socket", peer.uid.as_raw())))
}

fn unavailable(what: &str, reason: &str) -> Error {
    Error::Unavailable { what: what.into(), reason: reason.into(), hint: "Try again, or raise the limit.".into() }
}

/// Sends a packet without waiting; `false` where the other side does not read, or has gone.
pub(crate) fn send(socket: &OwnedFd, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> bool {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return false;
    }
    let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
    matches!(sendmsg(socket, &[IoSlice::new(bytes)], &mut control, flags), Ok(sent) if sent == bytes.len())
}

/// Arrival by a socket.
#[derive(Debug)]
pub(crate) enum Received {
    Packet(Vec<u8>, Vec<OwnedFd>),
    Nothing,
    /// The other side has gone, or has sent what no packet is.
    Ended,
}

/// The next packet, where one is there. Descriptors of a packet that is cut are closed.
pub(crate) fn receive(socket: &OwnedFd) -> Received {
    let mut bytes = vec![0; LONGEST];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
    let got = recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, flags);
    let descriptors: Vec<OwnedFd> = control
        .drain()
        .flat_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect(),
            _ => Vec::new(),
        })
        .collect();
    match got {
        Ok(got) if got.bytes == 0 || got.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) => Received::Ended,
        Ok(got) => {
            bytes.truncate(got.bytes);
            Received::Packet(bytes, descriptors)
        }
        Err(Errno::AGAIN | Errno::INTR) => Received::Nothing,
        Err(_) => Received::Ended,
    }
}
