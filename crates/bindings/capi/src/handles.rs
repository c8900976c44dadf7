//! The table of everything that a caller holds a handle of.
//!
//! A handle is a number that looks like a pointer: its kind in the lowest bits, then a count that is never repeated. So
//! a freed handle is recognised, whatever was created since. Objects that stay on their thread are in a table of that
//! thread; the table of all threads knows their owner.

use crate::abi::*;
use crate::failure::{Failure, Refusal, Result};
use crate::frame_handle::FrameHandle;
use crate::link_slot::{FrameSlot, LinkSlot, ShownSlot};
use crate::objects::{IntakeSlot, OutletSlot, TakenSlot};
use crate::subscriber_slot::{StreamedSlot, SubscriberSlot};
use interop_core::describe::process::ProcessMark;
use interop_core::{ComputeBackend, ComputeMemory, Error, Kernel, SharedFrame, SharedLink, ShowTarget, StartedFrame};
use pixelferry::HeadlessDisplay;
use std::cell::{Ref, RefCell};
use std::collections::BTreeMap;
use std::mem::ManuallyDrop;
use std::ptr;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

const KIND_BITS: u32 = 4;

/// Returns the kind of the handle with this number.
const fn kind_of(id: usize) -> usize {
    id & ((1 << KIND_BITS) - 1)
}

/// Objects that every thread may use.
#[derive(Clone)]
enum Global {
    Backend(Arc<dyn ComputeBackend>),
    Kernel(Arc<dyn Kernel>),
    SharedLink(Arc<SharedLink<FrameHandle>>),
    Started(Arc<StartedSlot>),
    SharedFrame(Arc<SharedFrame<FrameHandle>>),
}

/// Objects that stay on their thread.
#[derive(Clone)]
enum Local {
    Memory(SharedMemory),
    Display(HeadlessDisplay),
    Link(Rc<LinkSlot>),
    Frame(Rc<FrameSlot>),
    Shown(Rc<ShownSlot>),
    Outlet(Rc<OutletSlot>),
    Intake(Rc<IntakeSlot>),
    Target(Rc<TargetSlot>),
    Subscriber(Rc<SubscriberSlot>),
}

/// A frame that was started, until a call waits for it, with the reason why the caller's function refused it.
pub struct StartedSlot(pub Mutex<Option<(StartedFrame<FrameHandle>, Refusal)>>);

/// A place in which frames are shown; a running call excludes others.
pub type TargetSlot = RefCell<Box<dyn ShowTarget>>;

/// Memory together with the backend that created it.
pub struct Memory {
    /// The backend that the memory belongs to.
    pub backend: Arc<dyn ComputeBackend>,
    /// The memory.
    pub memory: Box<dyn ComputeMemory>,
}

/// A caller's memory; a launch reads several of them at a time.
#[derive(Clone)]
pub enum SharedMemory {
    /// Memory that the caller allocated.
    Own(Rc<RefCell<Memory>>),
    /// What an intake took.
    Taken(Rc<TakenSlot>),
    /// The frame that a subscriber received.
    Streamed(Rc<StreamedSlot>),
}

impl SharedMemory {
    /// Returns the memory for kernels to read, or `None` while a call writes it.
    pub fn read(&self) -> Option<Ref<'_, dyn ComputeMemory>> {
        match self {
            Self::Own(memory) => Some(Ref::map(memory.try_borrow().ok()?, |own| own.memory.as_ref())),
            Self::Taken(taken) => taken.memory(),
            Self::Streamed(streamed) => streamed.memory(),
        }
    }
}

enum HandleScope {
    Everywhere(Global),
    OneThread,
}

/// The table of one process. A forked process starts its own: its parent's may be locked by a thread that it does not
/// have.
struct Table {
    of: ProcessMark,
    /// The number of handles that its parents had created.
    before: usize,
    live: Mutex<BTreeMap<usize, HandleScope>>,
    /// The table of a process forked from this one.
    forked: OnceLock<Box<Self>>,
}

/// The number of handles created so far.
static MADE: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    // Never dropped: objects that a thread did not free are leaked, because their contexts may already be destroyed.
    static OWN: ManuallyDrop<RefCell<BTreeMap<usize, Local>>> =
        const { ManuallyDrop::new(RefCell::new(BTreeMap::new())) };
}

impl Table {
    fn new() -> Self {
        let before = MADE.load(Ordering::Relaxed);
        Self { of: ProcessMark::here(), before, live: Mutex::default(), forked: OnceLock::new() }
    }

    /// Returns the table of this process.
    fn own() -> &'static Self {
        static FIRST: OnceLock<Table> = OnceLock::new();
        let mut table = FIRST.get_or_init(Self::new);
        while !table.of.is_here() {
            table = table.forked.get_or_init(|| Box::new(Self::new()));
        }
        table
    }
}

fn table() -> MutexGuard<'static, BTreeMap<usize, HandleScope>> {
    Table::own().live.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns true for a handle inherited by a forked process.
pub fn is_parents(id: usize) -> bool {
    (1..=Table::own().before).contains(&(id >> KIND_BITS))
}

/// A type of handle, and the object behind it.
pub trait Handle: Sized {
    /// Name of the handle, here and in C.
    const NAME: &'static str;
    /// The number of the kind, below 16.
    const KIND: usize;
    /// Type of the object behind the handle.
    type Object;
    /// Puts the object into the table.
    fn insert(object: Self::Object) -> Result<*mut Self>;
    /// Returns the object of a handle.
    fn get(handle: *mut Self) -> Result<Self::Object>;
}

