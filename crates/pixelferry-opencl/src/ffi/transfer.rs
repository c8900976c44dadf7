//! Commands on buffers. Ranges of host memory are checked here; those of device memory by the caller and the driver.

use super::pending::{Owned, Reading};
use super::rect::RectLayout;
use super::track::Access::{Read, Write};
use super::{Event, Failure, Mem, Queue};
use bytemuck::Pod;
use cl3::command_queue as q;
use cl3::error_codes::{CL_INVALID_VALUE, CL_MEM_COPY_OVERLAP};
use cl3::memory as m;
use std::ops::Range;

/// Values that cross between host and device as bytes, by `clEnqueueReadBuffer`, `clSetKernelArg` and their like. Any
/// plain type will do of which every pattern of bits is a value.
pub trait Element: Pod + Send + Sync {}

impl<T: Pod + Send + Sync> Element for T {}

/// Both sides of a copy between a buffer and host memory.
#[derive(Debug, Clone, Copy)]
pub struct RectTransfer {
    pub buffer: RectLayout,
    pub host: RectLayout,
    /// Bytes, rows, slices.
    pub region: [usize; 3],
}

/// Pitches resolved, the bytes of the buffer that are touched.
struct Checked {
    buffer: RectLayout,
    host: RectLayout,
    range: Range<usize>,
}

impl RectTransfer {
    fn check(&self, operation: &'static str, host_bytes: usize) -> Result<Checked, Failure> {
        let invalid = Failure { operation, code: CL_INVALID_VALUE };
        let (buffer, range) = self.buffer.resolve(self.region).ok_or(invalid)?;
        let (host, span) = self.host.resolve(self.region).ok_or(invalid)?;
        if span.end > host_bytes {
            return Err(invalid);
        }
        Ok(Checked { buffer, host, range })
    }
}

impl Queue {
    /// Reads `into.len()` values from byte `offset`, and gives them when they are there.
    pub fn read<T: Element>(
        &self,
        mem: &Mem,
        offset: usize,
        into: Vec<T>,
        wait: &[Event],
    ) -> Result<Reading<T>, Failure> {
        let bytes = size_of_val(into.as_slice());
        let uses = [mem.used(&(offset..offset.saturating_add(bytes)), Read)];
        // SAFETY: the address holds `bytes` and lives until the command is done; the rest is live.
        self.reading("clEnqueueReadBuffer", &uses, wait, into, |queue, to, n, list| unsafe {
            q::enqueue_read_buffer(queue, mem.raw(), 0, offset, bytes, to, n, list)
        })
    }

    /// Reads into borrowed memory; blocks. Waits for the event even though the command is a blocking one. When several
    /// threads use a queue, rusticl (seen with Mesa 22.3) returns from such a command too early if another thread
    /// flushed.
    pub fn read_into(&self, mem: &Mem, offset: usize, into: &mut [u8], wait: &[Event]) -> Result<(), Failure> {
        let uses = [mem.used(&(offset..offset.saturating_add(into.len())), Read)];
        // SAFETY: `into` is borrowed until the command is done, which is waited for; the rest is live.
        let event = self.enqueue_using("clEnqueueReadBuffer", &uses, wait, |queue, n, list| unsafe {
            q::enqueue_read_buffer(queue, mem.raw(), 1, offset, into.len(), into.as_mut_ptr().cast(), n, list)
        })?;
        event.wait_until_final()
    }

    /// Writes values that the command keeps.
    pub fn write<T: Element>(
        &self,
        mem: &Mem,
        offset: usize,
        from: Owned<T>,
        wait: &[Event],
    ) -> Result<Event, Failure> {
        let bytes = size_of_val(from.as_slice());
        let uses = [mem.used(&(offset..offset.saturating_add(bytes)), Write)];
        // SAFETY: the address holds `bytes` and lives until the command is done; the rest is live.
        self.writing("clEnqueueWriteBuffer", &uses, wait, from, |queue, source, n, list| unsafe {
            q::enqueue_write_buffer(queue, mem.raw(), 0, offset, bytes, source, n, list)
        })
    }

    /// Writes from borrowed memory; blocks.
    pub fn write_from(&self, mem: &Mem, offset: usize, from: &[u8], wait: &[Event]) -> Result<(), Failure> {
        let uses = [mem.used(&(offset..offset.saturating_add(from.len())), Write)];
        // SAFETY: `from` is borrowed until the command is done, which is waited for; the rest is live.
        let event = self.enqueue_using("clEnqueueWriteBuffer", &uses, wait, |queue, n, list| unsafe {
            q::enqueue_write_buffer(queue, mem.raw(), 1, offset, from.len(), from.as_ptr().cast(), n, list)
        })?;
        event.wait_until_final()
    }

    /// Reads a box of bytes; what lies between the rows of `into` keeps its values.
    pub fn read_rect<T: Element>(
        &self,
        mem: &Mem,
        rect: &RectTransfer,
        into: Vec<T>,
        wait: &[Event],
    ) -> Result<Reading<T>, Failure> {
        const CALL: &str = "clEnqueueReadBufferRect";
        let Checked { buffer, host, range } = rect.check(CALL, size_of_val(into.as_slice()))?;
        // SAFETY: the box lies inside the host memory, which lives until the command is done; the rest is live, and
        // the arrays have three numbers.
        self.reading(CALL, &[mem.used(&range, Read)], wait, into, |queue, to, n, list| unsafe {
            q::enqueue_read_buffer_rect(
                queue,
                mem.raw(),
                0,
                buffer.origin.as_ptr(),
                host.origin.as_ptr(),
                rect.region.as_ptr(),
                buffer.row_pitch,
                buffer.slice_pitch,
                host.row_pitch,
                host.slice_pitch,
                to,
                n,
                list,
            )
        })
    }

