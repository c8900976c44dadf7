//! Check if other programs can open the shared memory that this one makes. Each program that uses Zenoh takes away the
//! files of programs that were killed, and with them one that another program has just made and not locked yet: its
//! maker can write there ever after, nobody else can open it, and what is sent in it is lost without an error.

use crate::lock::lock;
use std::num::NonZeroUsize;
use std::sync::{Mutex, OnceLock};
use zenoh::Wait;
use zenoh::shm::{AllocAlignment, MemoryLayout, PosixShmProviderBackend, ShmProvider, ShmProviderBuilder};

pub(crate) type Provider = ShmProvider<PosixShmProviderBackend>;

/// As often a pool is made anew.
const TRIES: usize = 16;
/// Bytes of a pool that is made for the list only.
const SMALL: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// A pool that others can open, or `None` and a word in the log.
pub(crate) fn provider(bytes: NonZeroUsize, alignment: AllocAlignment) -> Option<Mutex<Provider>> {
    let layout = MemoryLayout::new(alignment.align_size(bytes), alignment).ok()?;
    for _ in 0..TRIES {
        let before = unnamed();
        let backend = match PosixShmProviderBackend::builder(&layout).wait() {
            Ok(backend) => backend,
            Err(error) => {
                tracing::warn!("no shared memory of {bytes} bytes ({error}); messages are copied");
                return None;
            }
        };
        if unnamed() <= before {
            return Some(Mutex::new(ShmProviderBuilder::backend(backend).wait()));
        }
    }
    tracing::warn!("other programs took away each file of shared memory that was made; messages are copied");
    None
}

/// True where others can open the list of what this program sends in shared memory. Zenoh makes it once, with the first message.
pub(crate) fn has_list() -> bool {
    static NAMED: OnceLock<bool> = OnceLock::new();
    *NAMED.get_or_init(|| {
        let Some(small) = provider(SMALL, AllocAlignment::ALIGN_1_BYTE) else { return false };
        let before = unnamed();
        let is_made = lock(&small).alloc(1).wait().is_ok();
        let is_named = is_made && unnamed() <= before;
        if !is_named {
            tracing::warn!("shared memory is off: another program took away this one's list; start again to have it");
        }
        is_named
    })
}

/// Files of Zenoh's that this program has mapped and that no longer have a name; 0 where the system does not tell. Only Linux
/// has a clean-up.
fn unnamed() -> usize {
    let is_unnamed = |line: &&str| line.contains("/dev/shm/") && line.ends_with(".zenoh (deleted)");
    std::fs::read_to_string("/proc/self/maps").map_or(0, |maps| maps.lines().filter(is_unnamed).count())
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)] // how tests fail
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use zenoh::shm::cleanup_orphaned_shm_segments;

    /// Clean-ups of other programs are the same call.
    #[test]
    fn pools_that_are_made_beside_clean_ups_can_be_opened() {
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        cleanup_orphaned_shm_segments()
                    }
                });
            }
            let before = unnamed();
            let pools: Vec<_> = (0..300).filter_map(|_| provider(SMALL, AllocAlignment::ALIGN_1_BYTE)).collect();
            stop.store(true, Ordering::Relaxed);
            assert!(pools.len() > 250, "{}", pools.len());
            assert!(unnamed() <= before, "{} of {} pools have no name", unnamed() - before, pools.len());
        });
    }
}
