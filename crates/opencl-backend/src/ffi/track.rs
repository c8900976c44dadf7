//! Who uses the bytes of a memory object: what makes slices of mapped memory sound.
//!
//! Rust may look at device memory as a slice only while nothing else touches it. So every command says here what it
//! uses. A map waits for all earlier commands, of all queues, and commands that would touch mapped bytes are refused. A
//! host kernel waits likewise, and later commands wait for it. Sub-buffers, and images made from buffers, share their
//! buffer's tracker.
//!
//! Memory that OpenGL has, too, is OpenCL's only between two commands, which every other command waits for or is waited
//! for by; commands outside are refused.

use super::{ACQUIRED, Event, Failure, NOT_ACQUIRED};
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Code of a [`Failure`] where mapped memory was to be used; no driver has it.
pub const MAPPED: i32 = -2100;
/// Likewise where one host kernel, or one hand-over, was given overlapping memory twice.
pub const OVERLAP: i32 = -2101;

/// What a command does with some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Read,
    Write,
}

/// State shared by all objects over the same bytes.
#[derive(Default)]
pub struct Tracker {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// It is OpenGL's now.
    away: bool,
    /// Commands that other threads are enqueueing right now.
    entering: usize,
    /// Somebody collects all uses right now, so that no command may enter.
    closed: bool,
    maps: Vec<Map>,
    next_map: u64,
    uses: Vec<Event>,
    /// Those of `uses` that later commands must wait for.
    exclusive: Vec<Event>,
    prune_at: usize,
}

struct Map {
    id: u64,
    range: Range<usize>,
    access: Access,
}

const FIRST_PRUNE: usize = 32;

fn overlap(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start < b.end && b.start < a.end
}

impl State {
    /// Whether a command may use the bytes now.
    fn check_free(&self, operation: &'static str, range: &Range<usize>, access: Access) -> Result<(), Failure> {
        if self.away {
            return Err(Failure { operation, code: NOT_ACQUIRED });
        }
        let conflict =
            |map: &Map| overlap(&map.range, range) && (access == Access::Write || map.access == Access::Write);
        if self.maps.iter().any(conflict) { Err(Failure { operation, code: MAPPED }) } else { Ok(()) }
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
    !event.status().is_ok_and(super::Status::is_final)
}

impl Tracker {
    /// Of memory that OpenGL has first.
    pub fn away() -> Self {
        Self { state: Mutex::new(State { away: true, ..State::default() }), changed: Condvar::new() }
    }

    /// Whether it is OpenGL's now.
    pub fn is_away(&self) -> bool {
        self.lock().away
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while(&self, condition: impl FnMut(&mut State) -> bool) -> MutexGuard<'_, State> {
        self.changed.wait_while(self.lock(), condition).unwrap_or_else(PoisonError::into_inner)
    }

    /// Events of commands that may still use the bytes.
    pub fn pending(&self) -> Vec<Event> {
        let mut state = self.lock();
        state.uses.retain(is_pending);
        state.uses.clone()
    }

    /// Marks `range` as mapped; gives the number to end it by and the events that the map must wait for.
    pub fn begin_map(
        &self,
        operation: &'static str,
        range: Range<usize>,
        access: Access,
    ) -> Result<(u64, Vec<Event>), Failure> {
        let mut state = self.wait_while(|state| state.entering > 0 || state.closed);
        state.check_free(operation, &range, access)?;
        state.uses.retain(is_pending);
        let id = state.next_map;
        state.next_map += 1;
        state.maps.push(Map { id, range, access });
        Ok((id, state.uses.clone()))
    }

    /// `unmapped` is the event of the command that ended the map, if there was one.
    pub fn end_map(&self, id: u64, unmapped: Option<&Event>) {
        let mut state = self.lock();
        state.maps.retain(|map| map.id != id);
        if let Some(event) = unmapped {
            state.record(event, false);
        }
    }
}

/// Some bytes that one command uses.
#[derive(Clone)]
pub struct Use<'a> {
    pub tracker: &'a Tracker,
    /// In the buffer that the tracker belongs to.
    pub range: Range<usize>,
    pub access: Access,
}

/// A command on its way into a queue.
pub struct Entering<'a> {
    trackers: Vec<&'a Tracker>,
    exclusive: bool,
    /// For one that hands memory over: whether it is OpenGL's afterwards.
    away: Option<bool>,
    /// What it must wait for besides the caller's own list.
    pub after: Vec<Event>,
}

fn sorted<'a>(uses: &[Use<'a>]) -> Vec<Use<'a>> {
    let mut uses = uses.to_vec();
    // One order for all, so that two threads never wait for each other.
    uses.sort_by_key(|u| (std::ptr::from_ref(u.tracker).addr(), u.range.start));
    uses
}

impl<'a> Entering<'a> {
    fn of(count: usize, exclusive: bool) -> Self {
        Self { trackers: Vec::with_capacity(count), exclusive, away: None, after: Vec::new() }
    }

    /// A command of the device.
    pub fn shared(operation: &'static str, uses: &[Use<'a>]) -> Result<Self, Failure> {
        let mut entering = Self::of(uses.len(), false);
        for one in sorted(uses) {
            let mut state = one.tracker.wait_while(|state| state.closed);
            state.check_free(operation, &one.range, one.access)?;
            state.entering += 1;
            if !state.exclusive.is_empty() {
                state.exclusive.retain(is_pending);
                entering.after.extend(state.exclusive.iter().cloned());
            }
            entering.trackers.push(one.tracker);
        }
        Ok(entering)
    }

    /// Host code that will look at the bytes: after everything else, and everything else after it.
    pub fn exclusive(operation: &'static str, uses: &[Use<'a>]) -> Result<Self, Failure> {
        Self::closing(operation, uses, |state, one| state.check_free(operation, &one.range, Access::Write))
    }

    /// The beginning, or else the end, of OpenCL's turn with memory that OpenGL has, too: after everything before, and
    /// everything else after it.
    pub fn turn(operation: &'static str, uses: &[Use<'a>], begins: bool) -> Result<Self, Failure> {
        let check = |state: &State, one: &Use<'_>| match begins {
            true if state.away => Ok(()),
            true => Err(Failure { operation, code: ACQUIRED }),
            false => state.check_free(operation, &one.range, Access::Write),
        };
        let mut entering = Self::closing(operation, uses, check)?;
        entering.away = Some(!begins);
        Ok(entering)
    }

    fn closing(
        operation: &'static str,
        uses: &[Use<'a>],
        check: impl Fn(&State, &Use<'_>) -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let uses = sorted(uses);
        let twice = |pair: &[Use<'_>]| {
            std::ptr::eq(pair[0].tracker, pair[1].tracker) && overlap(&pair[0].range, &pair[1].range)
        };
        if uses.windows(2).any(twice) {
            return Err(Failure { operation, code: OVERLAP });
        }
        let mut entering = Self::of(uses.len(), true);
        for one in uses {
            if entering.trackers.last().is_some_and(|last| std::ptr::eq(*last, one.tracker)) {
                check(&one.tracker.lock(), &one)?;
                continue;
            }
            let mut state = one.tracker.wait_while(|state| state.entering > 0 || state.closed);
            check(&state, &one)?;
            state.closed = true;
            state.uses.retain(is_pending);
            entering.after.extend(state.uses.iter().cloned());
            entering.trackers.push(one.tracker);
        }
        Ok(entering)
    }

    /// The command is in its queue; see `State::record`.
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

impl Drop for Entering<'_> {
    fn drop(&mut self) {
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
