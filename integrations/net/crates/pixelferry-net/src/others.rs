//! Shared memory of other processes. Zenoh keeps what it has mapped as long as the program lasts; here it goes when nobody
//! reads it, so that workers that were killed leave nothing behind.

use crate::lock::lock;
use std::fmt;
use std::sync::atomic::{Ordering, fence};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use zenoh::Result;
use zenoh::shm::{
    ChunkID, PosixShmClient, ProtocolID, SegmentID, ShmClient, ShmClientStorage, ShmSegment, WithProtocolID,
};

/// Segments in which nobody has looked for so long are given back when another one comes.
const IDLE: Duration = Duration::from_secs(1);

/// Returns what sessions map segments with: all of a program the same, so that none is mapped twice.
pub(crate) fn segments() -> Arc<ShmClientStorage> {
    static SEGMENTS: OnceLock<Arc<ShmClientStorage>> = OnceLock::new();
    let make = || {
        let others = Others { posix: Arc::new(PosixShmClient), attached: Mutex::default() };
        Arc::new(ShmClientStorage::builder().with_client(Arc::new(others)).build())
    };
    SEGMENTS.get_or_init(make).clone()
}

struct Others {
    posix: Arc<PosixShmClient>,
    attached: Mutex<Vec<Arc<Segment>>>,
}

impl fmt::Debug for Others {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Others").finish_non_exhaustive()
    }
}

impl WithProtocolID for Others {
    fn id(&self) -> ProtocolID {
        self.posix.id()
    }
}

impl ShmClient for Others {
    fn attach(&self, id: SegmentID) -> Result<Arc<dyn ShmSegment>> {
        let mapped = Some((self.posix.attach(id)?, Instant::now()));
        let segment = Arc::new(Segment { posix: self.posix.clone(), id, mapped: Mutex::new(mapped) });
        let mut attached = lock(&self.attached);
        attached.iter().for_each(|other| other.give_back());
        attached.push(segment.clone());
        Ok(segment)
    }
}

/// Memory that another process shares. Zenoh holds it in its list, `Others` in its own, and so does each message in it.
struct Segment {
    posix: Arc<PosixShmClient>,
    id: SegmentID,
    /// The memory, and when somebody last began to look at a message in it.
    mapped: Mutex<Option<(Arc<dyn ShmSegment>, Instant)>>,
}

/// Holders of a segment in which no message is.
const LISTS: usize = 2;

impl Segment {
    /// Unmaps the segment unless somebody reads a message in it. The last to unmap one takes its file away.
    fn give_back(self: &Arc<Self>) {
        // A new reader holds the segment before it waits for this lock, and maps it again after it.
        let mut mapped = lock(&self.mapped);
        let is_idle = mapped.as_ref().is_some_and(|(_, used)| used.elapsed() >= IDLE);
        if is_idle && Arc::strong_count(self) == LISTS {
            // The others' reads came before they let go of it.
            fence(Ordering::Acquire);
            *mapped = None;
        }
    }
}

impl ShmSegment for Segment {
    fn map(&self, chunk: ChunkID) -> Result<*mut u8> {
        let mut mapped = lock(&self.mapped);
        let memory = match mapped.take() {
            Some((memory, _)) => memory,
            None => self.posix.attach(self.id)?,
        };
        let (memory, _) = mapped.insert((memory, Instant::now()));
        memory.map(chunk)
    }
}

impl fmt::Debug for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segment").field("id", &self.id).finish_non_exhaustive()
    }
}
