//! Device memory that the host sees as a slice for a while.

use super::image::ImageBox;
use super::track::Access;
use super::{Event, Failure, Mem, Queue};
use cl3::command_queue as q;
use cl3::error_codes::CL_MAP_FAILURE;
use cl3::memory as m;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// What the host does with mapped bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapMode {
    /// `CL_MAP_READ`.
    Read,
    /// `CL_MAP_READ | CL_MAP_WRITE`.
    ReadWrite,
    /// `CL_MAP_WRITE_INVALIDATE_REGION`: the old bytes are lost.
    Overwrite,
}

impl MapMode {
    const fn flags(self) -> u64 {
        match self {
            Self::Read => m::CL_MAP_READ,
            Self::ReadWrite => m::CL_MAP_READ | m::CL_MAP_WRITE,
            Self::Overwrite => m::CL_MAP_WRITE_INVALIDATE_REGION,
        }
    }

    const fn access(self) -> Access {
        match self {
            Self::Read => Access::Read,
            Self::ReadWrite | Self::Overwrite => Access::Write,
        }
    }
}

/// Mapped bytes. Unmapped on drop, in queue order; leaked, they stay mapped, and commands that use them are refused.
pub struct Mapped {
    queue: Queue,
    mem: Arc<Mem>,
    address: NonNull<u8>,
    len: usize,
    /// Bytes from row to row and slice to slice, for images.
    pub pitches: [usize; 2],
    mode: MapMode,
    id: u64,
    ended: bool,
}

// SAFETY: the address is memory that the map gives to this value alone (or to several that only read), and the objects
// are `Send`.
unsafe impl Send for Mapped {}
// SAFETY: shared references only read the bytes.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// Maps bytes of a buffer; `range` is not empty and inside. Blocks.
    pub fn buffer(
        queue: &Queue,
        mem: &Arc<Mem>,
        range: Range<usize>,
        mode: MapMode,
        wait: &[Event],
    ) -> Result<Self, Failure> {
        const OP: &str = "clEnqueueMapBuffer";
        let map = BeginMap::new(OP, mem, mem.in_root(&range), mode)?;
        let mut address = ptr::null_mut();
        // SAFETY: queue and buffer are live; the driver refuses ranges outside.
        let event = queue.enqueue(OP, &map.after(wait), |queue, n, list| unsafe {
            let (start, len) = (range.start, range.len());
            q::enqueue_map_buffer(queue, mem.raw(), 0, mode.flags(), start, len, &mut address, n, list)
        })?;
        map.finish(queue, event, address, range.len(), [range.len(), 0])
    }

    /// Maps a part of an image, not empty and inside. `layers` says that the second dimension counts the layers of a 1-D
    /// array. Blocks.
    pub fn image(
        queue: &Queue,
        image: (&Arc<Mem>, usize),
        part: &ImageBox,
        layers: bool,
        mode: MapMode,
        wait: &[Event],
    ) -> Result<Self, Failure> {
        const OP: &str = "clEnqueueMapImage";
        let (mem, pixel) = image;
        let map = BeginMap::new(OP, mem, 0..usize::MAX, mode)?;
        let (mut address, mut row, mut slice) = (ptr::null_mut(), 0, 0);
        // SAFETY: queue and image are live; the driver refuses parts outside.
        let event = queue.enqueue(OP, &map.after(wait), |queue, n, list| unsafe {
            let (origin, region, flags) = (part.origin.as_ptr(), part.region.as_ptr(), mode.flags());
            q::enqueue_map_image(
                queue,
                mem.raw(),
                0,
                flags,
                origin,
                region,
                &mut row,
                &mut slice,
                &mut address,
                n,
                list,
            )
        })?;
        let [w, rows, slices] = if layers { [part.region[0], 1, part.region[1]] } else { part.region };
        let len = (slices.saturating_sub(1)) * slice + (rows.saturating_sub(1)) * row + w * pixel;
        map.finish(queue, event, address, len, [row, slice])
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: mapped with this length until drop; the tracker lets no command write meanwhile.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr(), self.len) }
    }

    /// The bytes, to be written; empty where mapped for reading only.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        if self.mode == MapMode::Read {
            return &mut [];
        }
        // SAFETY: as above; the tracker lets no command and no other map touch bytes mapped for writing.
        unsafe { std::slice::from_raw_parts_mut(self.address.as_ptr(), self.len) }
    }

    /// Unmaps, and gives the event of that.
    pub fn unmap(mut self) -> Result<Event, Failure> {
        self.end()
    }

    fn end(&mut self) -> Result<Event, Failure> {
        // SAFETY: the address came from mapping this object and is unmapped once: `ended` guards it.
        let event = self.queue.enqueue("clEnqueueUnmapMemObject", &[], |queue, n, list| unsafe {
            q::enqueue_unmap_mem_object(queue, self.mem.raw(), self.address.as_ptr().cast(), n, list)
        });
        self.ended = true;
        self.mem.tracker().end_map(self.id, event.as_ref().ok());
        event
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        if !self.ended
            && let Err(failure) = self.end()
        {
            tracing::warn!(code = failure.code, "{} failed while a map was dropped", failure.operation);
        }
    }
}

/// A map on its way: ends what the tracker holds if it fails.
struct BeginMap<'a> {
    operation: &'static str,
    mem: &'a Arc<Mem>,
    mode: MapMode,
    id: Option<u64>,
    after: Vec<Event>,
}

impl<'a> BeginMap<'a> {
    fn new(operation: &'static str, mem: &'a Arc<Mem>, range: Range<usize>, mode: MapMode) -> Result<Self, Failure> {
        let (id, after) = mem.tracker().begin_map(operation, range, mode.access())?;
        Ok(Self { operation, mem, mode, id: Some(id), after })
    }

    fn after(&self, wait: &[Event]) -> Vec<Event> {
        [wait, &self.after].concat()
    }

    fn finish(
        mut self,
        queue: &Queue,
        event: Event,
        address: *mut c_void,
        len: usize,
        pitches: [usize; 2],
    ) -> Result<Mapped, Failure> {
        event.wait_until_final()?;
        let failed = Failure { operation: self.operation, code: CL_MAP_FAILURE };
        let address = NonNull::new(address.cast::<u8>()).ok_or(failed)?;
        let id = self.id.take().ok_or(failed)?;
        Ok(Mapped {
            queue: queue.clone(),
            mem: self.mem.clone(),
            address,
            len,
            pitches,
            mode: self.mode,
            id,
            ended: false,
        })
    }
}

impl Drop for BeginMap<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.mem.tracker().end_map(id, None);
        }
    }
}
