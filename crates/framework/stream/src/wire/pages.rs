//! Pages that processes share (`memfd_create(2)`). This file contains all `unsafe` code for mappings.

use interop_core::compute::check_host_memory;
use interop_core::{Error, HostBlock, Result};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// Who may write the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WriteRight {
    /// Only the process that made them: the kernel refuses any further mapping for writing (`F_SEAL_FUTURE_WRITE`).
    Maker,
    /// Every process that has the descriptor.
    All,
}

/// Pages that are mapped into this process until this is dropped.
#[derive(Debug)]
pub(crate) struct PageMapping {
    address: NonNull<c_void>,
    len: usize,
}

// SAFETY: the mapping belongs to the process and not to a thread. Its words are accessed only as atomics, and only
// `HostBlock`, whose list admits each use, hands out slices of its bytes.
unsafe impl Send for PageMapping {}
// SAFETY: as above.
unsafe impl Sync for PageMapping {}

/// Allocates whole zeroed pages for this many bytes and maps them for writing. Their size is sealed, so that no process
/// that maps them can hit their end (`SIGBUS`).
///
/// # Errors
/// [`Error::Unavailable`] if the system has no more memory or descriptors.
pub(crate) fn create(name: &str, bytes: usize, writers: WriteRight) -> Result<(OwnedFd, PageMapping)> {
    let bytes = bytes.checked_next_multiple_of(HostBlock::PAGE).unwrap_or(bytes);
    check_host_memory(bytes)?;
    let made = || {
        let pages = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&pages, bytes as u64)?;
        let address = map(&pages, bytes, ProtFlags::READ | ProtFlags::WRITE)?;
        let mapping = PageMapping { address, len: bytes };
        let mut seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        if writers == WriteRight::Maker {
            seals |= SealFlags::FUTURE_WRITE;
        }
        fcntl_add_seals(&pages, seals)?;
        Ok((pages, mapping))
    };
    made().map_err(|errno: rustix::io::Errno| Error::Unavailable {
        what: format!("shared memory of {bytes} bytes"),
        reason: errno.to_string(),
        hint: "Use a smaller surface or free memory; sealed memory needs Linux 5.1.".into(),
    })
}

/// Maps pages that another process made. Pages that are too small or not sealed against shrinking are refused before
/// they are mapped.
///
/// # Errors
/// [`Error::InvalidInput`] for a descriptor of something else; [`Error::Unavailable`] if mapping fails.
pub(crate) fn open(pages: &OwnedFd, bytes: usize, writers: WriteRight) -> Result<PageMapping> {
    let seals = fcntl_get_seals(pages).map_err(|_| Error::refused("a descriptor is not shared memory"))?;
    if !seals.contains(SealFlags::SHRINK) {
        return Err(Error::refused("shared memory is not sealed, so the publisher could shrink it"));
    }
    let size = fstat(pages).map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or(0));
    if bytes == 0 || size < bytes as u64 {
        return Err(Error::refused(format!("shared memory has {size} bytes instead of the announced {bytes}")));
    }
    let access = if writers == WriteRight::All { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
    let address = map(pages, bytes, access).map_err(|errno| Error::Unavailable {
        what: format!("{bytes} bytes of shared memory"),
        reason: errno.to_string(),
        hint: "Free memory, or raise the limit of address space.".into(),
    })?;
    Ok(PageMapping { address, len: bytes })
}

fn map(pages: impl AsFd, bytes: usize, access: ProtFlags) -> rustix::io::Result<NonNull<c_void>> {
    // SAFETY: the system chooses the address of the new mapping, which overlaps no other memory.
    let address = unsafe { mmap(std::ptr::null_mut(), bytes, access, MapFlags::SHARED, pages, 0) }?;
    NonNull::new(address).ok_or(rustix::io::Errno::NOMEM)
}

impl PageMapping {
    /// The pages as words, which other processes may change at any time.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: a mapping begins at a page, lives as long as `self`, and is accessed here only as atomics. Words of
        // pages that are mapped for reading are only loaded, which processors do with plain loads.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr().cast(), self.len / size_of::<AtomicU64>()) }
    }

    /// The pages as host memory. Pages of another process may only be read: the caller must keep the block private and
    /// hand out at most `&dyn ComputeMemory`, which cannot write.
    pub(crate) fn into_block(self) -> HostBlock {
        let (address, len) = (self.address.cast(), self.len);
        // SAFETY: the mapping owns the memory and unmaps it on drop. The bytes are initialised. Slices are made only
        // under the block's own rules; another process writes its pages only while no subscriber says that it reads
        // them (`table`).
        unsafe { HostBlock::from_raw(address, len, Arc::new(self)) }
    }
}

#[cfg(test)]
impl PageMapping {
    /// Another `PageMapping` of the same address, because ThreadSanitizer identifies memory by its address only. It does
    /// not unmap and must not outlive `self`.
    pub(crate) fn alias(&self) -> std::mem::ManuallyDrop<Self> {
        std::mem::ManuallyDrop::new(Self { address: self.address, len: self.len })
    }
}

impl Drop for PageMapping {
    fn drop(&mut self) {
        // SAFETY: `map` mapped this range with this length, it is unmapped only here, and no slice of it exists any
        // more.
        if let Err(errno) = unsafe { munmap(self.address.as_ptr(), self.len) } {
            tracing::warn!(%errno, "cannot unmap shared pages");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn both_sides_see_the_same_words_and_one_of_them_writes() {
        let (pages, mine) = create("test", 4096, WriteRight::Maker).unwrap();
        let theirs = open(&pages, 4096, WriteRight::Maker).unwrap();
        mine.words()[511].store(7, Ordering::Relaxed);
        assert_eq!(theirs.words()[511].load(Ordering::Relaxed), 7);
        assert!(open(&pages, 4096, WriteRight::All).is_err(), "mapped for writing after it was sealed");
    }

    #[test]
    fn what_is_no_such_memory_is_refused() {
        let (pages, _) = create("test", 4096, WriteRight::All).unwrap();
        assert!(open(&pages, 4097, WriteRight::All).unwrap_err().to_string().contains("4097"));
        assert!(open(&pages, 0, WriteRight::All).is_err());
        let unsealed = memfd_create("test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
        ftruncate(&unsealed, 4096).unwrap();
        assert!(open(&unsealed, 4096, WriteRight::All).unwrap_err().to_string().contains("sealed"));
        let file = OwnedFd::from(std::fs::File::open("/dev/null").unwrap());
        assert!(open(&file, 1, WriteRight::Maker).unwrap_err().to_string().contains("not shared memory"));
    }
}
