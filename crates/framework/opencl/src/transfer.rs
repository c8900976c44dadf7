//! Commands on buffers. Offsets and ranges are in bytes.

use super::{Buffer, Event, OwnedValues, PendingRead, Queue, RectLayout};
use crate::Element;
use crate::ffi::Mem;
use crate::ffi::track::Access::{Read, Write};
use cl3::command_queue as q;
use cl3::error_codes::CL_MEM_COPY_OVERLAP;
use cl3::memory as m;
use interop_core::devices::ranges::range_of;
use interop_core::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// Returns true where `clEnqueueFillBuffer` supports patterns of this size.
pub(super) const fn fills_with(bytes: usize) -> bool {
    bytes.is_power_of_two() && bytes <= 128
}

fn bytes_of<T>(operation: &'static str, count: usize) -> Result<usize> {
    count.checked_mul(size_of::<T>()).ok_or_else(|| Error::invalid(operation, format!("{count} values are too many")))
}

/// Returns how many values so many bytes are.
pub(super) fn values_in<T>(operation: &'static str, bytes: usize) -> Result<usize> {
    bytes.checked_div(size_of::<T>()).filter(|count| count * size_of::<T>() == bytes).ok_or_else(|| {
        let problem = format!("{bytes} bytes are not a whole number of values of {} bytes", size_of::<T>());
        Error::invalid(operation, problem)
    })
}

/// Reserves host memory for a read.
pub(super) fn zeroed<T: Element>(operation: &'static str, count: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    let reserved = values.try_reserve_exact(count);
    reserved.map_err(|error| Error::invalid(operation, format!("no host memory for {count} values: {error}")))?;
    values.resize(count, T::zeroed());
    Ok(values)
}

impl Queue {
    pub(super) fn check(&self, buffer: &Buffer, range: &Range<usize>, operation: &'static str) -> Result<()> {
        self.context().check_same(&buffer.context, operation, "buffer")?;
        buffer.check_range(range, operation)
    }

    /// Reads `count` values from byte `offset` (`clEnqueueReadBuffer`). Does not block.
    pub fn read<T: Element>(
        &self,
        from: &Buffer,
        offset: usize,
        count: usize,
        wait: &[Event],
    ) -> Result<PendingRead<T>> {
        const OP: &str = "clEnqueueReadBuffer";
        let range = range_of(offset, bytes_of::<T>(OP, count)?);
        self.check(from, &range, OP)?;
        let into = zeroed(OP, count)?;
        // SAFETY: the address holds the range and lives until the command is done; the rest is live.
        self.reading(OP, &[from.raw.used(&range, Read)], wait, into, |queue, to, n, list| unsafe {
            q::enqueue_read_buffer(queue, from.raw(), 0, offset, range.len(), to, n, list)
        })
    }

    /// Reads as many values as `into` holds, starting at byte `offset` (`clEnqueueReadBuffer`). Blocks.
    pub fn read_into<T: Element>(&self, from: &Buffer, offset: usize, into: &mut [T], wait: &[Event]) -> Result<()> {
        let range = range_of(offset, size_of_val(into));
        // SAFETY: `into` is borrowed until the command is done, which is waited for.
        // A blocking command would not be enough: where several threads use a queue, rusticl (seen with Mesa 22.3) returns
        // too early if another thread flushed.
        unsafe { self.read_to(from, range, into.as_mut_ptr().cast(), wait) }?.wait_until_final()
    }

    /// Reads the bytes `range` to an address (`clEnqueueReadBuffer`). Does not block.
    ///
    /// # Safety
    /// The address has this number of bytes, and no other code uses them until [`Event::wait_until_final`] has
    /// returned.
    pub unsafe fn read_to(&self, from: &Buffer, range: Range<usize>, to: *mut u8, wait: &[Event]) -> Result<Event> {
        const OP: &str = "clEnqueueReadBuffer";
        self.check(from, &range, OP)?;
        // SAFETY: the address is the caller's promise; the rest is live.
        self.enqueue_using(OP, &[from.raw.used(&range, Read)], wait, |queue, n, list| unsafe {
            q::enqueue_read_buffer(queue, from.raw(), 0, range.start, range.len(), to.cast(), n, list)
        })
    }

    /// Reads all of a buffer (`clEnqueueReadBuffer`). Blocks.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where its size is not a multiple of the value's.
    pub fn read_all<T: Element>(&self, from: &Buffer, wait: &[Event]) -> Result<Vec<T>> {
        self.read(from, 0, values_in::<T>("clEnqueueReadBuffer", from.len())?, wait)?.wait()
    }

