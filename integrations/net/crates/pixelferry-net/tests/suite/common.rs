//! Helpers shared by the tests of the network: pictures known byte for byte, workers that compute them, and reading the
//! shown frame.

use pixelferry::{CpuBackend, ImageDesc, Link, LinkCore, LinkOptions, MemoryDisplay, Region, SurfaceDesc};
use pixelferry_net::{Assembly, Codec, Job, Net, NetOptions, Tile, Tiles, Update};
use pixelferry_testing::{Patience, wait_until};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::JoinHandle;
use std::time::Duration;

/// Long enough for many looks a second, short enough to end soon.
pub const LOOK: Duration = Duration::from_millis(50);
/// A deadline that no test waits for.
pub const NEVER: Duration = Duration::from_secs(3600);

/// Byte `byte` of the row `y` of the picture that `seed` stands for. Never 0: black is nobody's pixel.
pub fn expected_byte(byte: usize, y: u32, seed: u32) -> u8 {
    let mut hash = (byte as u32).wrapping_mul(0x9E37_79B1)
        ^ y.wrapping_mul(0x85EB_CA77).wrapping_add(seed.wrapping_mul(0xC2B2_AE3D));
    hash ^= hash >> 15;
    hash = hash.wrapping_mul(0x2C1B_3C6D);
    (hash >> 16) as u8 | 1
}

/// Tight rows of a part of that picture.
pub fn expected(image: &ImageDesc, region: Region, seed: u32) -> Vec<u8> {
    let pixel = image.format.bytes_per_pixel();
    let (first, len) = (region.x as usize * pixel, region.width as usize * pixel);
    let rows = region.y..region.y + region.height;
    rows.flat_map(|y| (first..first + len).map(move |byte| expected_byte(byte, y, seed))).collect()
}

/// Computes a job: its arguments are the seed.
pub fn compute(job: &mut Job) {
    let seed = u32::from_le_bytes(*job.args().first_chunk().expect("a seed"));
    let (image, region) = (job.image(), job.region());
    job.pixels().copy_from_slice(&expected(&image, region, seed));
}

/// Computes jobs until it is told to stop; the number of tiles.
pub fn work(tile: &Tile, stop: &AtomicBool) -> pixelferry_net::Result<usize> {
    let mut done = 0;
    while !stop.load(Ordering::Relaxed) {
        if let Some(mut job) = tile.next(LOOK)? {
            compute(&mut job);
            tile.publish(job)?;
            done += 1;
        }
    }
    Ok(done)
}

/// Workers on threads, each with a connection of its own.
pub struct Crew {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<usize>>,
}

impl Crew {
    pub fn start(count: usize, hub: &str, scene: &str, codec: Codec) -> Self {
        Self::join(count, &NetOptions::through(hub), scene, codec)
    }

    /// Workers that join with these options.
    pub fn join(count: usize, options: &NetOptions, scene: &str, codec: Codec) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let worker = |_| {
            let net = Net::join(options.clone()).expect("the hub listens");
            let tile = net.tile(scene, None).expect("joined").with_codec(codec);
            let stop = stop.clone();
            std::thread::spawn(move || work(&tile, &stop).expect("the network stays"))
        };
        let threads = (0..count).map(worker).collect();
        Self { stop, threads }
    }

    /// Tiles that each computed.
    pub fn stop(self) -> Vec<usize> {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.into_iter().map(|thread| thread.join().expect("no worker panics")).collect()
    }
}

/// Lock that lets other tests of this program run meanwhile, or not.
static TURN: RwLock<()> = RwLock::new(());

enum Turn {
    Alone(#[allow(dead_code)] RwLockWriteGuard<'static, ()>),
    Beside(#[allow(dead_code)] RwLockReadGuard<'static, ()>),
}

thread_local! {
    /// As long as this thread lasts, which is the test's own.
    static HELD: RefCell<Option<Turn>> = const { RefCell::new(None) };
}

/// No other test runs from now to this one's end: for those that count what the process or the machine has.
pub fn alone() {
    HELD.take();
    let turn = Turn::Alone(TURN.write().unwrap_or_else(PoisonError::into_inner));
    HELD.set(Some(turn));
}

/// This test runs beside others.
fn beside() {
    HELD.with_borrow_mut(|held| {
        held.get_or_insert_with(|| Turn::Beside(TURN.read().unwrap_or_else(PoisonError::into_inner)));
    });
}

/// A hub on a port that the system chooses.
pub fn hub() -> (Net, String) {
    beside();
    let net = Net::join(NetOptions::hub("tcp/127.0.0.1:0")).expect("loopback");
    let endpoint = net.endpoints().expect("an endpoint")[0].clone();
    (net, endpoint)
}

pub fn link(image: ImageDesc) -> Link {
    let backend = Arc::new(CpuBackend::new().expect("threads"));
    Link::open(backend, MemoryDisplay::new(), SurfaceDesc::Image(image), LinkOptions::default()).expect("memory")
}

/// All bytes that the next frame of a link keeps of the one before: what is on show.
pub fn bytes(link: &mut LinkCore) -> Vec<u8> {
    let mut frame = link.acquire().expect("a frame");
    let (memory, view) = frame.target().expect("memory").into_parts();
    let pixelferry::View::Image(view) = view else { panic!("a picture") };
    let mut all = Vec::new();
    let mut keep = |bytes: &[u8]| {
        for y in 0..view.extent.height {
            let start = view.row_start(y) - view.span().start;
            all.extend_from_slice(&bytes[start..start + view.row_len()]);
        }
        Ok(())
    };
    memory.map_read(view.span(), &mut keep).expect("readable");
    all
}

pub fn wait_for_workers(assembly: &Assembly, count: usize) {
    wait_until("all workers", || assembly.workers() == count);
}

/// Shows until a frame is there.
pub fn show(assembly: &mut Assembly, link: &mut LinkCore) -> Tiles {
    let mut patience = Patience::new();
    loop {
        if let Update::Tiles(tiles) = assembly.show(link, LOOK).expect("shown") {
            return tiles;
        }
        assert!(!patience.is_over(), "no frame came; {} refused", assembly.refused());
    }
}
