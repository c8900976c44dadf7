//! Scans on the CPU in one pass over memory. A thread sums a tile, which then lies in its second-level cache. It waits
//! for the total of the preceding tiles, and processes the tile again. Threads take tiles in order, so each preceding
//! tile is being processed.

use super::combine::Combine;
use super::interpret::CpuProgram;
use super::tasks;
use super::vectors::Input;
use crate::element::Element;
use crate::monoid::Scan;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Bytes of a tile: the tile, its input and the next one's input fit the second-level cache of current processors.
const TILE_BYTES: usize = 1 << 17;

/// Iterations of waiting before the thread yields.
const SPINS: u32 = 200;

/// Slot in which a tile waits for the result of the preceding tiles. It fills whole cache lines, so that a waiting
/// thread does not disturb others.
#[repr(align(128))]
struct Seat<T> {
    /// The tile whose turn it is, if it uses this seat.
    tile: AtomicUsize,
    before: Mutex<T>,
}

/// The order of the tiles. Tile `t` waits in seat `t % n`, because at most `n` tiles are processed at a time.
struct Turn<T> {
    seats: Vec<Seat<T>>,
    /// True if a tile was abandoned: the turn is not passed on any more.
    broken: AtomicBool,
}

impl<T: Copy> Turn<T> {
    fn new(workers: usize, first: T) -> Self {
        let seat =
            |at| Seat { tile: AtomicUsize::new(if at == 0 { 0 } else { usize::MAX }), before: Mutex::new(first) };
        Self { seats: (0..workers.max(1)).map(seat).collect(), broken: AtomicBool::new(false) }
    }

    /// Waits for the tile's turn and passes it on, with the value that `pass` computes from the one before. `None` if
    /// the turn will never come.
    fn take(&self, tile: usize, pass: impl FnOnce(T) -> T) -> Option<T> {
        let seat = |tile: usize| &self.seats[tile % self.seats.len()];
        let mut spins = 0;
        while seat(tile).tile.load(Ordering::Acquire) != tile {
            if self.broken.load(Ordering::Relaxed) {
                return None;
            }
            spins += 1;
            if spins % SPINS == 0 { std::thread::yield_now() } else { std::hint::spin_loop() }
        }
        let before = *seat(tile).before.lock().unwrap_or_else(PoisonError::into_inner);
        let next = seat(tile + 1);
        *next.before.lock().unwrap_or_else(PoisonError::into_inner) = pass(before);
        next.tile.store(tile + 1, Ordering::Release);
        Some(before)
    }
}

/// Marks the turn as broken if a panic unwinds.
struct Guard<'a>(&'a AtomicBool);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// Computes the running values of the program.
pub fn scan<T: Element>(program: &CpuProgram, leaves: &[&[u8]], out: &mut [T], combine: &dyn Combine<T>, scan: Scan) {
    let (len, tile_len) = (out.len(), (TILE_BYTES / size_of::<T>()).max(1));
    let turn = Turn::new(tasks(), combine.identity());
    let exclusive = scan == Scan::Exclusive;
    let tiles = Mutex::new(out.chunks_mut(tile_len).enumerate());
    let next = || tiles.lock().unwrap_or_else(PoisonError::into_inner).next();
    let task = || {
        let _guard = Guard(&turn.broken);
        let (mut worker, mut scratch) = (program.worker(leaves), Vec::new());
        while let Some((at, out)) = next() {
            let start = at * tile_len;
            let values = match worker.in_place(start..start + out.len()) {
                Some(values) => values,
                None => {
                    scratch.resize(out.len(), T::default());
                    worker.run(start, &mut scratch);
                    &scratch
                }
            };
            let parts = combine.parts(values);
            let total = combine.fold(&parts);
            let Some(before) = turn.take(at, |before| combine.pair(before, total)) else { return };
            let next = (at + tasks()) * tile_len;
            let ahead = (next + tile_len <= len).then(|| worker.in_place(next..next + tile_len)).flatten();
            let input = Input { values, ahead: ahead.unwrap_or_default() };
            combine.scan(input, &parts, before, exclusive, out);
        }
    };
    if tasks() > 1 {
        rayon::scope(|scope| (0..tasks()).for_each(|_| scope.spawn(|_| task())));
    } else {
        task();
    }
}
