//! A gate that holds back queued work until somebody waits for it.
//!
//! A GPU that must switch between a compute and a graphics context (0.16 ms each way on the one measured) switches as
//! soon as either has work. Kernels that become runnable one by one while OpenGL draws cost two switches each. Held
//! back behind a word in host memory (`cuStreamWaitValue32`) and released together, they cost two in all.
//!
//! A gate never stays closed. Every call of this crate except a launch or an event opens it. A watchdog opens it after
//! some milliseconds, because other code may wait for the whole device. Many launches open it, because the driver's
//! queue is finite.

use super::api::{Api, call};
use super::{Failure, INVALID_VALUE};
use cudarc::driver::sys as cu;
use interop_core::describe::threads;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// `CU_STREAM_WAIT_VALUE_GEQ`; the comparison is cyclic, so the counter may wrap.
const GEQ: u32 = 0;
/// `CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP`.
const WORD_FLAGS: u32 = 1 | 2;
/// A gate that nothing else opens is closed for one to two of these.
const WATCH: Duration = Duration::from_millis(10);
/// Ticks without work after which the watchdog sleeps until it is woken.
const IDLE_TICKS: u32 = 100;
/// Largest number of launches behind one gate.
const MOST_LAUNCHES: u32 = 128;

/// The word that the stream waits for.
struct Word(NonNull<u32>);

// SAFETY: host memory that lives until `Gate::close` frees it; it is only accessed atomically.
unsafe impl Send for Word {}

impl Word {
    fn set(&self, value: u32) {
        // SAFETY: aligned, live memory; the device only reads it.
        unsafe { AtomicU32::from_ptr(self.0.as_ptr()) }.store(value, Ordering::Release);
    }
}

struct GateCounts {
    /// `None` once the gate is closed for good.
    word: Option<Word>,
    held: u32,
    open: u32,
    launches: u32,
    /// Counts openings, so that the watchdog can tell a gate that stays closed from one that was closed again.
    openings: u32,
    asleep: bool,
}

impl GateCounts {
    fn let_go(&mut self) {
        if self.open != self.held
            && let Some(word) = &self.word
        {
            word.set(self.held);
            self.open = self.held;
            self.launches = 0;
            self.openings = self.openings.wrapping_add(1);
        }
    }
}

#[derive(Clone)]
struct GateState(Arc<(Mutex<GateCounts>, Condvar)>);

impl GateState {
    fn lock(&self) -> MutexGuard<'_, GateCounts> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A gate in one stream.
pub struct Gate {
    address: NonNull<u32>,
    device: cu::CUdeviceptr,
    shared: GateState,
}

// SAFETY: the address only names host memory; all access goes through the lock.
unsafe impl Send for Gate {}
// SAFETY: as above.
unsafe impl Sync for Gate {}

impl Gate {
    /// Creates an open gate. The context must be current.
    pub fn new(api: &'static Api) -> Result<Self, Failure> {
        let mut address = ptr::null_mut();
        // SAFETY: writes the address to the given location; the context is current.
        unsafe { call!(api.driver, cuMemHostAlloc(&raw mut address, size_of::<u32>(), WORD_FLAGS)) }?;
        let address: NonNull<u32> =
            NonNull::new(address.cast()).ok_or(Failure { operation: "cuMemHostAlloc", code: INVALID_VALUE })?;
        let mut device = 0;
        // SAFETY: memory allocated just now for the device, too.
        let mapped =
            unsafe { call!(api.driver, cuMemHostGetDevicePointer_v2(&raw mut device, address.as_ptr().cast(), 0)) };
        let word = Word(address);
        word.set(0);
        let state = GateCounts { word: Some(word), held: 0, open: 0, launches: 0, openings: 0, asleep: false };
        let shared = GateState(Arc::new((Mutex::new(state), Condvar::new())));
        let gate = Self { address, device, shared: shared.clone() };
        let watched = threads::spawn("pixelferry gate", move || watch(&shared));
        if mapped.is_err() || watched.is_err() {
            gate.close(api);
            mapped?;
            return Err(Failure { operation: "cuMemHostAlloc", code: INVALID_VALUE });
        }
        Ok(gate)
    }

    /// Closes the gate in `stream`. The context must be current.
    pub fn defer_submission(&self, api: &Api, stream: cu::CUstream) -> Result<(), Failure> {
        let mut state = self.shared.lock();
        let next = state.held.wrapping_add(1);
        // SAFETY: stream and word are live; the wait is passed when the word reaches the value.
        unsafe { call!(api.driver, cuStreamWaitValue32_v2(stream, self.device, next, GEQ)) }?;
        state.held = next;
        if std::mem::take(&mut state.asleep) {
            self.shared.0.1.notify_one();
        }
        Ok(())
    }

    /// Opens the gate for all work queued so far.
    pub fn let_go(&self) {
        self.shared.lock().let_go();
    }

    #[cfg(test)]
    pub fn is_open(&self) -> bool {
        let state = self.shared.lock();
        state.open == state.held
    }

    /// Counts a launch; opens the gate where too many launches wait behind it.
    pub fn launched(&self) {
        let mut state = self.shared.lock();
        state.launches += 1;
        if state.launches >= MOST_LAUNCHES {
            state.let_go();
        }
    }

    /// Opens the gate for good and frees the word. The context must be current and the stream empty.
    pub fn close(&self, api: &Api) {
        let word = {
            let mut state = self.shared.lock();
            state.let_go();
            state.word.take()
        };
        self.shared.0.1.notify_one();
        if word.is_some() {
            // SAFETY: allocated once; taken out above, so it is freed once, and nobody writes it any more.
            Failure::log(unsafe { call!(api.driver, cuMemFreeHost(self.address.as_ptr().cast())) });
        }
    }
}

/// Opens the gate after it has been closed for a while; ends with the gate.
fn watch(shared: &GateState) {
    let mut seen = None;
    let mut idle = 0;
    loop {
        thread::sleep(WATCH);
        let mut state = shared.lock();
        if state.word.is_none() {
            return;
        }
        let shut = (state.held != state.open).then_some(state.openings);
        if shut.is_some() && shut == seen {
            state.let_go();
        }
        idle = if shut.is_some() { 0 } else { idle + 1 };
        seen = shut;
        if idle > IDLE_TICKS {
            state.asleep = true;
            while state.asleep && state.word.is_some() {
                state = shared.0.1.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            idle = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ffi::Queue;
    use crate::ffi::double::{DOUBLE, reset, with};
    use pixelferry_testing::wait_until;

    #[test]
    fn a_gate_opens_by_any_call_by_many_launches_and_by_itself() {
        reset(None);
        let queue = Queue::new(&DOUBLE, 0).unwrap();
        let is_open = || queue.gate_is_open();
        assert!(is_open());
        // It opens on its own after a while, in which this thread may have been stopped.
        wait_until("the gate, shut", || {
            queue.defer_submission();
            !is_open()
        });
        queue.synchronize().unwrap();
        assert!(is_open(), "a wait found the gate shut");
        queue.defer_submission();
        (0..super::MOST_LAUNCHES).for_each(|_| queue.launched());
        assert!(is_open(), "too many launches wait behind the gate");
        queue.defer_submission();
        wait_until("the watchdog", is_open);
        // Asleep after a while without work, and awake again.
        std::thread::sleep(super::WATCH * (super::IDLE_TICKS + 20));
        queue.defer_submission();
        wait_until("the watchdog, awake again", is_open);
        drop(queue);
        assert_eq!(with(|s| s.live()), Vec::<&str>::new());
    }
}
