//! Host memory that the device reaches: pinned memory of our own, and pages of others made known to the driver.

use super::api::call;
use super::{Failure, INVALID_VALUE, Queue, Span};
use interop_core::HostBlock;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// `CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP`.
const REGISTER_FLAGS: u32 = 1 | 2;

/// Pinned memory from the driver: copies to and from it run at full speed.
pub struct Pinned {
    address: NonNull<u8>,
    len: usize,
    queue: Arc<Queue>,
}

impl Pinned {
    /// Allocates `len` bytes, which must not be 0.
    pub fn new(queue: &Arc<Queue>, len: usize) -> Result<Self, Failure> {
        let _current = queue.enter()?;
        let mut address = ptr::null_mut();
        // SAFETY: writes the address where it is told; the context is current.
        unsafe { call!(queue.api().driver, cuMemHostAlloc(&raw mut address, len, 0)) }?;
        let address =
            NonNull::new(address.cast()).ok_or(Failure { operation: "cuMemHostAlloc", code: INVALID_VALUE })?;
        // SAFETY: `len` bytes were allocated there just now. Rust may only look at bytes that somebody has written.
        unsafe { address.write_bytes(0, len) };
        Ok(Self { address, len, queue: queue.clone() })
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: `len` bytes were allocated and zeroed; copies into them have finished when they return
        // (`Copies`), so nobody else touches them while the exclusive borrow lasts.
        unsafe { std::slice::from_raw_parts_mut(self.address.as_ptr(), self.len) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let Ok(_current) = self.queue.enter() else { return };
        // SAFETY: allocated once, freed once.
        Failure::log(unsafe { call!(self.queue.api().driver, cuMemFreeHost(self.address.as_ptr().cast())) });
    }
}

/// Pages that are registered, each entry with the number of [`Registered`] that use it.
///
/// The driver pins whole pages and refuses a page twice, but a display may put two small blocks into one page.
#[derive(Default)]
pub struct Registry(Mutex<Vec<Entry>>);

struct Entry {
    pages: Range<usize>,
    users: usize,
}

impl Registry {
    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        // Entries are changed in one step each, so a panic elsewhere leaves the list whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A block of somebody's host memory that the device can address.
pub struct Registered {
    // Keeps the memory alive.
    _block: HostBlock,
    len: usize,
    device_address: u64,
    pages: Range<usize>,
    registry: Arc<Registry>,
    queue: Arc<Queue>,
}

impl Registered {
    /// Makes the first `len` bytes of `block` known to the driver; `len` is at least 1 and at most the block's length.
    pub fn new(
        queue: &Arc<Queue>,
        registry: &Arc<Registry>,
        block: &HostBlock,
        len: usize,
    ) -> Result<Self, Failure> {
        let start = block.address().as_ptr();
        let offset = start.addr() % HostBlock::PAGE;
        let first = start.addr() - offset;
        let end = (start.addr() + len).checked_next_multiple_of(HostBlock::PAGE);
        let end = end.ok_or(Failure { operation: "cuMemHostRegister_v2", code: INVALID_VALUE })?;
        let pages = first..end;
        let _current = queue.enter()?;
        let driver = &queue.api().driver;
        let mut entries = registry.lock();
        let covering = entries.iter_mut().find(|e| e.pages.start <= pages.start && pages.end <= e.pages.end);
        let pages = if let Some(entry) = covering {
            entry.users += 1;
            entry.pages.clone()
        } else {
            let first: *mut c_void = start.wrapping_sub(offset).cast();
            // SAFETY: pages are mapped as a whole, so these are; they stay so while `block` is kept. Registering
            // changes no byte.
            unsafe { call!(driver, cuMemHostRegister_v2(first, pages.len(), REGISTER_FLAGS)) }?;
            entries.push(Entry { pages: pages.clone(), users: 1 });
            pages
        };
        drop(entries);
        // From here on `drop` undoes the registration.
        let mut this = Self {
            _block: block.clone(),
            len,
            device_address: 0,
            pages,
            registry: registry.clone(),
            queue: queue.clone(),
        };
        // SAFETY: writes the address where it is told; the first byte lies in registered pages.
        unsafe { call!(driver, cuMemHostGetDevicePointer_v2(&raw mut this.device_address, start.cast(), 0)) }?;
        Ok(this)
    }

    pub fn span(&self) -> Span<'_> {
        // SAFETY: registered and mapped for the device until `self` goes; the block keeps the memory alive.
        unsafe { Span::new(self.device_address, self.len) }
    }

}

impl Drop for Registered {
    fn drop(&mut self) {
        // Kernels may still write the pages: no unregistering before they are done.
        Failure::log(self.queue.synchronize());
        let mut entries = self.registry.lock();
        let Some(at) = entries.iter().position(|e| e.pages == self.pages) else { return };
        entries[at].users -= 1;
        if entries[at].users > 0 {
            return;
        }
        entries.swap_remove(at);
        let Ok(_current) = self.queue.enter() else { return };
        let first: *mut c_void = ptr::with_exposed_provenance_mut(self.pages.start);
        // SAFETY: these pages were registered once under this address and are unregistered once; the call only takes
        // the address as a name.
        Failure::log(unsafe { call!(self.queue.api().driver, cuMemHostUnregister(first)) });
    }
}
