//! Users of a memory object's bytes: their order makes slices of mapped memory sound.
//!
//! Rust may look at device memory as a slice only while nothing else touches it. So every command says here what it
//! uses. A map waits for all earlier commands, of all queues, and commands that would touch mapped bytes are refused. A
//! host kernel waits likewise, and later commands wait for it. Sub-buffers, and images made from buffers, share their
//! buffer's tracker. What is mapped stands in the list of [`interop_core::devices::borrows`]. Buffers over one block of
//! host memory share that list with each other and with everybody else who has the block.
//!
//! Memory that OpenGL has, too, is OpenCL's only between two commands. Every other command waits for the first, and the
//! second waits for it. Commands outside are refused.
//!
//! Two threads never wait for each other. All wait for trackers first, in the order of their addresses, and for lists
//! afterwards. A command never waits for a list.

use super::{ACQUIRED, Failure, NOT_ACQUIRED};
use crate::Event;
pub use interop_core::compute::Access;
use interop_core::devices::borrows::{Borrow, BorrowConflict, Borrows, Commands, Holder, Member};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Code of a [`Failure`] where one host kernel, or one hand-over, was given overlapping memory twice; no driver has it.
pub const OVERLAP: i32 = -2101;
/// First of the codes, counted down, of a [`Failure`] for the use of bytes that another holder has; see
/// [`holder_of`].
const HELD: i32 = -2200;

fn held(operation: &'static str) -> impl Fn(BorrowConflict) -> Failure {
    move |BorrowConflict(holder)| {
        let index = Holder::ALL.iter().position(|other| *other == holder).unwrap_or_default();
        Failure { operation, code: HELD - index as i32 }
    }
}

/// Returns the holder of the bytes, if the code says that they are held.
pub fn holder_of(code: i32) -> Option<Holder> {
    let index = usize::try_from(HELD.checked_sub(code)?).ok()?;
    Holder::ALL.get(index).copied()
}

/// State shared by all objects over the same bytes.
pub struct Tracker {
    state: Mutex<TrackerState>,
    changed: Condvar,
    borrows: Borrows,
    member: Member,
}

#[derive(Default)]
struct TrackerState {
    /// It is OpenGL's now.
    away: bool,
    /// Commands that other threads are enqueueing right now.
    entering: usize,
    /// True while a thread collects all uses, so that no command may enter.
    closed: bool,
    uses: Vec<Event>,
    /// Those of `uses` that later commands must wait for.
    exclusive: Vec<Event>,
    /// Host closures, and what holds their bytes.
    closures: Vec<(Event, ClosureBorrows)>,
    prune_at: usize,
}

/// Borrows of a host closure's bytes, released by whoever is first: the closure when it has run, or who finds that its
/// event is over. (PoCL 3.1 calls nobody back for one that fails by its wait list.)
#[derive(Clone)]
pub struct ClosureBorrows(Arc<Mutex<Vec<Borrow>>>);

