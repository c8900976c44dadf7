//! Registry of who uses which bytes of a memory; it makes Rust slices of that memory sound.
//!
//! Several owners can reach one block of host memory: memories of compute backends, OpenCL buffers, staging blocks of
//! displays. The borrow checker sees none of that. Code that forms a slice therefore takes a [`Borrow`] first, from the
//! one list that all owners share. A device's command takes one while it is submitted to its queue:
//!
//! | newcomer | next to a conflicting slice | next to commands of other members |
//! |---|---|---|
//! | a slice | is rejected | waits for the commands submitted before |
//! | a command | is rejected | proceeds, unless a host closure uses the bytes: then it is rejected |
//! | a host closure that a queue runs later | is rejected | waits for the commands submitted before; conflicting host
//! closures are rejected |
//!
//! A leaked borrow leaves its bytes borrowed forever. The lock is never held during a driver call.

use super::ranges::{Access, overlap, within};
use crate::describe::error::{Error, Result};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

/// Who holds borrowed bytes, for error messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Holder {
    /// A guard of [`crate::HostBlock::read`] or [`crate::HostBlock::write`].
    Guard,
    /// A launch or another call of the CPU backend, or a closure of `view` or `fill`.
    Cpu,
    /// An OpenCL map: a guard, or a closure of `view` or `fill`.
    Map,
    /// A host closure in an OpenCL queue.
    HostKernel,
    /// A closure of [`crate::Staging::map_write`], or a call of the display that owns the block.
    Staging,
    /// A display with a pending write of the bytes ([`crate::Surface::download`]).
    Display,
    /// Commands of a driver that does not report their end.
    Commands,
}

impl Holder {
    /// Every holder.
    pub const ALL: [Self; 7] =
        [Self::Guard, Self::Cpu, Self::Map, Self::HostKernel, Self::Staging, Self::Display, Self::Commands];

    /// Text for errors: who holds the bytes, and how to get them back.
    pub const fn problem(self) -> &'static str {
        match self {
            Self::Guard => "a guard of HostBlock holds these bytes; drop it first (a leaked guard holds them forever)",
            Self::Cpu => {
                "this or an enclosing call of the CPU backend holds these bytes; give memory that does not overlap, or \
                 let that call return first"
            }
            Self::Map => {
                "the host has mapped these bytes with OpenCL; drop or unmap the guard first, or let the closure return \
                 (a leaked guard maps them forever)"
            }
            Self::HostKernel => "a host closure in an OpenCL queue holds these bytes; wait for its event first",
            Self::Staging => {
                "a closure of Staging::map_write, or a display's call, holds these bytes; let it return first"
            }
            Self::Display => {
                "a display writes these bytes; wait for its staging block (Staging::wait) first (a block that was \
                 dropped when it could not wait holds them forever)"
            }
            Self::Commands => {
                "commands of a device use these bytes, and its driver does not report their end; drop the device's \
                 memory first"
            }
        }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.problem())
    }
}

/// Bytes that are borrowed at the moment, and by whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BorrowConflict(pub Holder);

impl BorrowConflict {
    /// Turns it into the error of a call.
    pub fn refuse(self) -> Error {
        Error::refused(self.0.problem())
    }
}

/// The commands that one member of a list, such as a buffer over a block, has submitted to its device.
pub trait Commands: Send + Sync {
    /// Waits until all commands submitted so far have ended, successfully or not. Returns false where the driver does
    /// not report that.
    fn wait(&self) -> bool;

    /// Releases the bytes of host closures that have ended. Does not wait.
    fn tidy(&self) {}
}

/// A member of a list: a user of the bytes whose commands run later than the calls that submit them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member(u64);

impl Member {
    /// The only member of a list, for memory that no other owner shares.
    pub const ALONE: Self = Self(0);
}

enum BorrowKind {
    Slice(Holder),
    /// A command that is being submitted to a queue.
    Command,
    /// A slice that a queue forms later. The closure's own member orders its other commands around it.
    HostKernel(Member),
}

struct Entry {
    id: u64,
    range: Range<usize>,
    access: Access,
    kind: BorrowKind,
}

impl Entry {
    fn clashes(&self, range: &Range<usize>, access: Access) -> bool {
        self.access.clashes(access) && overlap(&self.range, range)
    }
}

