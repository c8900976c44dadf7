//! Mapped buffers: device memory that the host sees as a slice while a guard lives.

use super::{Buffer, Event, Queue};
use crate::Element;
use crate::ffi::{MapMode, Mapped};
use interop_core::{Error, Result};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};

const OP: &str = "clEnqueueMapBuffer";

/// Values of a buffer, for reading (`clEnqueueMapBuffer`, `CL_MAP_READ`). Several may be alive at once. While one is,
/// commands that write these bytes are refused with [`Error::InvalidInput`], also after it was leaked; dropped, the
/// bytes are unmapped in queue order.
pub struct MapRead<T> {
    mapped: Mapped,
    values: PhantomData<T>,
}

/// Values of a buffer, for reading and writing (`clEnqueueMapBuffer`; the flags are [`Queue::map_write`]'s or
/// [`Queue::map_overwrite`]'s). While it lives, commands that use these bytes are refused with [`Error::InvalidInput`],
/// also after it was leaked; dropped, the bytes are unmapped in queue order.
pub struct MapWrite<T> {
    mapped: Mapped,
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

    /// Maps for reading and writing (`CL_MAP_READ | CL_MAP_WRITE`); else as [`Queue::map_read`].
    pub fn map_write<T: Element>(&self, buffer: &Buffer, range: Range<usize>, wait: &[Event]) -> Result<MapWrite<T>> {
        let mapped = self.map::<T>(buffer, range, MapMode::ReadWrite, wait)?;
        Ok(MapWrite { mapped, values: PhantomData })
    }

    /// Maps for writing; the old values are lost (`CL_MAP_WRITE_INVALIDATE_REGION`), and what the slice holds at first is
    /// arbitrary. Else as [`Queue::map_read`].
    pub fn map_overwrite<T: Element>(
        &self,
        buffer: &Buffer,
        range: Range<usize>,
        wait: &[Event],
    ) -> Result<MapWrite<T>> {
        let mapped = self.map::<T>(buffer, range, MapMode::Overwrite, wait)?;
        Ok(MapWrite { mapped, values: PhantomData })
    }

    fn map<T: Element>(&self, buffer: &Buffer, range: Range<usize>, mode: MapMode, wait: &[Event]) -> Result<Mapped> {
        self.context().check_same(&buffer.context, OP, "buffer")?;
        buffer.check_range(&range, OP)?;
        let mapped = Mapped::buffer(self, &buffer.raw, range.clone(), mode, wait)?;
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
    /// Unmaps, and gives the event of that (`clEnqueueUnmapMemObject`), for queues out of order and other queues.
    pub fn unmap(self) -> Result<Event> {
        self.mapped.unmap()
    }
}

impl<T> MapWrite<T> {
    /// Unmaps, and gives the event of that (`clEnqueueUnmapMemObject`), for queues out of order and other queues.
    pub fn unmap(self) -> Result<Event> {
        self.mapped.unmap()
    }
}
