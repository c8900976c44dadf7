//! Transfers between OpenGL's storage and the driver's: OpenGL reads or writes the driver's mapped memory, or memory of
//! the layer's own that the driver copies.

use crate::cl::handles::{Handle, OwnEvent};
use crate::cl::memory;
use crate::codes::EVENTS_FAILED;
use crate::gl::pixels::PixelRows;
use crate::gl::work::WorkContext;
use crate::object::SharedObject;
use crate::target::Layout;
use crate::trial::{MAPPED, STAGED};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A transfer of one object to OpenCL's side, or back.
pub struct Transfer {
    pub object: Arc<SharedObject>,
    acquire: bool,
    queue: Handle,
    /// Where the driver has mapped the memory; `None` if its bytes are in `staging`.
    mapped: Option<usize>,
    staging: Vec<u8>,
    /// Bytes from row to row, and from slice to slice.
    row: usize,
    slice: usize,
    /// The method, if the quicker one is still to be found.
    tried: Option<usize>,
    spent: Duration,
}

impl Transfer {
    /// Gets the bytes' host memory, after `before`.
    pub fn begin(
        object: &Arc<SharedObject>,
        queue: Handle,
        before: Option<&OwnEvent>,
        acquire: bool,
    ) -> Result<Self, i32> {
        let size @ [width, height, depth] = object.shape.size;
        let is_image = !matches!(object.layout, Layout::Bytes | Layout::BufferTexels);
        let (method, is_found) = if is_image { object.trial(acquire).next() } else { (MAPPED, true) };
        if let Some(before) = before.filter(|_| method == STAGED || !is_found) {
            // Earlier work is not the method's.
            before.wait().map_err(|_| EVENTS_FAILED)?;
        }
        let (memory, start, row) = (object.transferred, Instant::now(), width * object.format.bytes);
        let mut transfer = Self {
            object: Arc::clone(object),
            acquire,
            queue,
            mapped: None,
            staging: Vec::new(),
            row,
            slice: row * height,
            tried: (!is_found).then_some(method),
            spent: Duration::ZERO,
        };
        if transfer.is_nothing() {
            return Ok(transfer);
        }
        if method == STAGED {
            transfer.staging = object.context.staging().pop().unwrap_or_default();
            transfer.staging.resize(row * height * depth, 0);
            if !acquire {
                memory::copy_image(queue, memory, size, &mut transfer.staging, false)?;
            }
        } else {
            let image = is_image.then_some(size);
            let (address, row, slice) = memory::map(queue, memory, image, row, acquire, before)?;
            transfer.mapped = Some(address.expose_provenance());
            // Each layer of lines is one line, so the pitch of lines is that of slices.
            let lines = if object.layout == Layout::Lines { slice } else { 0 };
            transfer.row = transfer.row.max(row).max(lines);
            // Without rows or slices, drivers return 0.
            transfer.slice = slice.max(transfer.row * height);
        }
        transfer.spent = start.elapsed();
        Ok(transfer)
    }

    /// Kernels only read the object, so it need not be copied back.
    fn is_nothing(&self) -> bool {
        !self.acquire && self.object.read_only
    }

    /// Copies between OpenGL and the bytes.
    pub fn copy(&mut self, work: &WorkContext) -> Result<(), i32> {
        if self.is_nothing() {
            return Ok(());
        }
        let (start, object, row, slice) = (Instant::now(), &self.object, self.row, self.slice);
        let (format, shape) = (object.format, object.shape);
        let bytes = match self.mapped {
            // SAFETY: mapped until the end; the range covers the first to the last pixel.
            Some(address) => unsafe {
                let [width, height, depth] = shape.size;
                let len = (depth - 1) * slice + (height - 1) * row + width * format.bytes;
                std::slice::from_raw_parts_mut(std::ptr::with_exposed_provenance_mut(address), len)
            },
            None => &mut self.staging,
        };
        object.storage.copy(work, &mut PixelRows { bytes, format, shape, row, slice }, self.acquire)?;
        self.spent += start.elapsed();
        Ok(())
    }

    fn unmap(&mut self) -> Option<Result<OwnEvent, i32>> {
        let address = std::ptr::with_exposed_provenance_mut(self.mapped.take()?);
        Some(memory::unmap(self.queue, self.object.transferred, address))
    }

    /// Gives the bytes to the driver. Returns an event if work of the driver remains.
    pub fn end(mut self) -> Result<Option<OwnEvent>, i32> {
        let (start, size, memory) = (Instant::now(), self.object.shape.size, self.object.transferred);
        let done = match self.unmap() {
            Some(unmapped) => Some(unmapped?),
            None if self.acquire => Some(memory::copy_image(self.queue, memory, size, &mut self.staging, true)?),
            None => None,
        };
        if let Some(method) = self.tried {
            done.as_ref().map_or(Ok(()), OwnEvent::wait)?;
            self.object.trial(self.acquire).note(method, self.spent + start.elapsed());
        }
        Ok(done)
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        self.unmap();
        if !self.staging.is_empty() {
            self.object.context.staging().push(std::mem::take(&mut self.staging));
        }
    }
}
