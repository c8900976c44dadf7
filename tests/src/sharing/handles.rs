//! Names of blocks and semaphores, in a list of this thread, and what is listed of them.

use super::semaphore::Semaphore;
use pixelferry::driver::{
    HandleType, HostBlock, MemoryCap, MemoryHandle, MemoryShape, QueueId, SemaphoreCap, SemaphoreHandle, SharedHandle,
};
use pixelferry::{Error, Result, Support, SurfaceDesc, SyncKind};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::{Arc, LazyLock};

#[derive(Default)]
struct Names {
    numbered: HashMap<u32, HostBlock>,
    next: u32,
    memory: HashMap<i32, HostBlock>,
    semaphores: HashMap<i32, Semaphore>,
}

/// Semaphores that both sides list.
pub(super) fn semaphores() -> Vec<SemaphoreCap> {
    let kinds = [SyncKind::BinarySemaphore, SyncKind::TimelineSemaphore];
    kinds.map(|kind| SemaphoreCap::new(kind, Support::Yes)).to_vec()
}

/// Memory by handle, without demands.
pub(super) fn memory_caps(list: &[(HandleType, MemoryShape)]) -> Vec<MemoryCap> {
    list.iter().map(|(handle, shape)| MemoryCap::new(*handle, *shape, Support::Yes)).collect()
}

thread_local! {
    static NAMES: RefCell<Names> = RefCell::default();
}

/// A descriptor that nobody else has while it is open.
fn descriptor() -> Result<OwnedFd> {
    File::open("/dev/null").map(OwnedFd::from).map_err(|e| Error::Unavailable {
        what: "a file descriptor".into(),
        reason: e.to_string(),
        hint: "The doubles name blocks by descriptors of /dev/null.".into(),
    })
}

pub(super) fn name_memory(block: &HostBlock) -> Result<SharedHandle> {
    let fd = descriptor()?;
    NAMES.with_borrow_mut(|names| names.memory.insert(fd.as_raw_fd(), block.clone()));
    // SAFETY: only these doubles open it, by its number.
    Ok(SharedHandle::Memory(unsafe { MemoryHandle::new(fd, block.len() as u64, false) }))
}

/// The queue that both doubles work in.
pub(super) fn queue() -> QueueId {
    static QUEUE: LazyLock<Arc<()>> = LazyLock::new(Arc::default);
    QueueId::of(&QUEUE)
}

pub(super) fn name_in_queue(block: &HostBlock) -> SharedHandle {
    SharedHandle::QueueBuffer { queue: queue(), buffer: Box::new(name(block)) }
}

/// As the texture or buffer that it is said to be.
pub(super) fn name_gl(block: &HostBlock, desc: &SurfaceDesc) -> SharedHandle {
    const TEXTURE_2D: u32 = 0x0DE1;
    let name = name(block);
    match desc {
        SurfaceDesc::Image(_) => SharedHandle::GlTexture { name, target: TEXTURE_2D },
        SurfaceDesc::Buffer(_) => SharedHandle::GlBuffer { name },
    }
}

/// A number that nobody else has.
fn name(block: &HostBlock) -> u32 {
    NAMES.with_borrow_mut(|names| {
        names.next += 1;
        names.numbered.insert(names.next, block.clone());
        names.next
    })
}

pub(super) fn name_semaphore(semaphore: &Semaphore, kind: SyncKind) -> Result<SharedHandle> {
    let fd = descriptor()?;
    NAMES.with_borrow_mut(|names| names.semaphores.insert(fd.as_raw_fd(), semaphore.clone()));
    // SAFETY: only these doubles open it, by its number.
    Ok(SharedHandle::Semaphore(unsafe { SemaphoreHandle::new(fd, kind) }))
}

/// The block behind a handle; a name is opened once.
pub(super) fn open_memory(handle: &SharedHandle) -> Result<HostBlock> {
    let block = NAMES.with_borrow_mut(|names| match handle {
        SharedHandle::GlBuffer { name } | SharedHandle::GlTexture { name, .. } => names.numbered.remove(name),
        SharedHandle::QueueBuffer { buffer, .. } => names.numbered.remove(buffer.downcast_ref()?),
        SharedHandle::Memory(memory) => names.memory.remove(&memory.handle().as_raw_fd()),
        _ => None,
    });
    block.ok_or_else(|| Error::invalid("a double", format!("{handle:?} names no block")))
}

pub(super) fn open_semaphore(handle: &SharedHandle) -> Result<Semaphore> {
    let shared = NAMES.with_borrow_mut(|names| match handle {
        SharedHandle::Semaphore(handle) => names.semaphores.remove(&handle.handle().as_raw_fd()),
        _ => None,
    });
    shared.ok_or_else(|| Error::invalid("a double", format!("{handle:?} names no semaphore")))
}