#[derive(Default)]
struct BorrowState {
    /// The last number given to an entry or a member.
    last: u64,
    entries: Vec<Entry>,
    members: Vec<BlockMember>,
    /// Number of waiting slices. Where it is 0, the system call that wakes them is skipped.
    waiting: usize,
}

impl BorrowState {
    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    fn enter(&mut self, range: Range<usize>, access: Access, kind: BorrowKind) -> u64 {
        let id = self.next();
        self.entries.push(Entry { id, range, access, kind });
        id
    }

    /// Returns the holder that keeps a newcomer out. `member` is the newcomer's own: only host closures of other
    /// members keep a host closure out.
    fn holder(&self, range: &Range<usize>, access: Access, member: Option<Member>) -> Option<Holder> {
        self.entries.iter().filter(|e| e.clashes(range, access)).find_map(|entry| match entry.kind {
            BorrowKind::Slice(holder) => Some(holder),
            BorrowKind::HostKernel(other) if member.is_some_and(|member| member != other) => Some(Holder::HostKernel),
            BorrowKind::HostKernel(_) | BorrowKind::Command => None,
        })
    }

    fn has_command(&self, range: &Range<usize>, access: Access) -> bool {
        self.entries.iter().any(|e| matches!(e.kind, BorrowKind::Command) && e.clashes(range, access))
    }

    fn others(&mut self, own: Member, range: &Range<usize>) -> Vec<Arc<dyn Commands>> {
        self.members.retain(BlockMember::lives);
        let others = self.members.iter().filter(|joined| joined.member != own && overlap(&joined.window, range));
        others.filter_map(|joined| joined.commands.upgrade()).collect()
    }
}

struct BlockMember {
    member: Member,
    window: Range<usize>,
    commands: Weak<dyn Commands>,
}

impl BlockMember {
    fn lives(&self) -> bool {
        self.commands.strong_count() > 0
    }
}

#[derive(Default)]
struct List {
    state: Mutex<BorrowState>,
    changed: Condvar,
}

impl List {
    fn lock(&self) -> MutexGuard<'_, BorrowState> {
        // Entries are added and removed in one step each, so a panic elsewhere leaves the list valid.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The list of one allocation, seen from a part of it. Clones and parts share the list. Any thread may use it.
#[derive(Clone)]
pub struct Borrows {
    list: Arc<List>,
    /// The part of the allocation that ranges count from.
    window: Range<usize>,
}

impl Borrows {
    /// Creates the registry of `len` bytes without users.
    pub fn new(len: usize) -> Self {
        Self { list: Arc::default(), window: 0..len }
    }

    /// Returns the registry of a part of these bytes.
    #[must_use]
    pub fn part(&self, range: &Range<usize>) -> Self {
        Self { list: self.list.clone(), window: within(&self.window, range) }
    }

    /// True where two ranges, each counted from the start of its own part, have a byte in common.
    pub fn overlap(&self, range: &Range<usize>, other: &Self, other_range: &Range<usize>) -> bool {
        let (a, b) = (within(&self.window, range), within(&other.window, other_range));
        Arc::ptr_eq(&self.list, &other.list) && overlap(&a, &b)
    }

    /// Registers a member whose commands use these bytes, for as long as `commands` lives.
    pub fn join(&self, commands: Weak<dyn Commands>) -> Member {
        let mut state = self.list.lock();
        state.members.retain(BlockMember::lives);
        let member = Member(state.next());
        state.members.push(BlockMember { member, window: self.window.clone(), commands });
        member
    }

    /// Borrows bytes for a slice, which may live as long as the borrow. Waits for commands that use these bytes, except
    /// for those of `own`, which the caller waits for.
    pub fn slice(
        &self,
        range: &Range<usize>,
        access: Access,
        holder: Holder,
        own: Member,
    ) -> Result<Borrow, BorrowConflict> {
        self.exclude(range, access, None, own, BorrowKind::Slice(holder))
    }

    /// Borrows bytes for a host closure that a queue of `own` runs later with a mutable slice. `own` orders its other
    /// commands around it.
    pub fn host_kernel(&self, range: &Range<usize>, own: Member) -> Result<Borrow, BorrowConflict> {
        self.exclude(range, Access::Write, Some(own), own, BorrowKind::HostKernel(own))
    }

