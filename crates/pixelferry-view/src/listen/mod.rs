//! The listener: images that other programs send by tev's protocol.
//!
//! | to find | look in |
//! |---|---|
//! | messages, from bytes | `message` |
//! | images, and what has changed in them | `board` |

mod board;
mod message;

use crate::array::Array;
use crate::error::ReadError;
use crate::wake::Wake;
use board::Board;
pub use board::Changes;
use message::{Message, length};
use pixelferry::driver::describe::process::is_forked;
use pixelferry::driver::describe::threads;
use pixelferry_media::memory;
use std::io::{self, ErrorKind, Read};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// Most programs at once.
const MOST_CONNECTIONS: usize = 8;
/// A message that has begun is whole by then.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes of a message that are read at once.
const PIECE: usize = 1 << 20;
/// Most refusals that are said of a connection.
const MOST_SAID: usize = 8;

/// Receives images of other programs, on threads of its own; [`ArrayView::follow`](crate::ArrayView::follow) shows them.
///
/// It speaks the protocol of the viewer tev. Channels R, G, B and A are one array, others each one of its own. Messages that name
/// files are refused. A message that is damaged, or not whole after a minute, ends its connection, and changes nothing. At most 8 programs
/// are heard at once: for a ninth the connection that has been silent longest is closed. Messages have at most 512 MiB, also all that are
/// on their way together, names 1024 bytes, images 64 channels, and there are 256 arrays in all.
///
/// ```
/// use pixelferry_view::Listener;
///
/// let listener = Listener::open("127.0.0.1:0", Vec::new(), Listener::most_bytes())?;
/// assert!(listener.address().ip().is_loopback());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Listener {
    shared: Arc<Shared>,
    address: SocketAddr,
}

#[derive(Default)]
struct Shared {
    board: Mutex<Board>,
    wake: Wake,
    has_graphics: AtomicBool,
}

/// Bytes of messages that are not whole yet, of all connections.
static COMING: AtomicUsize = AtomicUsize::new(0);

/// A program that is connected, and when its last message began or ended.
struct Peer {
    stream: TcpStream,
    heard: Mutex<Instant>,
}

impl Peer {
    fn heard(&self) -> MutexGuard<'_, Instant> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener {
    /// Bytes of all images that are allowed: 1 GiB, or what the environment variable `PIXELFERRY_MEMORY_MIB` says.
    pub fn most_bytes() -> u64 {
        memory::most()
    }

    /// Listens at `HOST:PORT`, whose port 0 is any that is free. No image may have one of the names `taken`, and all together take at
    /// most `most` bytes: eight for each channel of a pixel, and twenty for its picture.
    ///
    /// # Errors
    /// The system's, such as for an address in use.
    pub fn open(address: &str, taken: Vec<String>, most: u64) -> io::Result<Self> {
        let mut found = address.to_socket_addrs()?;
        let socket = TcpListener::bind(found.next().ok_or(ErrorKind::AddrNotAvailable)?)?;
        let address = socket.local_addr()?;
        let shared = Arc::new(Shared { board: Mutex::new(Board::new(taken, most)), ..Shared::default() });
        let weak = Arc::downgrade(&shared);
        threads::spawn("listener", move || accept(&socket, &weak))?;
        Ok(Self { shared, address })
    }

    /// Address at which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Calls this, from threads of its own, after each change.
    pub fn wake_by(&self, wake: impl Fn() + Send + 'static) {
        self.shared.wake.by(wake);
    }

    /// Picture while there is nothing else.
    ///
    /// # Errors
    /// [`ReadError::Memory`].
    pub fn waiting(&self) -> Result<Array, ReadError> {
        Array::dark(&self.waits())
    }

    pub(crate) fn waits(&self) -> String {
        format!("waiting at {}", self.address)
    }

    pub(crate) fn take(&self) -> Changes {
        self.shared.board().take()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if is_forked() {
            return;
        }
        // Wakes the thread, which finds that nobody is left.
        self.shared = Arc::default();
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_millis(100));
    }
}

