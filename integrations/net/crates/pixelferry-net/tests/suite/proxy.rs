//! A TCP proxy on loopback that stands for a bad network: slow, narrow, silent, cut off, and one that loses or changes bytes.

use pixelferry_testing::Dice;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Treatment of bytes in one direction. By default they go through.
#[derive(Debug, Clone, Copy, Default)]
pub struct LinkQuality {
    /// Each byte comes so much later.
    pub delay: Duration,
    /// And up to so much more.
    pub jitter: Duration,
    /// Bytes a second; no limit where this is 0.
    pub rate: u64,
    /// Nothing comes, though the connection stays: bytes wait.
    pub is_silent: bool,
    /// Number of bytes, sent from now on, that still come. A connection that lost some gets none ever after.
    pub lost_after: Option<u64>,
    /// Change to make.
    pub change: Option<Change>,
}

/// Bytes to change.
#[derive(Debug, Clone, Copy)]
pub enum Change {
    /// One bit of about one byte in so many.
    OneIn(usize),
    /// The highest bit of the byte at this place in each header of pixelferry's.
    Header(usize),
}

/// Bytes that are read at once; a rate is kept on average of so many.
const PART: usize = 16 << 10;
/// Parts on their way; more wait with the sender.
const MOST_PARTS: usize = 64;
/// A sleep may be so much longer than it should; the rate is kept all the same.
const LATE: Duration = Duration::from_millis(5);
/// Between two looks whether something changed.
const LOOK: Duration = Duration::from_millis(2);

/// Up is from who connects to who listens.
const UP: usize = 0;
const DOWN: usize = 1;

struct ProxyState {
    ways: Mutex<[LinkQuality; 2]>,
    /// Bytes of each way since its [`LinkQuality`] was set.
    bytes: [AtomicU64; 2],
    refuses: AtomicBool,
    is_over: AtomicBool,
    connections: Mutex<Vec<Weak<Ends>>>,
}

/// The two ends of one connection: who connected, and who listens.
struct Ends([TcpStream; 2]);