    /// Borrows bytes for a command of `own`. The caller holds the borrow until the command is in its queue and
    /// [`Commands::wait`] waits for it. Never waits.
    pub fn command(&self, range: &Range<usize>, access: Access, own: Member) -> Result<Borrow, BorrowConflict> {
        let range = within(&self.window, range);
        let mut state = self.admit(&range, access, Some(own))?;
        let id = state.enter(range, access, BorrowKind::Command);
        drop(state);
        Ok(Borrow { list: self.list.clone(), id })
    }

    /// Adds the newcomer to the list, unless a holder keeps it out.
    fn admit(
        &self,
        range: &Range<usize>,
        access: Access,
        newcomer: Option<Member>,
    ) -> Result<MutexGuard<'_, BorrowState>, BorrowConflict> {
        let mut state = self.list.lock();
        if state.holder(range, access, newcomer) == Some(Holder::HostKernel) {
            let others = state.others(newcomer.unwrap_or(Member::ALONE), range);
            drop(state);
            others.iter().for_each(|commands| commands.tidy());
            state = self.list.lock();
        }
        match state.holder(range, access, newcomer) {
            None => Ok(state),
            Some(holder) => Err(BorrowConflict(holder)),
        }
    }

    fn exclude(
        &self,
        range: &Range<usize>,
        access: Access,
        newcomer: Option<Member>,
        own: Member,
        kind: BorrowKind,
    ) -> Result<Borrow, BorrowConflict> {
        let range = within(&self.window, range);
        let mut state = self.admit(&range, access, newcomer)?;
        // From here on no conflicting command enters, so that the earlier ones come to an end.
        let id = state.enter(range.clone(), access, kind);
        let borrow = Borrow { list: self.list.clone(), id };
        while state.has_command(&range, access) {
            state.waiting += 1;
            state = self.list.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        if state.members.is_empty() {
            drop(state);
            return Ok(borrow);
        }
        let others = state.others(own, &range);
        drop(state);
        if others.iter().all(|commands| commands.wait()) { Ok(borrow) } else { Err(BorrowConflict(Holder::Commands)) }
    }
}

impl fmt::Debug for Borrows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Borrows({:?}, {} held)", self.window, self.list.lock().entries.len())
    }
}

/// Borrowed bytes; dropping this releases them. It may be dropped on any thread.
pub struct Borrow {
    list: Arc<List>,
    id: u64,
}