    /// Writes values, which the command owns or shares until it has completed (`clEnqueueWriteBuffer`). Does not block.
    pub fn write<T: Element>(
        &self,
        to: &Buffer,
        offset: usize,
        from: impl Into<OwnedValues<T>>,
        wait: &[Event],
    ) -> Result<Event> {
        const OP: &str = "clEnqueueWriteBuffer";
        let from = from.into();
        let range = range_of(offset, size_of_val(from.as_slice()));
        self.check(to, &range, OP)?;
        // SAFETY: the address holds the range and lives until the command is done; the rest is live.
        self.writing(OP, &[to.raw.used(&range, Write)], wait, from, |queue, source, n, list| unsafe {
            q::enqueue_write_buffer(queue, to.raw(), 0, offset, range.len(), source, n, list)
        })
    }

    /// Writes borrowed values (`clEnqueueWriteBuffer`). Blocks until they are written.
    pub fn write_from<T: Element>(&self, to: &Buffer, offset: usize, from: &[T], wait: &[Event]) -> Result<()> {
        let range = range_of(offset, size_of_val(from));
        // SAFETY: `from` is borrowed until the command is done, which is waited for.
        unsafe { self.write_at(to, range, from.as_ptr().cast(), wait) }?.wait_until_final()
    }

    /// Writes the bytes `range` from an address (`clEnqueueWriteBuffer`). Does not block.
    ///
    /// # Safety
    /// The address has this number of bytes, and no other code changes them until [`Event::wait_until_final`] has
    /// returned.
    pub unsafe fn write_at(&self, to: &Buffer, range: Range<usize>, from: *const u8, wait: &[Event]) -> Result<Event> {
        const OP: &str = "clEnqueueWriteBuffer";
        self.check(to, &range, OP)?;
        // SAFETY: the address is the caller's promise; the rest is live.
        self.enqueue_using(OP, &[to.raw.used(&range, Write)], wait, |queue, n, list| unsafe {
            q::enqueue_write_buffer(queue, to.raw(), 0, range.start, range.len(), from.cast(), n, list)
        })
    }

    /// Fills `range` with repetitions of `pattern` (`clEnqueueFillBuffer`). Does not block.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the pattern's size is not 1, 2, 4, ... 128 bytes, or the range does not begin and end
    /// at multiples of it.
    pub fn fill<T: Element>(&self, to: &Buffer, pattern: T, range: Range<usize>, wait: &[Event]) -> Result<Event> {
        self.fill_bytes(to, bytemuck::bytes_of(&pattern), range, wait)
    }

    /// Fills `range` with repetitions of the bytes of `pattern` (`clEnqueueFillBuffer`); otherwise as [`Queue::fill`].
    pub fn fill_bytes(&self, to: &Buffer, pattern: &[u8], range: Range<usize>, wait: &[Event]) -> Result<Event> {
        const OP: &str = "clEnqueueFillBuffer";
        let size = pattern.len();
        if !fills_with(size) {
            return Err(Error::invalid(OP, format!("a pattern of {size} bytes; use 1, 2, 4, 8, 16, 32, 64 or 128")));
        }
        self.check(to, &range, OP)?;
        if !range.start.is_multiple_of(size) || !range.len().is_multiple_of(size) {
            let problem = format!("bytes {}..{} are not multiples of the pattern's {size}", range.start, range.end);
            return Err(Error::invalid(OP, problem));
        }
        // SAFETY: the driver copies the pattern before it returns; the rest is live.
        self.enqueue_using(OP, &[to.raw.used(&range, Write)], wait, |queue, n, list| unsafe {
            q::enqueue_fill_buffer(queue, to.raw(), pattern.as_ptr().cast(), size, range.start, range.len(), n, list)
        })
    }

    /// Copies `bytes` bytes between buffers, or in one where they do not overlap (`clEnqueueCopyBuffer`). Does not block.
    pub fn copy(
        &self,
        (from, from_offset): (&Buffer, usize),
        (to, to_offset): (&Buffer, usize),
        bytes: usize,
        wait: &[Event],
    ) -> Result<Event> {
        const OP: &str = "clEnqueueCopyBuffer";
        let (from_range, to_range) = (range_of(from_offset, bytes), range_of(to_offset, bytes));
        self.check(from, &from_range, OP)?;
        self.check(to, &to_range, OP)?;
        if from.raw.overlaps(&from_range, &to.raw, &to_range) {
            return Err(Error::invalid(OP, "the bytes to copy and their target overlap; copy through another buffer"));
        }
        self.copy_mem((&from.raw, from_range), (&to.raw, to_range), wait)
    }

