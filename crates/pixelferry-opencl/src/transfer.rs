//! Commands on buffers. Offsets and ranges are in bytes.

use super::{Buffer, Event, Owned, PendingRead, Queue, RectLayout};
use crate::ffi::{Element, RectTransfer};
use crate::ranges::range_of;
use interop_core::{Error, Result};
use std::ops::Range;

fn bytes_of<T>(operation: &'static str, count: usize) -> Result<usize> {
    count.checked_mul(size_of::<T>()).ok_or_else(|| Error::invalid(operation, format!("{count} values are too many")))
}

/// Host memory to read into.
pub(super) fn zeroed<T: Element>(operation: &'static str, count: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    let reserved = values.try_reserve_exact(count);
    reserved.map_err(|error| Error::invalid(operation, format!("no host memory for {count} values: {error}")))?;
    values.resize(count, T::zeroed());
    Ok(values)
}

impl Queue {
    fn check(&self, buffer: &Buffer, range: &Range<usize>, operation: &'static str) -> Result<()> {
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
        self.check(from, &range_of(offset, bytes_of::<T>(OP, count)?), OP)?;
        let into = zeroed(OP, count)?;
        let raw = self.enqueue(OP, wait, |queue, wait| queue.read(&from.raw, offset, into, wait))?;
        Ok(PendingRead::of(raw, self.context()))
    }

    /// Reads as many values as `into` holds, from byte `offset` (`clEnqueueReadBuffer`). Blocks.
    pub fn read_into<T: Element>(&self, from: &Buffer, offset: usize, into: &mut [T], wait: &[Event]) -> Result<()> {
        const OP: &str = "clEnqueueReadBuffer";
        self.check(from, &range_of(offset, size_of_val(into)), OP)?;
        let into = bytemuck::cast_slice_mut(into);
        self.enqueue(OP, wait, |queue, wait| queue.read_into(&from.raw, offset, into, wait))
    }

    /// Reads all of a buffer (`clEnqueueReadBuffer`). Blocks.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where its size is no multiple of the value's.
    pub fn read_all<T: Element>(&self, from: &Buffer, wait: &[Event]) -> Result<Vec<T>> {
        if size_of::<T>() == 0 || !from.len().is_multiple_of(size_of::<T>()) {
            let problem = format!("{} bytes are no whole number of values of {} bytes", from.len(), size_of::<T>());
            return Err(Error::invalid("clEnqueueReadBuffer", problem));
        }
        self.read(from, 0, from.len() / size_of::<T>(), wait)?.wait()
    }

    /// Writes values, which the command owns or shares until it is done (`clEnqueueWriteBuffer`). Does not block.
    pub fn write<T: Element>(
        &self,
        to: &Buffer,
        offset: usize,
        from: impl Into<Owned<T>>,
        wait: &[Event],
    ) -> Result<Event> {
        const OP: &str = "clEnqueueWriteBuffer";
        let from = from.into();
        self.check(to, &range_of(offset, size_of_val(from.as_slice())), OP)?;
        self.command(OP, wait, |queue, wait| queue.write(&to.raw, offset, from, wait))
    }

    /// Writes borrowed values (`clEnqueueWriteBuffer`). Blocks until they are written.
    pub fn write_from<T: Element>(&self, to: &Buffer, offset: usize, from: &[T], wait: &[Event]) -> Result<()> {
        const OP: &str = "clEnqueueWriteBuffer";
        self.check(to, &range_of(offset, size_of_val(from)), OP)?;
        let from = bytemuck::cast_slice(from);
        self.enqueue(OP, wait, |queue, wait| queue.write_from(&to.raw, offset, from, wait))
    }

    /// True where `clEnqueueFillBuffer` takes patterns of this size.
    pub(super) const fn fills_with<T>() -> bool {
        size_of::<T>().is_power_of_two() && size_of::<T>() <= 128
    }

