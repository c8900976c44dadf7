//! Host memory that the device accesses: pinned memory of this crate, and registered pages of other owners.

use super::api::call;
use super::registry::{Run, gaps};
use super::{Failure, INVALID_VALUE, Queue, Span};
use interop_core::HostBlock;
use interop_core::compute::{Access, HostStorage};
use interop_core::devices::borrows::{Borrow, BorrowConflict, Commands, Member};
use interop_core::devices::ranges::overlap;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// `CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP`.
const REGISTER_FLAGS: u32 = 1 | 2;
/// `CUDA_ERROR_NOT_SUPPORTED`.
const NOT_SUPPORTED: u32 = 801;

/// Pinned memory from the driver: copies to and from it run at full speed.
pub struct PinnedMemory {
    address: NonNull<u8>,
    len: usize,
    queue: Arc<Queue>,
}

impl PinnedMemory {
    /// Allocates `len` bytes, which must not be 0.
    pub fn new(queue: &Arc<Queue>, len: usize) -> Result<Self, Failure> {
        let _current = queue.enter()?;
        let mut address = ptr::null_mut();
        // SAFETY: writes the address to the given location; the context is current.
        unsafe { call!(queue.api().driver, cuMemHostAlloc(&raw mut address, len, 0)) }?;
        let address =
            NonNull::new(address.cast()).ok_or(Failure { operation: "cuMemHostAlloc", code: INVALID_VALUE })?;
        // SAFETY: `len` bytes were allocated there just now; Rust may only read initialised bytes.
        unsafe { address.write_bytes(0, len) };
        Ok(Self { address, len, queue: queue.clone() })
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: `len` bytes were allocated and zeroed; copies into them have finished when they return (`Copies`), so
        // the bytes have no other user during the exclusive borrow.
        unsafe { std::slice::from_raw_parts_mut(self.address.as_ptr(), self.len) }
    }
}

// SAFETY: plain memory owned by this value; the driver frees it from any thread.
unsafe impl Send for PinnedMemory {}
// SAFETY: through a shared reference the bytes are only read.
unsafe impl Sync for PinnedMemory {}

// SAFETY: the bytes lie where the driver allocated them until the value is dropped, and were zeroed.
unsafe impl HostStorage for PinnedMemory {
    fn bytes(&self) -> &[u8] {
        // SAFETY: as in `PinnedMemory::bytes`; the bytes are not written during the borrow.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr(), self.len) }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        Self::bytes(self)
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        let Ok(_current) = self.queue.enter() else { return };
        // SAFETY: allocated once, freed once.
        Failure::log(unsafe { call!(self.queue.api().driver, cuMemFreeHost(self.address.as_ptr().cast())) });
    }
}

/// A host block that the device can address.
pub struct RegisteredMemory {
    len: usize,
    device_address: u64,
    pages: Range<usize>,
    queue: Arc<Queue>,
    commands: Arc<StreamUse>,
    member: Member,
    // Keeps the memory alive.
    block: HostBlock,
}

/// Records that work using a block was submitted to a stream.
struct StreamUse {
    queue: Arc<Queue>,
    /// True where work was submitted since the last wait.
    any: AtomicBool,
}

/// Waits on behalf of slices that other owners form of the block.
impl Commands for StreamUse {
    fn wait(&self) -> bool {
        if !self.any.swap(false, Ordering::AcqRel) {
            return true;
        }
        let waited = self.queue.synchronize();
        if waited.is_err() {
            self.any.store(true, Ordering::Release);
        }
        waited.is_ok()
    }
}

