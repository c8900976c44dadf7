//! Objects that a session shares with an OpenGL context: turns, buffers and images.

use super::acquire_release::AcquireRelease;
use super::gl_turn::GlTurn;
use super::{GlObject, GlShare, Mem, Memory, Pixels, Session, SharedImage};
use crate::{Event, Queue};
use cl3::memory as mem;
use interop_core::Result;
use std::sync::Arc;

impl GlShare {
    /// Queues the beginning of OpenCL's turn with objects of the context, after what OpenGL was told so far.
    pub fn acquire(&self, queue: &Queue, mems: &[&Mem], wait: &[Event]) -> Result<Event> {
        self.check_current("clEnqueueAcquireGLObjects").map_err(|f| queue.error(f))?;
        if self.from_sync.is_none() {
            // SAFETY: the context is current.
            unsafe { (self.gl.finish)() };
        }
        self.turns.of_gl(queue, mems, true, wait)
    }

    /// Queues the end of OpenCL's turn.
    pub fn release(&self, queue: &Queue, mems: &[&Mem], wait: &[Event]) -> Result<Event> {
        self.check_current("clEnqueueReleaseGLObjects").map_err(|f| queue.error(f))?;
        let event = self.turns.of_gl(queue, mems, false, wait)?;
        queue.flush()?;
        Ok(event)
    }

    /// Turns with an object of the context.
    pub fn turns(self: &Arc<Self>) -> AcquireRelease {
        AcquireRelease::with_gl(self.turns, GlTurn::new(self))
    }

    /// A GL buffer; `len` bytes of it are used.
    pub fn buffer(self: &Arc<Self>, session: &Arc<Session>, name: u32, len: usize) -> Result<Memory> {
        let mem = self.open(&session.context, GlObject::Buffer { name }, mem::CL_MEM_READ_WRITE)?;
        Ok(Memory::with_turns(session, mem, self.turns(), len))
    }

    /// Level 0 of a GL texture of two dimensions.
    pub fn image(
        self: &Arc<Self>,
        session: &Arc<Session>,
        [target, name]: [u32; 2],
        pixels: Pixels,
    ) -> Result<SharedImage> {
        let object = GlObject::Texture { target, level: 0, name };
        let mem = self.open(&session.context, object, mem::CL_MEM_READ_WRITE)?;
        Ok(SharedImage::new(session, mem, self.turns(), pixels))
    }
}