fn accept(socket: &TcpListener, shared: &Weak<Shared>) {
    let mut peers: Vec<Weak<Peer>> = Vec::new();
    for stream in socket.incoming() {
        if shared.strong_count() == 0 {
            return;
        }
        let stream = match stream {
            Ok(stream) => stream,
            Err(error) => {
                tracing::warn!("a connection failed: {error}");
                // Such as too many open files, which does not pass at once.
                thread::sleep(Duration::from_millis(100));
                continue;
            }
        };
        peers.retain(|peer| peer.strong_count() > 0);
        let connected: Vec<_> = peers.iter().filter_map(Weak::upgrade).collect();
        if connected.len() >= MOST_CONNECTIONS
            && let Some(silent) = connected.iter().min_by_key(|peer| *peer.heard())
        {
            tracing::debug!("{} gives way: {MOST_CONNECTIONS} programs are connected", of(&silent.stream));
            // Its thread ends, and lets go of it.
            let _ = silent.stream.shutdown(Shutdown::Both);
            peers.retain(|peer| !peer.upgrade().is_some_and(|peer| Arc::ptr_eq(&peer, silent)));
        }
        drop(connected);
        let (shared, peer) = (Weak::clone(shared), Arc::new(Peer { stream, heard: Mutex::new(Instant::now()) }));
        peers.push(Arc::downgrade(&peer));
        let hear = move || {
            let name = of(&peer.stream);
            if let Err(error) = hear(&peer, &name, &shared) {
                tracing::warn!("the connection of {name} is closed: {error}");
            }
        };
        if let Err(error) = threads::spawn("connection", hear) {
            tracing::warn!("there is no thread for a connection: {error}");
        }
    }
}

fn of(stream: &TcpStream) -> String {
    stream.peer_addr().map_or_else(|_| "a program".into(), |address| address.to_string())
}

/// Follows the messages of a connection until it ends, or one is damaged.
fn hear(peer: &Peer, name: &str, shared: &Weak<Shared>) -> Result<(), Box<dyn std::error::Error>> {
    let mut said = 0;
    loop {
        let (mut first, mut stream) = ([0; 4], &peer.stream);
        stream.set_read_timeout(None)?;
        if stream.read(&mut first[..1])? == 0 {
            return Ok(());
        }
        *peer.heard() = Instant::now();
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.read_exact(&mut first[1..])?;
        let mut coming = Coming(Vec::new());
        coming.fill(stream, length(first)?)?;
        let message = Message::parse(&coming.0)?;
        *peer.heard() = Instant::now();
        let Some(shared) = shared.upgrade() else { return Ok(()) };
        if message == Message::Graphics {
            if !shared.has_graphics.swap(true, Ordering::Relaxed) {
                tracing::warn!("{name} draws lines over images, which are not shown");
            }
            continue;
        }
        // Without the lock while the refusal is said.
        let done = shared.board().apply(&message);
        match done {
            Ok(()) => shared.wake.call(),
            Err(refused) if said < MOST_SAID => {
                said += 1;
                let last = if said == MOST_SAID { "; no more is said of this connection" } else { "" };
                tracing::warn!("a message of {name} is refused: {refused}{last}");
            }
            Err(_) => {}
        }
    }
}

/// A message of which bytes come.
struct Coming(Vec<u8>);

impl Coming {
    /// Reads so many bytes. No more memory is taken than bytes come, and by all connections together no more than a message has.
    fn fill(&mut self, mut stream: &TcpStream, length: usize) -> Result<(), Box<dyn std::error::Error>> {
        let end = Instant::now() + PATIENCE;
        while self.0.len() < length {
            let (start, late) = (self.0.len(), "a message was not whole within a minute");
            let piece = PIECE.min(length - start);
            if COMING.fetch_add(piece, Ordering::Relaxed) + piece > message::MOST_BYTES {
                COMING.fetch_sub(piece, Ordering::Relaxed);
                return Err("other programs send too much at the same time; send it again".into());
            }
            self.0.resize(start + piece, 0);
            let mut at = start;
            while at < start + piece {
                let left = end.saturating_duration_since(Instant::now());
                stream.set_read_timeout(Some(left).filter(|left| !left.is_zero()).ok_or(late)?.into())?;
                match stream.read(&mut self.0[at..]) {
                    Ok(0) => return Err("it ended within a message".into()),
                    Ok(more) => at += more,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {
                        return Err(late.into());
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        COMING.fetch_sub(self.0.len(), Ordering::Relaxed);
    }
}