impl Drop for Borrow {
    fn drop(&mut self) {
        let mut state = self.list.lock();
        let at = state.entries.iter().position(|entry| entry.id == self.id);
        at.map(|at| state.entries.swap_remove(at));
        let awaited = state.waiting > 0;
        drop(state);
        if awaited {
            self.list.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Access::{Read, Write};
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn slice(list: &Borrows, range: Range<usize>, access: Access) -> Result<Borrow, BorrowConflict> {
        list.slice(&range, access, Holder::Guard, Member::ALONE)
    }

    struct Device {
        waits: AtomicUsize,
        tells: bool,
    }

    impl Commands for Device {
        fn wait(&self) -> bool {
            self.waits.fetch_add(1, Ordering::Relaxed);
            self.tells
        }
    }

    fn device(list: &Borrows, tells: bool) -> (Arc<Device>, Member) {
        let device = Arc::new(Device { waits: AtomicUsize::new(0), tells });
        let weak = Arc::downgrade(&device);
        let member = list.join(weak);
        (device, member)
    }

    #[test]
    fn slices_that_clash_are_refused_and_readers_share() {
        let list = Borrows::new(64);
        let writing = slice(&list, 0..32, Write).unwrap();
        assert_eq!(slice(&list, 31..33, Read).err(), Some(BorrowConflict(Holder::Guard)));
        assert!(slice(&list, 0..1, Write).is_err());
        assert!(slice(&list, 32..64, Read).is_ok());
        assert!(slice(&list, 5..5, Write).is_ok(), "an empty slice has no bytes");
        drop(writing);
        let (_a, _b) = (slice(&list, 0..64, Read).unwrap(), slice(&list, 0..64, Read).unwrap());
        assert!(slice(&list, 63..64, Write).is_err());
    }

    #[test]
    fn parts_share_the_list() {
        let list = Borrows::new(64);
        let part = list.part(&(16..48)).part(&(8..100));
        let _writing = slice(&list, 40..41, Write).unwrap();
        assert!(slice(&part, 16..17, Read).is_err());
        assert!(slice(&part, 17..usize::MAX, Write).is_ok());
        assert!(list.overlap(&(0..25), &part, &(0..1)) && !list.overlap(&(0..24), &part, &(0..1)));
        assert!(!Borrows::new(64).overlap(&(0..64), &part, &(0..1)), "another allocation");
    }

    #[test]
    fn a_forgotten_borrow_holds_and_a_panic_lets_go() {
        let list = Borrows::new(8);
        let outcome = crate::describe::panics::catch(|| {
            let _writing = slice(&list, 0..8, Write).unwrap();
            panic!("on purpose");
        });
        assert!(outcome.is_err() && slice(&list, 0..8, Write).is_ok());
        std::mem::forget(slice(&list, 0..4, Write));
        assert!(slice(&list, 0..1, Read).is_err() && slice(&list, 4..8, Write).is_ok());
    }

    #[test]
    fn a_slice_waits_for_the_commands_of_others() {
        let list = Borrows::new(8);
        let ((one, member), (two, _)) = (device(&list, true), device(&list, true));
        drop(slice(&list, 0..8, Write).unwrap());
        drop(list.slice(&(0..8), Write, Holder::Map, member).unwrap());
        let waits = |device: &Device| device.waits.load(Ordering::Relaxed);
        assert_eq!((waits(&one), waits(&two)), (1, 2), "the caller waits for its own");
        drop(slice(&list.part(&(0..0)), 0..8, Write).unwrap());
        let part = list.part(&(4..8));
        let (of_part, _) = device(&part, false);
        drop(slice(&list, 0..4, Write).unwrap());
        assert!(slice(&list, 3..5, Write).is_err());
        assert_eq!((waits(&one), waits(&of_part)), (3, 1), "a part's commands use its own bytes alone");
        drop((one, two, of_part));
        let (mute, _) = device(&list, false);
        assert_eq!(slice(&list, 0..8, Read).err(), Some(BorrowConflict(Holder::Commands)));
        drop(mute);
        assert!(slice(&list, 0..8, Read).is_ok(), "a refused slice must not stay");
    }

    #[test]
    fn commands_are_refused_beside_slices_only() {
        let list = Borrows::new(8);
        let ((_one, a), (_two, b)) = (device(&list, true), device(&list, true));
        let reading = slice(&list, 0..8, Read).unwrap();
        assert!(list.command(&(0..8), Read, a).is_ok());
        assert_eq!(list.command(&(7..8), Write, a).err(), Some(BorrowConflict(Holder::Guard)));
        drop(reading);
        let (_a, _b) = (list.command(&(0..8), Write, a).unwrap(), list.command(&(0..8), Write, b).unwrap());
    }

    #[test]
    fn a_host_closure_is_kept_apart_by_its_own_member_alone() {
        let list = Borrows::new(8);
        let ((_one, a), (_two, b)) = (device(&list, true), device(&list, true));
        let closure = list.host_kernel(&(0..4), a).unwrap();
        assert!(list.command(&(0..8), Write, a).is_ok());
        assert_eq!(list.command(&(0..8), Read, b).err(), Some(BorrowConflict(Holder::HostKernel)));
        assert_eq!(list.host_kernel(&(3..5), b).err(), Some(BorrowConflict(Holder::HostKernel)));
        drop(closure);
        let _reading = slice(&list, 0..8, Read).unwrap();
        assert!(list.host_kernel(&(0..4), a).is_err());
    }

    #[test]
    fn a_slice_begins_when_the_commands_before_are_in_their_queues() {
        let list = Borrows::new(8);
        let (_one, member) = device(&list, true);
        let entering = list.command(&(0..8), Write, member).unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        let other = list.clone();
        let thread = std::thread::spawn(move || {
            let writing = slice(&other, 0..8, Write).unwrap();
            tell.send(()).unwrap();
            drop(writing);
        });
        // It is in the list before it waits, so that nothing else enters.
        while list.command(&(0..8), Write, member).is_ok() {
            std::thread::yield_now();
        }
        assert!(told.try_recv().is_err());
        drop(entering);
        thread.join().unwrap();
        assert!(told.try_recv().is_ok() && list.command(&(0..8), Write, member).is_ok());
    }
}
