//! Images that another API has, too: memory whose order only the driver knows.

use super::acquire_release::{AcquireRelease, Borrowed};
use super::track::Access::{Read, Write};
use super::{Buffer, Failure, ImageBox, Mem, NOT_ACQUIRED, Pixels, Session};
use cl3::command_queue as q;
use std::ffi::c_void;
use std::sync::Arc;

/// An image object of a session that another API has, too.
pub struct SharedImage {
    mem: Mem,
    session: Arc<Session>,
    turns: AcquireRelease,
    pixels: Pixels,
}

impl SharedImage {
    pub(super) fn new(session: &Arc<Session>, mem: Mem, turns: AcquireRelease, pixels: Pixels) -> Self {
        Self { mem, session: session.clone(), turns, pixels }
    }

    pub fn pixels(&self) -> Pixels {
        self.pixels
    }

    /// The object, for a command.
    pub(super) fn mem(&self) -> &Mem {
        &self.mem
    }

    /// The object, for commands of others in the session's queue, while it is with OpenCL.
    pub fn lent_out(&self) -> Result<*mut c_void, Failure> {
        match self.turns.is_acquired(&self.mem) {
            true => Ok(self.mem.raw()),
            false => Err(Failure { operation: "raw", code: NOT_ACQUIRED }),
        }
    }

    pub fn turns_mut(&mut self) -> &mut AcquireRelease {
        &mut self.turns
    }

    /// Queues the beginning of this API's turn.
    pub fn acquire(&self) -> Result<(), Failure> {
        self.turns.acquire(&self.session, &self.mem)
    }

    /// Queues the end of this API's turn.
    pub fn release(&self) -> Result<(), Failure> {
        self.turns.release(&self.session, &self.mem)
    }

    /// Waits for the turn that was released last.
    pub fn wait_released(&self) -> Result<(), Failure> {
        self.turns.wait(&self.session)
    }

    /// Takes the turn for the commands that are queued while what is returned lives, unless it is taken already.
    pub(super) fn enter(&self) -> Result<Option<Borrowed<'_>>, Failure> {
        super::acquire_release::enter(&self.session, Some(&self.turns), &self.mem)
    }

    /// Blocks until the pixels are there, in tight rows; `into` holds exactly the part.
    pub fn read(&self, at: &ImageBox, into: &mut [u8]) -> Result<(), Failure> {
        debug_assert_eq!(at.host_bytes(self.pixels.format.bytes_per_pixel()), Some(into.len()));
        let _turn = self.enter()?;
        let uses = [self.mem.used_whole(Read)];
        // SAFETY: `into` holds the part and is borrowed until the command is done, for which this waits. The driver
        // refuses what lies outside the image. The arrays have three numbers.
        let event = self.session.queue().enqueue_using("clEnqueueReadImage", &uses, &[], |queue, n, list| unsafe {
            let (origin, region, to) = (at.origin.as_ptr(), at.region.as_ptr(), into.as_mut_ptr().cast());
            q::enqueue_read_image(queue, self.mem.raw(), 1, origin, region, 0, 0, to, n, list)
        })?;
        event.wait_until_final()
    }

    /// Blocks until `from`, tight rows of exactly the part, may be reused.
    pub fn write(&self, at: &ImageBox, from: &[u8]) -> Result<(), Failure> {
        debug_assert_eq!(at.host_bytes(self.pixels.format.bytes_per_pixel()), Some(from.len()));
        let _turn = self.enter()?;
        let uses = [self.mem.used_whole(Write)];
        // SAFETY: as for reading; the bytes are only read.
        let event = self.session.queue().enqueue_using("clEnqueueWriteImage", &uses, &[], |queue, n, list| unsafe {
            let (origin, region, bytes) = (at.origin.as_ptr(), at.region.as_ptr(), from.as_ptr().cast_mut().cast());
            q::enqueue_write_image(queue, self.mem.raw(), 1, origin, region, 0, 0, bytes, n, list)
        })?;
        event.wait_until_final()
    }

    fn bytes(&self, at: &ImageBox, offset: usize) -> std::ops::Range<usize> {
        let bytes = at.host_bytes(self.pixels.format.bytes_per_pixel()).unwrap_or(usize::MAX);
        offset..offset.saturating_add(bytes)
    }

    /// Queues a copy of the part to tight rows from byte `offset` of `to` on.
    pub fn copy_to_buffer(&self, at: &ImageBox, to: &Buffer, offset: usize) -> Result<(), Failure> {
        let (_turn, _other) = (self.enter()?, to.enter()?);
        let range = self.bytes(at, offset);
        self.session.queue().copy_image_to_buffer(&self.mem, at, (to.mem(), range), &[]).map(drop)
    }

    /// Queues a copy of tight rows from byte `offset` of `from` on to the part.
    pub fn copy_from_buffer(&self, at: &ImageBox, from: &Buffer, offset: usize) -> Result<(), Failure> {
        let (_turn, _other) = (self.enter()?, from.enter()?);
        let range = self.bytes(at, offset);
        self.session.queue().copy_buffer_to_image((from.mem(), range), &self.mem, at, &[]).map(drop)
    }

    /// Queues a copy of the part to the same place in `to`.
    pub fn copy_to_image(&self, at: &ImageBox, to: &Self) -> Result<(), Failure> {
        let (_turn, _other) = (self.enter()?, to.enter()?);
        self.session.queue().copy_image(&self.mem, &to.mem, at, at.origin, &[]).map(drop)
    }
}

impl Drop for SharedImage {
    fn drop(&mut self) {
        // The other API may reuse the memory right after this.
        if let Err(failure) = self.release().and_then(|()| self.session.finish()) {
            tracing::warn!(code = failure.code, "{} failed while an image was dropped", failure.operation);
        }
    }
}
