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
use std::io::{self, ErrorKind, Read};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

/// Most programs at once.
const MOST_CONNECTIONS: usize = 8;
/// Most refusals that are said of a connection.
const MOST_SAID: usize = 8;

/// Receives images of other programs, on threads of its own; [`ArrayView::follow`](crate::ArrayView::follow) shows them.
///
/// It speaks the protocol of the viewer tev. Channels R, G, B and A are one array, others each one of its own. Messages that name
/// files are refused. A message that is damaged ends its connection, and changes nothing. At most 8 programs are heard at once, with
/// messages of at most 512 MiB, names of 1024 bytes, 64 channels, and 256 arrays in all.
///
/// ```
/// use pixelferry_view::Listener;
///
/// let listener = Listener::open("127.0.0.1:0", Vec::new(), Listener::MOST_BYTES)?;
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

impl Shared {
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener {
    /// Bytes of all images that are a good limit: 2 GiB.
    pub const MOST_BYTES: usize = 2 << 30;

    /// Listens at `HOST:PORT`, whose port 0 is any that is free. No image may have one of the names `taken`, and all together have at
    /// most `most` bytes, four for each channel of a pixel.
    ///
    /// # Errors
    /// The system's, such as for an address in use.
    pub fn open(address: &str, taken: Vec<String>, most: usize) -> io::Result<Self> {
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
    let places = Arc::new(());
    for stream in socket.incoming() {
        if shared.strong_count() == 0 {
            return;
        }
        let stream = match stream {
            Ok(stream) if Arc::strong_count(&places) <= MOST_CONNECTIONS => stream,
            Ok(stream) => {
                tracing::warn!("{} is not heard: {MOST_CONNECTIONS} programs are connected", of(&stream));
                continue;
            }
            Err(error) => {
                tracing::warn!("a connection failed: {error}");
                // Such as too many open files, which does not pass at once.
                thread::sleep(Duration::from_millis(100));
                continue;
            }
        };
        let (shared, place) = (Weak::clone(shared), Arc::clone(&places));
        let hear = move || {
            let _place = place;
            let name = of(&stream);
            if let Err(error) = hear(stream, &name, &shared) {
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
fn hear(mut stream: TcpStream, name: &str, shared: &Weak<Shared>) -> Result<(), Box<dyn std::error::Error>> {
    let (mut bytes, mut said) = (Vec::new(), 0);
    loop {
        bytes.clear();
        if stream.by_ref().take(4).read_to_end(&mut bytes)? == 0 {
            return Ok(());
        }
        let ends = "it ended within a message";
        let length = length(*bytes.first_chunk().ok_or(ends)?)?;
        bytes.clear();
        // No more memory is taken than bytes come.
        if stream.by_ref().take(length as u64).read_to_end(&mut bytes)? < length {
            return Err(ends.into());
        }
        let message = Message::parse(&bytes)?;
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
        bytes.shrink_to(1 << 20);
    }
}