impl Ends {
    fn shut(&self) {
        for end in &self.0 {
            // One that is closed already stays so.
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

/// A proxy before one endpoint.
pub struct Proxy {
    state: Arc<ProxyState>,
    endpoint: String,
    listener: Option<JoinHandle<()>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Proxy {
    /// Before an endpoint such as `tcp/127.0.0.1:7447`, whose protocol it leaves as it is.
    pub fn before(endpoint: &str) -> Self {
        let (protocol, address) = endpoint.split_once('/').expect("protocol/address");
        let target: SocketAddr = address.parse().expect("an address of numbers");
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        listener.set_nonblocking(true).expect("a socket");
        let endpoint = format!("{protocol}/{}", listener.local_addr().expect("bound"));
        let state = Arc::new(ProxyState {
            ways: Mutex::default(),
            bytes: Default::default(),
            refuses: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            connections: Mutex::default(),
        });
        let told = state.clone();
        let listener = Some(std::thread::spawn(move || accept(&listener, target, &told)));
        Self { state, endpoint, listener }
    }

    /// Tells where to connect instead.
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// From now on, for connections that are there and those to come.
    pub fn set(&self, up: LinkQuality, down: LinkQuality) {
        let mut ways = lock(&self.state.ways);
        self.state.bytes.iter().for_each(|bytes| bytes.store(0, Ordering::Relaxed));
        *ways = [up, down];
    }

    /// Ends every connection, and those to come at once, until [`Proxy::heal`].
    pub fn refuse(&self) {
        self.state.refuses.store(true, Ordering::Relaxed);
        self.cut();
    }

    /// Ends every connection, wherever its bytes are.
    pub fn cut(&self) {
        lock(&self.state.connections).iter().filter_map(Weak::upgrade).for_each(|ends| ends.shut());
    }

    /// All is well from now on, except for connections that lost bytes.
    pub fn heal(&self) {
        self.set(LinkQuality::default(), LinkQuality::default());
        self.state.refuses.store(false, Ordering::Relaxed);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Relaxed);
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
        self.cut();
    }
}

fn accept(listener: &TcpListener, target: SocketAddr, state: &Arc<ProxyState>) {
    while !state.is_over.load(Ordering::Relaxed) {
        let Ok((from, _)) = listener.accept() else {
            std::thread::sleep(LOOK);
            continue;
        };
        if state.refuses.load(Ordering::Relaxed) {
            continue;
        }
        let Ok(to) = TcpStream::connect(target) else { continue };
        for end in [&from, &to] {
            end.set_nonblocking(false).expect("a socket");
            end.set_nodelay(true).expect("a socket");
        }
        let ends = Arc::new(Ends([from, to]));
        let mut connections = lock(&state.connections);
        connections.retain(|ends| ends.strong_count() > 0);
        connections.push(Arc::downgrade(&ends));
        for way in [UP, DOWN] {
            let (sender, receiver) = sync_channel(MOST_PARTS);
            let (ends, state) = ((ends.clone(), ends.clone()), (state.clone(), state.clone()));
            std::thread::spawn(move || read(&ends.0.0[way], way, &state.0, &sender));
            std::thread::spawn(move || {
                write(&ends.1.0[1 - way], way, &state.1, &receiver);
                ends.1.shut();
            });
        }
    }
}

/// Bytes, and when they are due.
type DueBytes = (Instant, Vec<u8>);

fn read(mut from: &TcpStream, way: usize, state: &ProxyState, sender: &SyncSender<DueBytes>) {
    let mut dice = Dice(way as u64 + 1);
    let mut part = vec![0; PART];
    let mut due = Instant::now();
    let mut changer = Changer::default();
    let mut is_lost = false;
    while let Ok(len @ 1..) = from.read(&mut part) {
        let (now, before) = (lock(&state.ways)[way], state.bytes[way].fetch_add(len as u64, Ordering::Relaxed));
        let mut bytes = part[..len].to_vec();
        if let Some(limit) = now.lost_after.filter(|_| !is_lost) {
            let kept = limit.saturating_sub(before).min(len as u64) as usize;
            is_lost = kept < len;
            bytes.truncate(kept);
        } else if is_lost {
            bytes.clear();
        }
        if let Some(change) = now.change {
            changer.apply(change, &mut bytes, &mut dice);
        }
        let jitter = now.jitter.mul_f64(dice.below(1000) as f64 / 1000.0);
        // Later bytes do not come earlier.
        due = due.max(Instant::now() + now.delay + jitter);
        if sender.send((due, bytes)).is_err() {
            break;
        }
    }
}

/// Changes bytes, also where a header's beginning came in the part before.
#[derive(Default)]
struct Changer {
    /// Bytes of the beginning that were seen last.
    matched: usize,
    /// Bytes until the one to change.
    ahead: Option<usize>,
}

impl Changer {
    fn apply(&mut self, change: Change, bytes: &mut [u8], dice: &mut Dice) {
        match change {
            Change::OneIn(many) => {
                for byte in bytes {
                    if dice.below(many) == 0 {
                        *byte ^= 1 << dice.below(8);
                    }
                }
            }
            Change::Header(place) => {
                let beginning = pixelferry_net::wire::MAGIC;
                for byte in bytes {
                    match &mut self.ahead {
                        Some(0) => {
                            *byte ^= 0x80;
                            self.ahead = None;
                        }
                        Some(ahead) => *ahead -= 1,
                        None if *byte == beginning[self.matched] => {
                            self.matched += 1;
                            if self.matched == beginning.len() {
                                (self.matched, self.ahead) = (0, place.checked_sub(beginning.len()));
                            }
                        }
                        None => self.matched = usize::from(*byte == beginning[0]),
                    }
                }
            }
        }
    }
}

fn write(mut to: &TcpStream, way: usize, state: &ProxyState, receiver: &Receiver<DueBytes>) {
    let mut free = Instant::now();
    while let Ok((due, bytes)) = receiver.recv() {
        let rate = lock(&state.ways)[way].rate;
        free = free.max(Instant::now() - LATE);
        if rate > 0 {
            free += Duration::from_secs_f64(bytes.len() as f64 / rate as f64);
        }
        std::thread::sleep(due.max(free).saturating_duration_since(Instant::now()));
        wait_while_silent(way, state);
        if to.write_all(&bytes).is_err() {
            return;
        }
    }
    // A silent peer does not say either that it is over.
    wait_while_silent(way, state);
}

fn wait_while_silent(way: usize, state: &ProxyState) {
    while lock(&state.ways)[way].is_silent && !state.is_over.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK);
    }
}