    /// Fills `range` with repetitions of `pattern` (`clEnqueueFillBuffer`). Does not block.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the pattern's size is not 1, 2, 4, ... 128 bytes, or the range does not begin and end
    /// at multiples of it.
    pub fn fill<T: Element>(&self, to: &Buffer, pattern: T, range: Range<usize>, wait: &[Event]) -> Result<Event> {
        const OP: &str = "clEnqueueFillBuffer";
        let size = size_of::<T>();
        if !Self::fills_with::<T>() {
            return Err(Error::invalid(OP, format!("a pattern of {size} bytes; take 1, 2, 4, 8, 16, 32, 64 or 128")));
        }
        self.check(to, &range, OP)?;
        if !range.start.is_multiple_of(size) || !range.len().is_multiple_of(size) {
            let problem = format!("bytes {}..{} are not multiples of the pattern's {size}", range.start, range.end);
            return Err(Error::invalid(OP, problem));
        }
        let pattern = bytemuck::bytes_of(&pattern);
        self.command(OP, wait, |queue, wait| queue.fill(&to.raw, pattern, range, wait))
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
            return Err(Error::invalid(
                OP,
                "the bytes to copy and their target overlap; copy by way of another buffer",
            ));
        }
        self.command(OP, wait, |queue, wait| queue.copy((&from.raw, from_offset), (&to.raw, to_offset), bytes, wait))
    }

    fn check_rect(
        &self,
        buffer: &Buffer,
        layout: &RectLayout,
        region: [usize; 3],
        operation: &'static str,
    ) -> Result<Range<usize>> {
        let range = rect_range(layout, region, operation)?;
        self.check(buffer, &range, operation)?;
        Ok(range)
    }

    /// Reads a box: `region` is bytes, rows and slices. Gives `host_len` values, of which those outside the box are zero
    /// (`clEnqueueReadBufferRect`). Does not block.
    pub fn read_rect<T: Element>(
        &self,
        (from, buffer): (&Buffer, RectLayout),
        (host_len, host): (usize, RectLayout),
        region: [usize; 3],
        wait: &[Event],
    ) -> Result<PendingRead<T>> {
        const OP: &str = "clEnqueueReadBufferRect";
        self.check_rect(from, &buffer, region, OP)?;
        check_host(rect_range(&host, region, OP)?, bytes_of::<T>(OP, host_len)?, OP)?;
        let rect = RectTransfer { buffer, host, region };
        let into = zeroed(OP, host_len)?;
        let raw = self.enqueue(OP, wait, |queue, wait| queue.read_rect(&from.raw, &rect, into, wait))?;
        Ok(PendingRead::of(raw, self.context()))
    }

    /// Writes a box (`clEnqueueWriteBufferRect`). Does not block.
    pub fn write_rect<T: Element>(
        &self,
        (to, buffer): (&Buffer, RectLayout),
        (from, host): (impl Into<Owned<T>>, RectLayout),
        region: [usize; 3],
        wait: &[Event],
    ) -> Result<Event> {
        const OP: &str = "clEnqueueWriteBufferRect";
        let from = from.into();
        self.check_rect(to, &buffer, region, OP)?;
        check_host(rect_range(&host, region, OP)?, size_of_val(from.as_slice()), OP)?;
        let rect = RectTransfer { buffer, host, region };
        self.command(OP, wait, |queue, wait| queue.write_rect(&to.raw, &rect, from, wait))
    }

    /// Copies a box between buffers (`clEnqueueCopyBufferRect`). Does not block. The two may be boxes of one buffer where
    /// the bytes from the first to the last of each do not overlap.
    pub fn copy_rect(
        &self,
        (from, from_layout): (&Buffer, RectLayout),
        (to, to_layout): (&Buffer, RectLayout),
        region: [usize; 3],
        wait: &[Event],
    ) -> Result<Event> {
        const OP: &str = "clEnqueueCopyBufferRect";
        let from_range = self.check_rect(from, &from_layout, region, OP)?;
        let to_range = self.check_rect(to, &to_layout, region, OP)?;
        if from.raw.overlaps(&from_range, &to.raw, &to_range) {
            return Err(Error::invalid(OP, "the boxes may overlap; copy by way of another buffer"));
        }
        self.command(OP, wait, |queue, wait| {
            queue.copy_rect((&from.raw, &from_layout), (&to.raw, &to_layout), region, wait)
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
        let mems: Vec<_> = buffers.iter().map(|buffer| &*buffer.raw).collect();
        self.command(OP, wait, |queue, wait| queue.migrate(&mems, how.flags(), wait))
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
            Self::ToDeviceUndefined => cl3::memory::CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED,
            Self::ToHost => cl3::memory::CL_MIGRATE_MEM_OBJECT_HOST,
        }
    }
}

fn rect_range(layout: &RectLayout, region: [usize; 3], operation: &'static str) -> Result<Range<usize>> {
    let resolved = layout.resolve(region).map(|(_, range)| range);
    resolved.ok_or_else(|| {
        Error::invalid(
            operation,
            format!(
                "{layout:?} cannot hold a box of {region:?}: sides must not be 0, a row's pitch at least its bytes, a \
                 slice's pitch at least its rows and a multiple of the row's"
            ),
        )
    })
}

fn check_host(range: Range<usize>, host: usize, operation: &'static str) -> Result<()> {
    if range.end > host {
        return Err(Error::invalid(
            operation,
            format!("the box ends at byte {} of {host} bytes of host memory", range.end),
        ));
    }
    Ok(())
}
