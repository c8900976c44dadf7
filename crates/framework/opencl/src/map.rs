//! Mapped buffers: device memory that the host accesses as a slice while a guard lives.

use super::{Buffer, Event, Queue};
use crate::Element;
use crate::ffi::{MapMode, MappedBytes};
use interop_core::{Error, Result};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};

const OP: &str = "clEnqueueMapBuffer";

/// Values of a buffer, for reading (`clEnqueueMapBuffer`, `CL_MAP_READ`). Several guards may be alive at once. While
/// one is, commands that write these bytes return [`Error::InvalidInput`], even after it was leaked; its drop unmaps
/// the bytes in queue order.
pub struct MapRead<T> {
    mapped: MappedBytes,
    values: PhantomData<T>,
}

/// Values of a buffer, for reading and writing (`clEnqueueMapBuffer` with the flags of [`Queue::map_write`] or
/// [`Queue::map_overwrite`]). While it lives, commands that use these bytes return [`Error::InvalidInput`], even after
/// it was leaked; its drop unmaps the bytes in queue order.
pub struct MapWrite<T> {
    mapped: MappedBytes,
    values: PhantomData<T>,
}

impl Queue {
    /// Maps the bytes `range` for reading (`clEnqueueMapBuffer`, `CL_MAP_READ`). Blocks: waits for every command, of any
    /// queue, that uses the buffer.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the range is not a whole number of values, reaches outside, or is mapped for writing.
    pub fn map_read<T: Element>(&self, buffer: &Buffer, range: Range<usize>, wait: &[Event]) -> Result<MapRead<T>> {
        let mapped = self.map::<T>(buffer, range, MapMode::Read, wait)?;
        Ok(MapRead { mapped, values: PhantomData })
    }

    /// Maps for reading and writing (`CL_MAP_READ | CL_MAP_WRITE`); otherwise as [`Queue::map_read`].
    pub fn map_write<T: Element>(&self, buffer: &Buffer, range: Range<usize>, wait: &[Event]) -> Result<MapWrite<T>> {
        let mapped = self.map::<T>(buffer, range, MapMode::ReadWrite, wait)?;
        Ok(MapWrite { mapped, values: PhantomData })
    }

    /// Maps for writing; the old values are lost (`CL_MAP_WRITE_INVALIDATE_REGION`), and the initial content of the
    /// slice is arbitrary. Otherwise as [`Queue::map_read`].
    pub fn map_overwrite<T: Element>(
        &self,
        buffer: &Buffer,
        range: Range<usize>,
        wait: &[Event],
    ) -> Result<MapWrite<T>> {
        let mapped = self.map::<T>(buffer, range, MapMode::Overwrite, wait)?;
        Ok(MapWrite { mapped, values: PhantomData })
    }

    fn map<T: Element>(
        &self,
        buffer: &Buffer,
        range: Range<usize>,
        mode: MapMode,
        wait: &[Event],
    ) -> Result<MappedBytes> {
        self.context().check_same(&buffer.context, OP, "buffer")?;
        buffer.check_range(&range, OP)?;
        let mapped = MappedBytes::buffer(self, &buffer.raw, range.clone(), mode, wait)?;
        // Size and the address that the driver gave.
        bytemuck::try_cast_slice::<u8, T>(mapped.bytes()).map_err(|error| {
            let problem = format!("bytes {range:?} are not values of {} bytes: {error}", size_of::<T>());
            Error::invalid(OP, problem)
        })?;
        Ok(mapped)
    }
}

impl<T: Element> Deref for MapRead<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(self.mapped.bytes())
    }
}

impl<T: Element> Deref for MapWrite<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(self.mapped.bytes())
    }
}

impl<T: Element> DerefMut for MapWrite<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(self.mapped.bytes_mut())
    }
}

impl<T> MapRead<T> {
    /// Unmaps, and returns the event of the unmapping (`clEnqueueUnmapMemObject`), for out-of-order queues and other
    /// queues.
    pub fn unmap(self) -> Result<Event> {
        self.mapped.unmap()
    }
}

impl<T> MapWrite<T> {
    /// Unmaps, and returns the event of the unmapping (`clEnqueueUnmapMemObject`), for out-of-order queues and other
    /// queues.
    pub fn unmap(self) -> Result<Event> {
        self.mapped.unmap()
    }
}
