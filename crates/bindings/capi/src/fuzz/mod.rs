//! Calls of the header in any order, with handles of all ages, kinds and threads, also from inside the functions that a caller gives.
//!
//! `PROPTEST_CASES=8000 cargo test -p pixelferry-capi --lib fuzz -- --nocapture` makes about a million calls and counts them.

mod calls;

use self::calls::{CALLS, ELSEWHERE};
use crate::abi::*;
use crate::exports::{
    backend, display, frame, link, log, machine, memory, objects, shared_link, shown_frame, stream, target,
};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ffi::CStr;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// One call: which, on what, with which numbers.
#[derive(Debug, Clone)]
struct FuzzCall {
    call: usize,
    which: [u16; 3],
    n: [u32; 4],
}

const KINDS: usize = 14;
/// Places of [`World::held`].
const BACKEND: usize = 0;
const KERNEL: usize = 1;
const MEMORY: usize = 2;
const DISPLAY: usize = 3;
const LINK: usize = 4;
const FRAME: usize = 5;
const SHOWN: usize = 6;
const OUTLET: usize = 7;
const INTAKE: usize = 8;
const SHARED: usize = 9;
const STARTED: usize = 10;
const TARGET: usize = 11;
const SUBSCRIBER: usize = 12;
const TEXT: usize = 13;

/// Objects of one thread's program.
#[derive(Default)]
struct World {
    /// Handles of each kind that were ever made, the freed ones among them.
    held: RefCell<[Vec<usize>; KINDS]>,
    /// Those that a call took for good; none may be taken again.
    gone: RefCell<BTreeSet<usize>>,
    script: RefCell<std::vec::IntoIter<FuzzCall>>,
    depth: Cell<u32>,
    logging: Cell<bool>,
    wrong: RefCell<Option<String>>,
}

thread_local! {
    static WORLD: World = World::default();
}

static ENDED: [AtomicU64; 21] = [const { AtomicU64::new(0) }; 21];

impl World {
    /// Any number in a handle's place, in most cases a handle of the kind.
    fn any<T>(&self, kind: usize, which: u16) -> *mut T {
        let held = self.held.borrow();
        let of = |kind: usize| held[kind].get(usize::from(which) % held[kind].len().max(1)).copied();
        let found = match which >> 11 {
            0 => Some(usize::from(which)),
            1 => of(usize::from(which) % TEXT),
            2 => Some(usize::MAX - usize::from(which & 7)),
            3 => Some((&raw const *self).addr()),
            _ => of(kind),
        };
        ptr::without_provenance_mut(found.unwrap_or(0))
    }

    /// Notes how a call ended that gives a handle, which is null after an error.
    fn made<T>(&self, kind: usize, status: pf_status, handle: *mut T) -> pf_status {
        if (status == PIXELFERRY_OK) == handle.is_null() {
            self.fails(format!("a call gave {status} and {handle:?}"));
        }
        if status == PIXELFERRY_OK {
            self.held.borrow_mut()[kind].push(handle.addr());
        }
        status
    }

    /// Notes how a call ended after which the handle is gone.
    fn took<T>(&self, status: pf_status, handle: *mut T) -> pf_status {
        if status == PIXELFERRY_OK && !handle.is_null() && !self.gone.borrow_mut().insert(handle.addr()) {
            self.fails(format!("{handle:?} was freed twice"));
        }
        status
    }

    fn fails(&self, what: String) {
        self.wrong.borrow_mut().get_or_insert(what);
    }

    /// The next steps, from inside a function that was given.
    fn few(&self, count: u32) {
        if self.depth.get() < 3 {
            self.depth.set(self.depth.get() + 1);
            (0..count).take_while(|_| self.step()).for_each(drop);
            self.depth.set(self.depth.get() - 1);
        }
    }

    /// False where the script is over.
    fn step(&self) -> bool {
        let Some(step) = self.script.borrow_mut().next() else { return false };
        let (name, call) = CALLS[step.call % CALLS.len()];
        let status = call(self, &step);
        match usize::try_from(status).ok().and_then(|at| ENDED.get(at)) {
            // That one counts the calls it makes.
            Some(count) => drop(count.fetch_add(u64::from(name != ELSEWHERE), Ordering::Relaxed)),
            None => self.fails(format!("{name} gave {status}, which is no status")),
        }
        if status == PIXELFERRY_ERROR_PANIC {
            // SAFETY: the message lasts until the next failure on this thread.
            let said = unsafe { CStr::from_ptr(machine::pf_last_error_message()) };
            self.fails(format!("{name}: {}", said.to_string_lossy()));
        }
        true
    }

