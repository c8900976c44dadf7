//! Device memory that the host sees as a slice for a while.

use super::image::ImageBox;
use super::track::{Access, CommandEntry};
use super::{Failure, Mem};
use crate::{Event, Queue};
use cl3::command_queue as q;
use cl3::error_codes::CL_MAP_FAILURE;
use cl3::memory as m;
use interop_core::Result;
use interop_core::devices::borrows::Borrow;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// Access of the host to mapped bytes.
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
pub struct MappedBytes {
    queue: Queue,
    mem: Arc<Mem>,
    address: NonNull<u8>,
    len: usize,
    /// Bytes from row to row and slice to slice, for images.
    pub pitches: [usize; 2],
    mode: MapMode,
    /// Keeps everything else from the bytes; none where the host does not look at them by this.
    borrow: Option<Borrow>,
    ended: bool,
}

// SAFETY: the address is memory that the map gives to this value alone (or to several that only read), and the objects
// are `Send`.
unsafe impl Send for MappedBytes {}
// SAFETY: shared references only read the bytes.
unsafe impl Sync for MappedBytes {}

impl MappedBytes {
    /// Maps bytes of a buffer; `range` is not empty and inside. Blocks.
    pub fn buffer(queue: &Queue, mem: &Arc<Mem>, range: Range<usize>, mode: MapMode, wait: &[Event]) -> Result<Self> {
        const CALL: &str = "clEnqueueMapBuffer";
        let (borrow, after) =
            mem.tracker().begin_map(CALL, &mem.in_root(&range), mode.access()).map_err(|f| queue.error(f))?;
        let mut address = ptr::null_mut();
        // SAFETY: queue and buffer are live; the driver refuses ranges outside.
        let event = queue.enqueue(CALL, &[wait, &after].concat(), |queue, n, list| unsafe {
            let (start, len) = (range.start, range.len());
            q::enqueue_map_buffer(queue, mem.raw(), 0, mode.flags(), start, len, &mut address, n, list)
        })?;
        event.wait_until_final()?;
        Self::of((queue, mem), (CALL, address), (range.len(), [range.len(), 0]), (mode, Some(borrow)))
    }

    /// Maps all `len` bytes of a buffer over host memory for the memory's other owners, who use it by its address. Blocks.
    pub fn lent(queue: &Queue, mem: &Arc<Mem>, len: usize) -> Result<Self> {
        const CALL: &str = "clEnqueueMapBuffer";
        let mode = MapMode::ReadWrite;
        let mut address = ptr::null_mut();
        let uses = [mem.used(&(0..len), Access::Write)];
        // SAFETY: queue and buffer are live; the driver refuses ranges outside.
        let event = queue.enqueue_using(CALL, &uses, &mem.tracker().pending(), |queue, n, list| unsafe {
            q::enqueue_map_buffer(queue, mem.raw(), 0, mode.flags(), 0, len, &mut address, n, list)
        })?;
        event.wait_until_final()?;
        Self::of((queue, mem), (CALL, address), (len, [len, 0]), (mode, None))
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
    ) -> Result<Self> {
        const CALL: &str = "clEnqueueMapImage";
        let (mem, pixel) = image;
        let (borrow, after) =
            mem.tracker().begin_map(CALL, &mem.in_root(&(0..usize::MAX)), mode.access()).map_err(|f| queue.error(f))?;
        let (mut address, mut row, mut slice) = (ptr::null_mut(), 0, 0);
        // SAFETY: queue and image are live; the driver refuses parts outside.
        let event = queue.enqueue(CALL, &[wait, &after].concat(), |queue, n, list| unsafe {
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
        event.wait_until_final()?;
        Self::of((queue, mem), (CALL, address), (len, [row, slice]), (mode, Some(borrow)))
    }

    fn of(
        (queue, mem): (&Queue, &Arc<Mem>),
        (operation, address): (&'static str, *mut c_void),
        (len, pitches): (usize, [usize; 2]),
        (mode, borrow): (MapMode, Option<Borrow>),
    ) -> Result<Self> {
        let address = NonNull::new(address.cast::<u8>())
            .ok_or_else(|| queue.error(Failure { operation, code: CL_MAP_FAILURE }))?;
        Ok(Self { queue: queue.clone(), mem: mem.clone(), address, len, pitches, mode, borrow, ended: false })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        if self.borrow.is_none() {
            return &[];
        }
        // SAFETY: mapped with this length until drop; the borrow lets nothing else write meanwhile.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr(), self.len) }
    }

    /// The bytes, to be written; empty where mapped for reading only.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        if self.mode == MapMode::Read || self.borrow.is_none() {
            return &mut [];
        }
        // SAFETY: as above; the borrow lets nothing else touch bytes mapped for writing.
        unsafe { std::slice::from_raw_parts_mut(self.address.as_ptr(), self.len) }
    }

    /// Unmaps, and gives the event of that.
    pub fn unmap(mut self) -> Result<Event> {
        self.end()
    }

    /// Ends a map of [`MappedBytes::lent`] once; an error, and the map stays, while another owner writes the bytes.
    pub fn take_back(&mut self) -> Result<()> {
        if self.ended {
            return Ok(());
        }
        let mem = self.mem.clone();
        let entering = CommandEntry::shared("clEnqueueUnmapMemObject", &[mem.used_whole(Access::Read)]);
        let _entering = entering.map_err(|f| self.queue.error(f))?;
        self.end().map(drop)
    }

    fn end(&mut self) -> Result<Event> {
        // SAFETY: the address came from mapping this object and is unmapped once: `ended` guards it.
        let event = self.queue.enqueue("clEnqueueUnmapMemObject", &[], |queue, n, list| unsafe {
            q::enqueue_unmap_mem_object(queue, self.mem.raw(), self.address.as_ptr().cast(), n, list)
        });
        self.ended = true;
        if let Ok(event) = &event {
            self.mem.tracker().unmapped(event);
        }
        self.borrow = None;
        event
    }
}

impl Drop for MappedBytes {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        if !self.ended
            && let Err(error) = self.end()
        {
            tracing::warn!(%error, "a dropped map could not be unmapped");
        }
    }
}