    /// Copies as many bytes as the first range has; the driver rejects overlaps in one buffer.
    pub(crate) fn copy_mem(
        &self,
        (from, from_range): (&Mem, Range<usize>),
        (to, to_range): (&Mem, Range<usize>),
        wait: &[Event],
    ) -> Result<Event> {
        let uses = [from.used(&from_range, Read), to.used(&to_range, Write)];
        // SAFETY: all objects are live.
        self.enqueue_using("clEnqueueCopyBuffer", &uses, wait, |queue, n, list| unsafe {
            let (start, to_start, len) = (from_range.start, to_range.start, from_range.len());
            q::enqueue_copy_buffer(queue, from.raw(), to.raw(), start, to_start, len, n, list)
        })
    }

    fn check_rect(
        &self,
        buffer: &Buffer,
        layout: &RectLayout,
        region: [usize; 3],
        operation: &'static str,
    ) -> Result<(RectLayout, Range<usize>)> {
        let (layout, range) = resolved(layout, region, operation)?;
        self.check(buffer, &range, operation)?;
        Ok((layout, range))
    }

    /// Reads a box: `region` is in bytes, rows and slices. Returns `host_len` values; those outside the box are zero
    /// (`clEnqueueReadBufferRect`). Does not block.
    pub fn read_rect<T: Element>(
        &self,
        (from, buffer): (&Buffer, RectLayout),
        (host_len, host): (usize, RectLayout),
        region: [usize; 3],
        wait: &[Event],
    ) -> Result<PendingRead<T>> {
        const OP: &str = "clEnqueueReadBufferRect";
        let (buffer, range) = self.check_rect(from, &buffer, region, OP)?;
        let host = check_host(&host, region, bytes_of::<T>(OP, host_len)?, OP)?;
        let into = zeroed(OP, host_len)?;
        // SAFETY: the box lies inside the host memory, which lives until the command is done; the rest is live, and
        // the arrays have three numbers.
        self.reading(OP, &[from.raw.used(&range, Read)], wait, into, |queue, to, n, list| unsafe {
            let ([at, host_at], region) = ([&buffer, &host].map(|side| side.origin.as_ptr()), region.as_ptr());
            let [row, slice, host_row, host_slice] = pitches(&buffer, &host);
            q::enqueue_read_buffer_rect(
                queue,
                from.raw(),
                0,
                at,
                host_at,
                region,
                row,
                slice,
                host_row,
                host_slice,
                to,
                n,
                list,
            )
        })
    }

    /// Writes a box (`clEnqueueWriteBufferRect`). Does not block.
    pub fn write_rect<T: Element>(
        &self,
        (to, buffer): (&Buffer, RectLayout),
        (from, host): (impl Into<OwnedValues<T>>, RectLayout),
        region: [usize; 3],
        wait: &[Event],
    ) -> Result<Event> {
        const OP: &str = "clEnqueueWriteBufferRect";
        let from = from.into();
        let (buffer, range) = self.check_rect(to, &buffer, region, OP)?;
        let host = check_host(&host, region, size_of_val(from.as_slice()), OP)?;
        // SAFETY: as for reading.
        self.writing(OP, &[to.raw.used(&range, Write)], wait, from, |queue, source, n, list| unsafe {
            let ([at, host_at], region) = ([&buffer, &host].map(|side| side.origin.as_ptr()), region.as_ptr());
            let [row, slice, host_row, host_slice] = pitches(&buffer, &host);
            q::enqueue_write_buffer_rect(
                queue,
                to.raw(),
                0,
                at,
                host_at,
                region,
                row,
                slice,
                host_row,
                host_slice,
                source,
                n,
                list,
            )
        })
    }

    /// Copies a box between buffers (`clEnqueueCopyBufferRect`). Does not block. Both may be boxes of one buffer if the
    /// bytes from the first to the last of each do not overlap.
    pub fn copy_rect(
        &self,
        (from, from_layout): (&Buffer, RectLayout),
        (to, to_layout): (&Buffer, RectLayout),
        region: [usize; 3],
        wait: &[Event],
    ) -> Result<Event> {
        const OP: &str = "clEnqueueCopyBufferRect";
        let (from_layout, from_range) = self.check_rect(from, &from_layout, region, OP)?;
        let (to_layout, to_range) = self.check_rect(to, &to_layout, region, OP)?;
        if from.raw.overlaps(&from_range, &to.raw, &to_range) {
            return Err(Error::invalid(OP, "the boxes may overlap; copy through another buffer"));
        }
        let (from, to) = ((&*from.raw, from_layout, from_range), (&*to.raw, to_layout, to_range));
        match self.copy_rect_at_once(from.clone(), to.clone(), region, wait) {
            // PoCL 3.1 counts one slice too many, and so reports an overlap where two boxes of one buffer are close.
            Err(Error::Driver(refused)) if refused.code == i64::from(CL_MEM_COPY_OVERLAP) => {
                let len = region.iter().product();
                let between = self.scratch(len)?;
                let (layout, range) = resolved(&RectLayout::default(), region, OP)?;
                let tight = (&*between, layout, range);
                let copied = self.copy_rect_at_once(from, tight.clone(), region, wait)?;
                self.copy_rect_at_once(tight, to, region, &[copied])
            }
            copied => copied,
        }
    }