    /// Frees all, oldest or newest first; a handle may be gone.
    fn free_all(&self, newest_first: bool) {
        let held = self.held.take();
        for (kind, handles) in held.iter().enumerate() {
            let mut handles = handles.clone();
            if newest_first {
                handles.reverse();
            }
            for handle in handles {
                free(kind, handle);
            }
        }
    }
}

fn free(kind: usize, handle: usize) -> pf_status {
    fn at<T>(handle: usize) -> *mut T {
        ptr::without_provenance_mut(handle)
    }
    match kind {
        BACKEND => backend::pf_backend_free(at(handle)),
        KERNEL => backend::pf_kernel_free(at(handle)),
        MEMORY => memory::pf_memory_free(at(handle)),
        DISPLAY => display::pf_display_free(at(handle)),
        LINK => link::pf_link_free(at(handle)),
        FRAME => frame::pf_frame_cancel(at(handle)),
        SHOWN => shown_frame::pf_shown_release(at(handle)),
        OUTLET => objects::pf_outlet_free(at(handle)),
        INTAKE => objects::pf_intake_free(at(handle)),
        SHARED => shared_link::pf_shared_link_free(at(handle)),
        STARTED => shared_link::pf_started_free(at(handle)),
        TARGET => target::pf_target_free(at(handle)),
        SUBSCRIBER => stream::pf_subscriber_free(at(handle)),
        _ => machine::pf_string_free(ptr::with_exposed_provenance_mut(handle)),
    }
}

/// Runs the next steps on a thread of their own, with the handles of this one.
fn elsewhere(world: &World, held: [Vec<usize>; KINDS], steps: Vec<FuzzCall>) -> pf_status {
    let body = move || {
        WORLD.with(|other| {
            let lens = held.each_ref().map(Vec::len);
            *other.held.borrow_mut() = held;
            *other.script.borrow_mut() = steps.into_iter();
            while other.step() {}
            // Objects of this thread go with it; the rest is the other's.
            let mut made = other.held.take();
            made.iter_mut().zip(lens).for_each(|(handles, len)| drop(handles.drain(..len)));
            *other.held.borrow_mut() = made;
            other.free_all(false);
            (other.wrong.take(), other.gone.take())
        })
    };
    match std::thread::spawn(body).join() {
        Ok((wrong, gone)) => {
            wrong.into_iter().for_each(|what| world.fails(what));
            for handle in gone {
                world.took(PIXELFERRY_OK, ptr::without_provenance_mut::<u8>(handle));
            }
        }
        Err(_) => world.fails("a thread panicked".into()),
    }
    PIXELFERRY_OK
}

/// All that the steps do wrong, and whether a new link works behind them.
fn run(steps: Vec<FuzzCall>, newest_first: bool) -> Result<(), TestCaseError> {
    WORLD.with(|world| {
        *world.script.borrow_mut() = Vec::new().into_iter();
        let started = [0, 0, 1, 1, 7, 7].map(|call| FuzzCall {
            call,
            which: [u16::MAX; 3],
            n: [1, 1 | 20 << 8, 7 << 8, 2 | 3 << 8],
        });
        *world.script.borrow_mut() = started.into_iter().chain(steps).collect::<Vec<_>>().into_iter();
        while world.step() {}
        // SAFETY: there is no function.
        let _ = unsafe { log::pf_set_log(None, ptr::null_mut(), 0) };
        world.free_all(newest_first);
        world.gone.take();
        world.wrong.take().map_or(Ok(()), |what| Err(TestCaseError::fail(what)))
    })?;
    crate::tests::a_link_works();
    Ok(())
}

fn steps() -> impl Strategy<Value = Vec<FuzzCall>> {
    let step = (0..CALLS.len(), any::<[u16; 3]>(), any::<[u32; 4]>());
    let step = step.prop_map(|(call, which, n)| FuzzCall { call, which, n });
    prop::collection::vec(step, 1..250)
}

#[test]
#[cfg_attr(miri, ignore = "hours")]
fn calls_in_any_order_end_with_a_status() {
    let config = ProptestConfig { failure_persistence: None, max_shrink_iters: 400, ..ProptestConfig::default() };
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { config.cases } else { 64 };
    let config = ProptestConfig { cases, ..config };
    proptest!(config, |(steps in steps(), newest_first: bool)| run(steps, newest_first)?);
    let counts: Vec<u64> = ENDED.iter().map(|count| count.load(Ordering::Relaxed)).collect();
    println!("{} calls; by status: {counts:?}", counts.iter().sum::<u64>());
    // A run in which nearly all is refused shows nothing.
    assert!(counts[0] * 8 > counts.iter().sum::<u64>(), "{counts:?}");
}