impl ClosureBorrows {
    pub fn let_go(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

const FIRST_PRUNE: usize = 32;

impl TrackerState {
    fn check_here(&self, operation: &'static str) -> Result<(), Failure> {
        if self.away { Err(Failure { operation, code: NOT_ACQUIRED }) } else { Ok(()) }
    }

    /// `last` says that all that its queue was given before ends before it.
    fn record(&mut self, event: &Event, last: bool) {
        if last && let Some(queue) = event.queue() {
            self.uses.retain(|other| !other.queue().is_some_and(|q| q.is(queue)));
        }
        self.uses.push(event.clone());
        if self.uses.len() > self.prune_at.max(FIRST_PRUNE) {
            self.uses.retain(is_pending);
            self.prune_at = 2 * self.uses.len();
        }
    }
}

fn is_pending(event: &Event) -> bool {
    !event.lone.status().is_ok_and(super::Status::is_final)
}

impl Default for Tracker {
    fn default() -> Self {
        let (state, changed) = Default::default();
        Self { state, changed, borrows: Borrows::new(usize::MAX), member: Member::ALONE }
    }
}

/// For slices that others form of the same host memory.
impl Commands for Tracker {
    fn wait(&self) -> bool {
        self.pending().iter().all(|event| {
            let told = event.flush().and_then(|()| event.wait_until_final());
            told.is_ok() || !is_pending(event)
        })
    }

    fn tidy(&self) {
        self.lock().closures.retain(|(event, kept)| {
            let pending = is_pending(event);
            if !pending {
                kept.let_go();
            }
            pending
        });
    }
}

impl Tracker {
    /// Creates the tracker of memory that OpenGL has first.
    pub fn away() -> Self {
        Self { state: Mutex::new(TrackerState { away: true, ..TrackerState::default() }), ..Self::default() }
    }

    /// Creates the tracker of host memory that others may use, too.
    pub fn over(borrows: &Borrows) -> Arc<Self> {
        Arc::new_cyclic(|this| {
            let this: std::sync::Weak<Self> = this.clone();
            Self { member: borrows.join(this), borrows: borrows.clone(), ..Self::default() }
        })
    }

    /// True where it is OpenGL's now.
    pub fn is_away(&self) -> bool {
        self.lock().away
    }

    fn lock(&self) -> MutexGuard<'_, TrackerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while(&self, condition: impl FnMut(&mut TrackerState) -> bool) -> MutexGuard<'_, TrackerState> {
        self.changed.wait_while(self.lock(), condition).unwrap_or_else(PoisonError::into_inner)
    }

    /// Events of commands that may still use the bytes.
    pub fn pending(&self) -> Vec<Event> {
        let mut state = self.lock();
        state.uses.retain(is_pending);
        state.uses.clone()
    }

    /// True where both ranges have a byte in common.
    pub fn overlap(&self, range: &Range<usize>, other: &Self, other_range: &Range<usize>) -> bool {
        self.borrows.overlap(range, &other.borrows, other_range)
    }

    /// Marks `range` as mapped; gives what ends that when it is dropped, and the events that the map must wait for.
    pub fn begin_map(
        &self,
        operation: &'static str,
        range: &Range<usize>,
        access: Access,
    ) -> Result<(Borrow, Vec<Event>), Failure> {
        let borrow = self.borrows.slice(range, access, Holder::Map, self.member).map_err(held(operation))?;
        self.lock().check_here(operation)?;
        Ok((borrow, self.pending()))
    }

    /// Notes a host closure on its way, which `event` stands for.
    pub fn keep(&self, event: &Event, kept: &ClosureBorrows) {
        self.tidy();
        self.lock().closures.push((event.clone(), kept.clone()));
    }

    /// The end of a map, before its borrow goes.
    pub fn unmapped(&self, event: &Event) {
        self.lock().record(event, false);
    }
}

/// Some bytes that one command uses.
#[derive(Clone)]
pub struct MemoryUse<'a> {
    pub tracker: &'a Tracker,
    /// In the buffer that the tracker belongs to.
    pub range: Range<usize>,
    pub access: Access,
}

impl MemoryUse<'_> {
    fn enter(&self, operation: &'static str) -> Result<Borrow, Failure> {
        let Self { tracker, range, access } = self;
        tracker.borrows.command(range, *access, tracker.member).map_err(held(operation))
    }
}

/// A command on its way into a queue.
pub struct CommandEntry<'a> {
    trackers: Vec<&'a Tracker>,
    exclusive: bool,
    /// For one that hands memory over: whether it is OpenGL's afterwards.
    away: Option<bool>,
    /// Events that it must wait for besides the caller's own list.
    pub after: Vec<Event>,
    /// Held until its event is recorded.
    borrows: Vec<Borrow>,
}

fn sorted<'a>(uses: &[MemoryUse<'a>]) -> Vec<MemoryUse<'a>> {
    let mut uses = uses.to_vec();
    // One order for all, so that two threads never wait for each other.
    uses.sort_by_key(|u| (std::ptr::from_ref(u.tracker).addr(), u.range.start));
    uses
}

impl<'a> CommandEntry<'a> {
    fn of(count: usize, exclusive: bool) -> Self {
        let (trackers, borrows) = (Vec::with_capacity(count), Vec::with_capacity(count));
        Self { trackers, exclusive, away: None, after: Vec::new(), borrows }
    }