    /// Memory for the bytes of a command that needs an intermediate buffer.
    pub(crate) fn scratch(&self, len: usize) -> Result<Arc<Mem>> {
        Mem::buffer(self.context(), m::CL_MEM_READ_WRITE, len, None).map_err(|f| self.error(f))
    }

    fn copy_rect_at_once(
        &self,
        (from, from_layout, from_range): (&Mem, RectLayout, Range<usize>),
        (to, to_layout, to_range): (&Mem, RectLayout, Range<usize>),
        region: [usize; 3],
        wait: &[Event],
    ) -> Result<Event> {
        const OP: &str = "clEnqueueCopyBufferRect";
        let uses = [from.used(&from_range, Read), to.used(&to_range, Write)];
        let ((from, from_start), (to, to_start)) = (from.whole(), to.whole());
        let moved =
            |layout: RectLayout, start| layout.moved(start).ok_or_else(|| Error::invalid(OP, "its position overflows"));
        let (from_layout, to_layout) = (moved(from_layout, from_start)?, moved(to_layout, to_start)?);
        // SAFETY: all objects are live, and the arrays have three numbers.
        self.enqueue_using(OP, &uses, wait, |queue, n, list| unsafe {
            let [at, to_at] = [&from_layout, &to_layout].map(|side| side.origin.as_ptr());
            let [row, slice, to_row, to_slice] = pitches(&from_layout, &to_layout);
            let (from, to, region) = (from.raw(), to.raw(), region.as_ptr());
            q::enqueue_copy_buffer_rect(queue, from, to, at, to_at, region, row, slice, to_row, to_slice, n, list)
        })
    }

    /// Moves buffers to this queue's device, or to the host, ahead of their use (`clEnqueueMigrateMemObjects`). Does
    /// not block.
    pub fn migrate(&self, buffers: &[&Buffer], how: Migration, wait: &[Event]) -> Result<Event> {
        const OP: &str = "clEnqueueMigrateMemObjects";
        if buffers.is_empty() {
            return Err(Error::invalid(OP, "no buffer was given"));
        }
        for buffer in buffers {
            self.context().check_same(&buffer.context, OP, "buffer")?;
        }
        let uses: Vec<_> = buffers.iter().map(|buffer| buffer.raw.used_whole(Write)).collect();
        let list: Vec<_> = buffers.iter().map(|buffer| buffer.raw()).collect();
        // SAFETY: all objects are live; the list has as many as is said.
        self.enqueue_using(OP, &uses, wait, |queue, n, events| unsafe {
            q::enqueue_migrate_mem_object(queue, list.len() as u32, list.as_ptr(), how.flags(), n, events)
        })
    }
}

/// Destination of memory that [`Queue::migrate`] moves (`cl_mem_migration_flags`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Migration {
    /// To the queue's device: no bit of `cl_mem_migration_flags`.
    ToDevice,
    /// To the queue's device; the content is lost: `CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED`.
    ToDeviceUndefined,
    /// To the host: `CL_MIGRATE_MEM_OBJECT_HOST`.
    ToHost,
}

impl Migration {
    const fn flags(self) -> u64 {
        match self {
            Self::ToDevice => 0,
            Self::ToDeviceUndefined => m::CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED,
            Self::ToHost => m::CL_MIGRATE_MEM_OBJECT_HOST,
        }
    }
}

/// Returns the layout with its pitches, and the bytes from the first to the last of the box.
fn resolved(layout: &RectLayout, region: [usize; 3], operation: &'static str) -> Result<(RectLayout, Range<usize>)> {
    layout.resolve(region).ok_or_else(|| {
        Error::invalid(
            operation,
            format!(
                "{layout:?} cannot hold a box of {region:?}: sides must not be 0, a row's pitch at least its bytes, a \
                 slice's pitch at least its rows and a multiple of the row's"
            ),
        )
    })
}

fn check_host(layout: &RectLayout, region: [usize; 3], host: usize, operation: &'static str) -> Result<RectLayout> {
    let (layout, range) = resolved(layout, region, operation)?;
    if range.end > host {
        let problem = format!("the box ends at byte {} of {host} bytes of host memory", range.end);
        return Err(Error::invalid(operation, problem));
    }
    Ok(layout)
}

fn pitches(from: &RectLayout, to: &RectLayout) -> [usize; 4] {
    [from.row_pitch, from.slice_pitch, to.row_pitch, to.slice_pitch]
}