impl RegisteredMemory {
    /// Registers `block` with the driver.
    pub fn new(queue: &Arc<Queue>, block: &HostBlock) -> Result<Self, Failure> {
        let start = block.address().as_ptr().expose_provenance();
        let first = start - start % HostBlock::PAGE;
        let end = start.checked_add(block.len()).and_then(|end| end.checked_next_multiple_of(HostBlock::PAGE));
        let end = end.ok_or(Failure { operation: "cuMemHostRegister_v2", code: INVALID_VALUE })?;
        let _current = queue.enter()?;
        let commands = Arc::new(StreamUse { queue: queue.clone(), any: AtomicBool::new(false) });
        let given = Arc::downgrade(&commands);
        // `drop` undoes exactly the entries made so far.
        let mut this = Self {
            len: block.len(),
            device_address: 0,
            pages: first..first,
            queue: queue.clone(),
            member: block.borrows().join(given),
            commands,
            block: block.clone(),
        };
        this.enter_pages(first..end)?;
        this.device_address = this.device_address_of(start)?;
        // Separately registered runs need not be adjacent for the device.
        for run in queue.registry().lock().iter().filter(|r| overlap(&r.pages, &this.pages)) {
            let at = run.pages.start.max(start);
            if this.device_address_of(at)? != this.device_address + (at - start) as u64 {
                return Err(Failure { operation: "cuMemHostGetDevicePointer_v2", code: NOT_SUPPORTED });
            }
        }
        Ok(this)
    }

    /// Registers the unregistered parts of `pages` and counts this as a user of all of them.
    fn enter_pages(&mut self, pages: Range<usize>) -> Result<(), Failure> {
        let queue = self.queue.clone();
        let mut runs = queue.registry().lock();
        let new = gaps(&runs, &pages);
        let old = runs.len();
        let mut registered = Ok(());
        for gap in new {
            let first: *mut c_void = ptr::with_exposed_provenance_mut(gap.start);
            // SAFETY: pages are mapped as a whole, so those of the block are; they stay mapped while it is kept.
            // Registering changes no byte.
            registered =
                unsafe { call!(self.queue.api().driver, cuMemHostRegister_v2(first, gap.len(), REGISTER_FLAGS)) };
            if registered.is_err() {
                break;
            }
            runs.push(Run { pages: gap, users: 0 });
        }
        if registered.is_err() {
            while runs.len() > old {
                if let Some(run) = runs.pop() {
                    self.unregister(&run);
                }
            }
            return registered;
        }
        runs.iter_mut().filter(|r| overlap(&r.pages, &pages)).for_each(|r| r.users += 1);
        self.pages = pages;
        Ok(())
    }

    fn device_address_of(&self, at: usize) -> Result<u64, Failure> {
        let mut address = 0;
        let at: *mut c_void = ptr::with_exposed_provenance_mut(at);
        // SAFETY: writes the address to the given location; the byte lies in registered pages.
        unsafe { call!(self.queue.api().driver, cuMemHostGetDevicePointer_v2(&raw mut address, at, 0)) }?;
        Ok(address)
    }

    fn unregister(&self, run: &Run) {
        let first: *mut c_void = ptr::with_exposed_provenance_mut(run.pages.start);
        // SAFETY: these pages were registered once under this address and are unregistered once; the call only takes
        // the address as a name.
        Failure::log(unsafe { call!(self.queue.api().driver, cuMemHostUnregister(first)) });
    }

    /// Precedes the submission of a command that uses `range`; the caller holds the returned borrow until it is
    /// submitted.
    pub fn enter(&self, range: &Range<usize>, access: Access) -> Result<Borrow, BorrowConflict> {
        let borrow = self.block.borrows().command(range, access, self.member)?;
        self.commands.any.store(true, Ordering::Release);
        Ok(borrow)
    }

    pub fn span(&self) -> Span<'_> {
        // SAFETY: registered and mapped for the device until `self` goes; the block keeps the memory alive.
        unsafe { Span::new(self.device_address, self.len) }
    }
}

impl Drop for RegisteredMemory {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // Kernels may still write the pages, so wait before unregistering them.
        Failure::log(self.queue.synchronize());
        let Ok(_current) = self.queue.enter() else { return };
        self.queue.registry().lock().retain_mut(|run| {
            if overlap(&run.pages, &self.pages) {
                run.users -= 1;
                if run.users == 0 {
                    self.unregister(run);
                    return false;
                }
            }
            true
        });
    }
}
