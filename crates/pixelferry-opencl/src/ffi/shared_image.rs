//! Images that another API has, too: memory whose order only the driver knows.

use super::acquire_release::{AcquireRelease, Borrowed};
use super::{Failure, ImageBox, Mem, Memory, NOT_ACQUIRED, Pixels, Session};
use interop_core::Result;
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
    pub(crate) fn new(session: &Arc<Session>, mem: Mem, turns: AcquireRelease, pixels: Pixels) -> Self {
        Self { mem, session: session.clone(), turns, pixels }
    }

    pub fn pixels(&self) -> Pixels {
        self.pixels
    }

    /// The object, for a command.
    pub(crate) fn mem(&self) -> &Mem {
        &self.mem
    }

    /// The object, for commands of others in the session's queue, while it is with OpenCL.
    pub fn lent_out(&self) -> Result<*mut c_void> {
        match self.turns.is_acquired(&self.mem) {
            true => Ok(self.mem.raw()),
            false => Err(self.session.error(Failure { operation: "raw", code: NOT_ACQUIRED })),
        }
    }

    pub fn turns_mut(&mut self) -> &mut AcquireRelease {
        &mut self.turns
    }

    /// Queues the beginning of this API's turn.
    pub fn acquire(&self) -> Result<()> {
        self.turns.acquire(&self.session, &self.mem)
    }

    /// Queues the end of this API's turn.
    pub fn release(&self) -> Result<()> {
        self.turns.release(&self.session, &self.mem)
    }

    /// Waits for the turn that was released last.
    pub fn wait_released(&self) -> Result<()> {
        self.turns.wait(&self.session)
    }

    /// Takes the turn for the commands that are queued while what is returned lives, unless it is taken already.
    pub(crate) fn enter(&self) -> Result<Option<Borrowed<'_>>> {
        super::acquire_release::enter(&self.session, Some(&self.turns), &self.mem)
    }

    /// Blocks until the pixels are there, in tight rows; `into` holds exactly the part.
    pub fn read(&self, at: &ImageBox, into: &mut [u8]) -> Result<()> {
        debug_assert_eq!(at.host_bytes(self.pixels.format.bytes_per_pixel()), Some(into.len()));
        let _turn = self.enter()?;
        self.session.queue().read_image_into(&self.mem, at, into)
    }

    /// Blocks until `from`, tight rows of exactly the part, may be reused.
    pub fn write(&self, at: &ImageBox, from: &[u8]) -> Result<()> {
        debug_assert_eq!(at.host_bytes(self.pixels.format.bytes_per_pixel()), Some(from.len()));
        let _turn = self.enter()?;
        self.session.queue().write_image_from(&self.mem, at, from)
    }

    fn bytes(&self, at: &ImageBox, offset: usize) -> std::ops::Range<usize> {
        let bytes = at.host_bytes(self.pixels.format.bytes_per_pixel()).unwrap_or(usize::MAX);
        offset..offset.saturating_add(bytes)
    }

    /// Queues a copy of the part to tight rows from byte `offset` of `to` on.
    pub fn copy_to_buffer(&self, at: &ImageBox, to: &Memory, offset: usize) -> Result<()> {
        let (_turn, _other) = (self.enter()?, to.enter()?);
        let range = self.bytes(at, offset);
        self.session.queue().copy_image_to_mem(&self.mem, at, (to.mem(), range), &[]).map(drop)
    }

    /// Queues a copy of tight rows from byte `offset` of `from` on to the part.
    pub fn copy_from_buffer(&self, at: &ImageBox, from: &Memory, offset: usize) -> Result<()> {
        let (_turn, _other) = (self.enter()?, from.enter()?);
        let range = self.bytes(at, offset);
        self.session.queue().copy_mem_to_image((from.mem(), range), &self.mem, at, &[]).map(drop)
    }

    /// Queues a copy of the part to the same place in `to`.
    pub fn copy_to_image(&self, at: &ImageBox, to: &Self) -> Result<()> {
        let (_turn, _other) = (self.enter()?, to.enter()?);
        self.session.queue().copy_image_mem(&self.mem, &to.mem, at, at.origin, &[]).map(drop)
    }
}

impl Drop for SharedImage {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // The other API may reuse the memory right after this.
        if let Err(error) = self.release().and_then(|()| self.session.finish()) {
            tracing::warn!(%error, "an image was dropped");
        }
    }
}