    /// A command of the device.
    pub fn shared(operation: &'static str, uses: &[MemoryUse<'a>]) -> Result<Self, Failure> {
        let mut entering = Self::of(uses.len(), false);
        for one in sorted(uses) {
            let mut state = one.tracker.wait_while(|state| state.closed);
            state.check_here(operation)?;
            state.entering += 1;
            if !state.exclusive.is_empty() {
                state.exclusive.retain(is_pending);
                entering.after.extend(state.exclusive.iter().cloned());
            }
            entering.trackers.push(one.tracker);
        }
        entering.enter(operation, uses)?;
        Ok(entering)
    }

    fn enter(&mut self, operation: &'static str, uses: &[MemoryUse<'a>]) -> Result<(), Failure> {
        for one in uses {
            self.borrows.push(one.enter(operation)?);
        }
        Ok(())
    }

    /// Host code that will look at the bytes: after everything else, and everything else after it. Gives also what holds
    /// the bytes until that code has run, or will not.
    pub fn exclusive(operation: &'static str, uses: &[MemoryUse<'a>]) -> Result<(Self, ClosureBorrows), Failure> {
        let mut entering = Self::closing(operation, uses, |state| state.check_here(operation))?;
        let mut kernel = Vec::with_capacity(uses.len());
        for MemoryUse { tracker, range, .. } in uses {
            kernel.push(tracker.borrows.host_kernel(range, tracker.member).map_err(held(operation))?);
        }
        entering.enter(operation, uses)?;
        Ok((entering, ClosureBorrows(Arc::new(Mutex::new(kernel)))))
    }

    /// The beginning, or else the end, of OpenCL's turn with memory that OpenGL has, too: after everything before, and
    /// everything else after it.
    pub fn turn(operation: &'static str, uses: &[MemoryUse<'a>], begins: bool) -> Result<Self, Failure> {
        let check = |state: &TrackerState| match begins {
            true if state.away => Ok(()),
            true => Err(Failure { operation, code: ACQUIRED }),
            false => state.check_here(operation),
        };
        let mut entering = Self::closing(operation, uses, check)?;
        entering.enter(operation, uses)?;
        entering.away = Some(!begins);
        Ok(entering)
    }

    fn closing(
        operation: &'static str,
        uses: &[MemoryUse<'a>],
        check: impl Fn(&TrackerState) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let uses = sorted(uses);
        let twice = |(at, one): (usize, &MemoryUse<'_>)| {
            uses[..at].iter().any(|other| one.tracker.overlap(&one.range, other.tracker, &other.range))
        };
        if uses.iter().enumerate().any(twice) {
            return Err(Failure { operation, code: OVERLAP });
        }
        let mut entering = Self::of(uses.len(), true);
        for one in uses {
            if entering.trackers.last().is_some_and(|last| std::ptr::eq(*last, one.tracker)) {
                check(&one.tracker.lock())?;
                continue;
            }
            let mut state = one.tracker.wait_while(|state| state.entering > 0 || state.closed);
            check(&state)?;
            state.closed = true;
            state.uses.retain(is_pending);
            entering.after.extend(state.uses.iter().cloned());
            entering.trackers.push(one.tracker);
        }
        Ok(entering)
    }

    /// The command is in its queue; see `TrackerState::record`.
    pub fn entered(self, event: &Event, last: bool) {
        for tracker in &self.trackers {
            let mut state = tracker.lock();
            state.record(event, last);
            state.away = self.away.unwrap_or(state.away);
            if self.exclusive {
                state.exclusive.retain(is_pending);
                state.exclusive.push(event.clone());
            }
        }
    }
}

impl Drop for CommandEntry<'_> {
    fn drop(&mut self) {
        self.borrows.clear();
        for tracker in &self.trackers {
            let mut state = tracker.lock();
            if self.exclusive {
                state.closed = false;
            } else {
                state.entering -= 1;
            }
            drop(state);
            tracker.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_holder_has_a_code_and_no_other_code_has_one() {
        for holder in Holder::ALL {
            assert_eq!(holder_of(held("x")(BorrowConflict(holder)).code), Some(holder));
        }
        for code in [0, -1, OVERLAP, HELD + 1, HELD - Holder::ALL.len() as i32, i32::MIN, i32::MAX] {
            assert_eq!(holder_of(code), None, "{code}");
        }
    }
}