    /// Writes a box of bytes.
    pub fn write_rect<T: Element>(
        &self,
        mem: &Mem,
        rect: &RectTransfer,
        from: Owned<T>,
        wait: &[Event],
    ) -> Result<Event, Failure> {
        const CALL: &str = "clEnqueueWriteBufferRect";
        let Checked { buffer, host, range } = rect.check(CALL, size_of_val(from.as_slice()))?;
        // SAFETY: as for reading.
        self.writing(CALL, &[mem.used(&range, Write)], wait, from, |queue, source, n, list| unsafe {
            q::enqueue_write_buffer_rect(
                queue,
                mem.raw(),
                0,
                buffer.origin.as_ptr(),
                host.origin.as_ptr(),
                rect.region.as_ptr(),
                buffer.row_pitch,
                buffer.slice_pitch,
                host.row_pitch,
                host.slice_pitch,
                source,
                n,
                list,
            )
        })
    }

    /// Fills `range` with repetitions of `pattern`.
    pub fn fill(&self, mem: &Mem, pattern: &[u8], range: Range<usize>, wait: &[Event]) -> Result<Event, Failure> {
        // SAFETY: the driver copies the pattern before it returns; the rest is live.
        self.enqueue_using("clEnqueueFillBuffer", &[mem.used(&range, Write)], wait, |queue, n, list| unsafe {
            let (pattern, size) = (pattern.as_ptr().cast(), pattern.len());
            q::enqueue_fill_buffer(queue, mem.raw(), pattern, size, range.start, range.len(), n, list)
        })
    }

    /// Copies `bytes` between buffers; the driver refuses overlaps in one buffer.
    pub fn copy(
        &self,
        (from, from_offset): (&Mem, usize),
        (to, to_offset): (&Mem, usize),
        bytes: usize,
        wait: &[Event],
    ) -> Result<Event, Failure> {
        let uses = [
            from.used(&(from_offset..from_offset.saturating_add(bytes)), Read),
            to.used(&(to_offset..to_offset.saturating_add(bytes)), Write),
        ];
        // SAFETY: all objects are live.
        self.enqueue_using("clEnqueueCopyBuffer", &uses, wait, |queue, n, list| unsafe {
            q::enqueue_copy_buffer(queue, from.raw(), to.raw(), from_offset, to_offset, bytes, n, list)
        })
    }

    /// Copies a box of bytes between buffers. The bytes from the first to the last of both must not overlap.
    pub fn copy_rect(
        &self,
        from: (&Mem, &RectLayout),
        to: (&Mem, &RectLayout),
        region: [usize; 3],
        wait: &[Event],
    ) -> Result<Event, Failure> {
        match self.copy_rect_at_once(from, to, region, wait) {
            // PoCL 3.1 counts one slice more than there is, and so sees an overlap where two boxes of one buffer are near.
            Err(Failure { code: CL_MEM_COPY_OVERLAP, .. }) => {
                let len = region.iter().product();
                let between = Mem::buffer(self.context(), m::CL_MEM_READ_WRITE, len, None)?;
                let tight = (&*between, &RectLayout::default());
                let copied = self.copy_rect_at_once(from, tight, region, wait)?;
                self.copy_rect_at_once(tight, to, region, &[copied])
            }
            copied => copied,
        }
    }

    fn copy_rect_at_once(
        &self,
        (from, from_layout): (&Mem, &RectLayout),
        (to, to_layout): (&Mem, &RectLayout),
        region: [usize; 3],
        wait: &[Event],
    ) -> Result<Event, Failure> {
        const CALL: &str = "clEnqueueCopyBufferRect";
        let invalid = Failure { operation: CALL, code: CL_INVALID_VALUE };
        let (from_layout, from_range) = from_layout.resolve(region).ok_or(invalid)?;
        let (to_layout, to_range) = to_layout.resolve(region).ok_or(invalid)?;
        let uses = [from.used(&from_range, Read), to.used(&to_range, Write)];
        let ((from, from_start), (to, to_start)) = (from.whole(), to.whole());
        let from_layout = from_layout.moved(from_start).ok_or(invalid)?;
        let to_layout = to_layout.moved(to_start).ok_or(invalid)?;
        // SAFETY: all objects are live, and the arrays have three numbers.
        self.enqueue_using(CALL, &uses, wait, |queue, n, list| unsafe {
            q::enqueue_copy_buffer_rect(
                queue,
                from.raw(),
                to.raw(),
                from_layout.origin.as_ptr(),
                to_layout.origin.as_ptr(),
                region.as_ptr(),
                from_layout.row_pitch,
                from_layout.slice_pitch,
                to_layout.row_pitch,
                to_layout.slice_pitch,
                n,
                list,
            )
        })
    }

    /// Moves memory objects to the queue's device, or to the host; `flags` are `CL_MIGRATE_MEM_OBJECT_*`.
    pub fn migrate(&self, mems: &[&Mem], flags: u64, wait: &[Event]) -> Result<Event, Failure> {
        let uses: Vec<_> = mems.iter().map(|mem| mem.used_whole(Write)).collect();
        let list: Vec<_> = mems.iter().map(|mem| mem.raw()).collect();
        // SAFETY: all objects are live; the list has as many as is said.
        self.enqueue_using("clEnqueueMigrateMemObjects", &uses, wait, |queue, n, events| unsafe {
            q::enqueue_migrate_mem_object(queue, list.len() as u32, list.as_ptr(), flags, n, events)
        })
    }
}
