//! Receives images that other programs send with tev's protocol.
//!
//! | to find | look in |
//! |---|---|
//! | parsing of messages | `message` |
//! | images and their changes | `board` |

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

/// Maximum number of connections.
const MOST_CONNECTIONS: usize = 8;
/// Time limit for receiving a message once it has begun.
const PATIENCE: Duration = Duration::from_secs(60);
/// Bytes to read at once.
const PIECE: usize = 1 << 20;
/// Number of refusals that are logged per connection.
const MOST_SAID: usize = 8;

/// Receives images of other programs on threads of its own; [`ArrayView::follow`](crate::ArrayView::follow) shows them.
///
/// It uses the protocol of the viewer tev. Channels R, G, B and A form one array; each other channel is an array of its
/// own. Messages that name files are refused. A connection is closed, without changing anything, when a message is
/// invalid or incomplete after a minute.
///
/// Limits: 8 connections (a ninth closes the one silent for longest), 512 MiB per message and for all messages that are
/// being received, 1024 bytes per name, 64 channels per image, and 256 arrays in all.
///
///
/// ```
/// use pixelferry_view::Listener;
///
/// let listener = Listener::open("127.0.0.1:0", Vec::new(), Listener::most_bytes())?;
/// assert!(listener.address().ip().is_loopback());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Listener {
    shared: Arc<ListenerState>,
    address: SocketAddr,
}

#[derive(Default)]
struct ListenerState {
    board: Mutex<Board>,
    wake: Wake,
    has_graphics: AtomicBool,
}

/// Bytes of incomplete messages of all connections.
static COMING: AtomicUsize = AtomicUsize::new(0);

/// A connection, and when its last message began or ended.
struct Peer {
    stream: TcpStream,
    heard: Mutex<Instant>,
}

impl Peer {
    fn heard(&self) -> MutexGuard<'_, Instant> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ListenerState {
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener {
    /// Returns the byte limit for all images: 1 GiB, or the value of the environment variable `PIXELFERRY_MEMORY_MIB`.
    pub fn most_bytes() -> u64 {
        memory::most()
    }

    /// Listens on `HOST:PORT`; port 0 lets the system choose one. Images may not use the names in `taken`, and together
    /// take at most `most` bytes: eight for each channel of a pixel, and twenty for its picture.
    ///
    /// # Errors
    /// The system's, such as for an address in use.
    pub fn open(address: &str, taken: Vec<String>, most: u64) -> io::Result<Self> {
        let mut found = address.to_socket_addrs()?;
        let socket = TcpListener::bind(found.next().ok_or(ErrorKind::AddrNotAvailable)?)?;
        let address = socket.local_addr()?;
        let shared = Arc::new(ListenerState { board: Mutex::new(Board::new(taken, most)), ..ListenerState::default() });
        let weak = Arc::downgrade(&shared);
        threads::spawn("listener", move || accept(&socket, &weak))?;
        Ok(Self { shared, address })
    }

    /// Returns the address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Registers a function that its threads call after each change.
    pub fn wake_by(&self, wake: impl Fn() + Send + 'static) {
        self.shared.wake.by(wake);
    }

    /// Returns a placeholder to show while there is nothing else.
    ///
    /// # Errors
    /// [`ReadError::Memory`].
    pub fn waiting(&self) -> Result<Array, ReadError> {
        Array::dark(&self.waits())
    }

    pub(crate) fn waits(&self) -> String {
        format!("waiting for images on {}", self.address)
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
        // Wakes the thread, which then finds the listener gone.
        self.shared = Arc::default();
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_millis(100));
    }
}

fn accept(socket: &TcpListener, shared: &Weak<ListenerState>) {
    let mut peers: Vec<Weak<Peer>> = Vec::new();
    for stream in socket.incoming() {
        if shared.strong_count() == 0 {
            return;
        }
        let stream = match stream {
            Ok(stream) => stream,
            Err(error) => {
                tracing::warn!("a connection failed: {error}");
                // The cause, such as too many open files, does not pass at once.
                thread::sleep(Duration::from_millis(100));
                continue;
            }
        };
        peers.retain(|peer| peer.strong_count() > 0);
        let connected: Vec<_> = peers.iter().filter_map(Weak::upgrade).collect();
        if connected.len() >= MOST_CONNECTIONS
            && let Some(silent) = connected.iter().min_by_key(|peer| *peer.heard())
        {
            tracing::debug!(
                "{} is closed for a new connection: {MOST_CONNECTIONS} programs are connected",
                of(&silent.stream)
            );
            // Its thread then ends and releases it.
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
            tracing::warn!("cannot start a thread for a connection: {error}");
        }
    }
}

fn of(stream: &TcpStream) -> String {
    stream.peer_addr().map_or_else(|_| "a program".into(), |address| address.to_string())
}

/// Reads messages of a connection until it ends or a message is invalid.
fn hear(peer: &Peer, name: &str, shared: &Weak<ListenerState>) -> Result<(), Box<dyn std::error::Error>> {
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
        let mut coming = PartialMessage(Vec::new());
        coming.fill(stream, length(first)?)?;
        let message = Message::parse(&coming.0)?;
        *peer.heard() = Instant::now();
        let Some(shared) = shared.upgrade() else { return Ok(()) };
        if message == Message::Graphics {
            if !shared.has_graphics.swap(true, Ordering::Relaxed) {
                tracing::warn!("{name} draws lines over images, which is unsupported");
            }
            continue;
        }
        // Release the lock before logging.
        let done = shared.board().apply(&message);
        match done {
            Ok(()) => shared.wake.call(),
            Err(refused) if said < MOST_SAID => {
                said += 1;
                let last = if said == MOST_SAID { "; further refusals of this connection are not logged" } else { "" };
                tracing::warn!("a message of {name} is refused: {refused}{last}");
            }
            Err(_) => {}
        }
    }
}

/// A partly received message.
struct PartialMessage(Vec<u8>);

impl PartialMessage {
    /// Reads `length` bytes. Memory grows with the bytes that arrive, and all connections together use at most the size
    /// limit of one message.
    fn fill(&mut self, mut stream: &TcpStream, length: usize) -> Result<(), Box<dyn std::error::Error>> {
        let end = Instant::now() + PATIENCE;
        while self.0.len() < length {
            let (start, late) = (self.0.len(), "a message was incomplete after a minute");
            let piece = PIECE.min(length - start);
            if COMING.fetch_add(piece, Ordering::Relaxed) + piece > message::MOST_BYTES {
                COMING.fetch_sub(piece, Ordering::Relaxed);
                return Err("other programs are sending too much at the same time; send the message again".into());
            }
            self.0.resize(start + piece, 0);
            let mut at = start;
            while at < start + piece {
                let left = end.saturating_duration_since(Instant::now());
                stream.set_read_timeout(Some(left).filter(|left| !left.is_zero()).ok_or(late)?.into())?;
                match stream.read(&mut self.0[at..]) {
                    Ok(0) => return Err("the connection ended within a message".into()),
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

impl Drop for PartialMessage {
    fn drop(&mut self) {
        COMING.fetch_sub(self.0.len(), Ordering::Relaxed);
    }
}
