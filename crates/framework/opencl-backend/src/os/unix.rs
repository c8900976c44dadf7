//! File descriptors, by OpenCL's names for them, and their numbers.

use interop_core::OsHandle;
use interop_core::describe::PlainMutex;
use rustix::io::fcntl_dupfd_cloexec;
use std::collections::BTreeSet;
use std::io::Result;
use std::os::fd::{AsRawFd, RawFd};

/// The extension that opens memory.
pub const MEMORY_EXTENSION: &str = "cl_khr_external_memory_opaque_fd";
/// The extension that opens semaphores.
pub const SEMAPHORE_EXTENSION: &str = "cl_khr_external_semaphore_opaque_fd";
/// `CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR`.
pub const MEMORY: u32 = 0x2060;
/// `CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR`.
pub const SEMAPHORE: u32 = 0x2055;

/// Descriptor numbers with which semaphores were opened in this process.
///
/// NVIDIA's driver (580.159) fails to close a memory's descriptor on release if its number previously belonged to an
/// imported semaphore. Each such memory would leak a descriptor.
static OF_SEMAPHORES: PlainMutex<BTreeSet<RawFd>> = PlainMutex::new(BTreeSet::new());

/// First descriptor number for semaphores, above those that most programs use, so that few numbers are affected. The
/// driver closes a semaphore's descriptor at once, so the next one gets the same number.
const FIRST_OF_SEMAPHORES: RawFd = 512;

/// Duplicates a handle with which OpenCL opens memory. Its number never belonged to a semaphore.
pub fn duplicate_memory(handle: &OsHandle) -> Result<OsHandle> {
    let of_semaphores = OF_SEMAPHORES.lock();
    let mut duplicate = handle.try_clone()?;
    while of_semaphores.contains(&duplicate.as_raw_fd()) {
        duplicate = fcntl_dupfd_cloexec(handle, duplicate.as_raw_fd() + 1)?;
    }
    Ok(duplicate)
}

/// Duplicates a handle with which OpenCL opens a semaphore.
pub fn duplicate_semaphore(handle: &OsHandle) -> Result<OsHandle> {
    let mut of_semaphores = OF_SEMAPHORES.lock();
    // A process may be limited to fewer descriptors.
    let duplicate = fcntl_dupfd_cloexec(handle, FIRST_OF_SEMAPHORES).or_else(|_| handle.try_clone())?;
    of_semaphores.insert(duplicate.as_raw_fd());
    Ok(duplicate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_has_no_number_that_a_semaphore_had() {
        let handle = OsHandle::from(std::fs::File::open("/dev/null").unwrap());
        let mut numbers = BTreeSet::new();
        let mut held = Vec::new();
        for _ in 0..20 {
            // The driver closes it.
            numbers.insert(duplicate_semaphore(&handle).unwrap().as_raw_fd());
            // The program takes the number.
            held.push(fcntl_dupfd_cloexec(&handle, FIRST_OF_SEMAPHORES).unwrap());
        }
        assert!(numbers.len() >= 20, "{numbers:?}");
        held.clear();
        let memories: Vec<_> = (0..600).map(|_| duplicate_memory(&handle).unwrap()).collect();
        assert!(memories.iter().any(|memory| memory.as_raw_fd() > FIRST_OF_SEMAPHORES + 20), "the range was passed");
        assert!(memories.iter().all(|memory| !numbers.contains(&memory.as_raw_fd())));
    }
}