macro_rules! handles {
    ($($name:ident = $kind:literal: $object:ty, $place:ident::$variant:ident;)*) => {
        /// Returns the name of a kind, if there is one.
        fn name_of(kind: usize) -> Option<&'static str> {
            match kind {
                $($kind => Some(stringify!($name)),)*
                _ => None,
            }
        }

        $(impl Handle for $name {
            const NAME: &'static str = stringify!($name);
            const KIND: usize = $kind;
            type Object = $object;

            fn insert(object: $object) -> Result<*mut Self> {
                handles!(@insert $place::$variant, object, $kind)
            }

            fn get(handle: *mut Self) -> Result<$object> {
                match handles!(@find $place, handle)? {
                    $place::$variant(object) => Ok(object),
                    _ => Err(Failure::Handle(format!("this {} is of another kind", Self::NAME))),
                }
            }
        })*
    };
    (@insert Global::$variant:ident, $object:ident, $kind:literal) => {
        Ok(ptr::without_provenance_mut(next($kind, HandleScope::Everywhere(Global::$variant($object)))?))
    };
    (@insert Local::$variant:ident, $object:ident, $kind:literal) => {{
        let id = next($kind, HandleScope::OneThread)?;
        OWN.with(|own| own.borrow_mut().insert(id, Local::$variant($object)));
        Ok(ptr::without_provenance_mut(id))
    }};
    (@find Global, $handle:ident) => { find_shared($handle) };
    (@find Local, $handle:ident) => { find_local($handle) };
}
handles! {
    pf_backend = 1: Arc<dyn ComputeBackend>, Global::Backend;
    pf_kernel = 2: Arc<dyn Kernel>, Global::Kernel;
    pf_memory = 3: SharedMemory, Local::Memory;
    pf_display = 4: HeadlessDisplay, Local::Display;
    pf_link = 5: Rc<LinkSlot>, Local::Link;
    pf_frame = 6: Rc<FrameSlot>, Local::Frame;
    pf_shown = 7: Rc<ShownSlot>, Local::Shown;
    pf_outlet = 8: Rc<OutletSlot>, Local::Outlet;
    pf_intake = 9: Rc<IntakeSlot>, Local::Intake;
    pf_shared_link = 10: Arc<SharedLink<FrameHandle>>, Global::SharedLink;
    pf_started = 11: Arc<StartedSlot>, Global::Started;
    pf_shared_frame = 12: Arc<SharedFrame<FrameHandle>>, Global::SharedFrame;
    pf_target = 13: Rc<TargetSlot>, Local::Target;
    pf_subscriber = 14: Rc<SubscriberSlot>, Local::Subscriber;
}

fn next(kind: usize, place: HandleScope) -> Result<usize> {
    let mut table = table();
    // Only counted while the lock is held.
    let made = MADE.load(Ordering::Relaxed) + 1;
    let id = made.checked_mul(1 << KIND_BITS).map(|id| id | kind);
    let id = id.ok_or_else(|| Failure::Handle("all handles of this process have been used".into()))?;
    MADE.store(made, Ordering::Relaxed);
    table.insert(id, place);
    Ok(id)
}

/// Says what is wrong with a handle that is not in the table.
fn unknown<H: Handle>(id: usize) -> Failure {
    if is_parents(id) {
        return Error::forked(H::NAME).into();
    }
    let (kind, count, made) = (kind_of(id), id >> KIND_BITS, MADE.load(Ordering::Relaxed));
    Failure::Handle(if id == 0 {
        format!("the {} is NULL", H::NAME)
    } else {
        match name_of(kind).filter(|_| (1..=made).contains(&count)) {
            None => format!("{id:#x} is not a {}: this library never made it", H::NAME),
            Some(name) if kind != H::KIND => format!("{id:#x} is a {name}; give a {}", H::NAME),
            Some(_) => format!("this {} was freed or finished before", H::NAME),
        }
    })
}

fn find_shared<H: Handle>(handle: *mut H) -> Result<Global> {
    let id = handle.addr();
    let table = table();
    match table.get(&id) {
        Some(HandleScope::Everywhere(object)) if kind_of(id) == H::KIND => Ok(object.clone()),
        _ => Err(unknown::<H>(id)),
    }
}

fn find_local<H: Handle>(handle: *mut H) -> Result<Local> {
    let id = handle.addr();
    if !matches!(table().get(&id), Some(HandleScope::OneThread) if kind_of(id) == H::KIND) {
        return Err(unknown::<H>(id));
    }
    // What another thread made is not in this thread's map.
    let found = OWN.try_with(|own| own.borrow().get(&id).cloned()).ok().flatten();
    found.ok_or(Failure::Thread(H::NAME))
}

/// Removes a handle from the table. Its object is dropped if nothing else holds it. Null is ignored.
pub fn free<H: Handle>(handle: *mut H) -> Result<()> {
    let id = handle.addr();
    if id == 0 || is_parents(id) {
        return Ok(());
    }
    H::get(handle)?;
    remove(id);
    Ok(())
}

/// Removes a handle, if it is in the table. Its object is dropped outside the locks, because that may call anything.
pub fn remove(id: usize) {
    let place = table().remove(&id);
    let local = match place {
        Some(HandleScope::OneThread) => OWN.try_with(|own| take(&mut own.borrow_mut(), id)).ok().flatten(),
        _ => None,
    };
    drop((place, local));
}

/// Removes an entry. An empty table keeps no memory, as the thread may be about to end.
fn take(own: &mut BTreeMap<usize, Local>, id: usize) -> Option<Local> {
    let taken = own.remove(&id);
    if own.is_empty() {
        *own = BTreeMap::new();
    }
    taken
}
