//! Turns with objects of the OpenGL context that a context shares with, and what each side waits for.

use super::track::Access;
use super::{Failure, GlShare, Mem, NO_GL_OBJECT};
use crate::{Context, Event, Queue};
use cl3::error_codes::DLOPEN_FUNCTION_NOT_AVAILABLE;
use interop_core::Result;
use std::ptr;

impl GlShare {
    /// Queues the beginning of OpenCL's turn with objects of the context, after what OpenGL was told so far.
    pub fn acquire(&self, queue: &Queue, mems: &[&Mem], wait: &[Event]) -> Result<Event> {
        self.check_current("clEnqueueAcquireGLObjects").map_err(|f| queue.error(f))?;
        if self.from_sync.is_none() {
            // SAFETY: the context is current.
            unsafe { (self.gl.finish)() };
        }
        self.turn(queue, mems, true, wait)
    }

    /// Queues the end of OpenCL's turn.
    pub fn release(&self, queue: &Queue, mems: &[&Mem], wait: &[Event]) -> Result<Event> {
        self.check_current("clEnqueueReleaseGLObjects").map_err(|f| queue.error(f))?;
        let event = self.turn(queue, mems, false, wait)?;
        queue.flush()?;
        Ok(event)
    }

    /// Queues the beginning, or else the end, of OpenCL's turn with these objects.
    fn turn(&self, queue: &Queue, mems: &[&Mem], begins: bool, wait: &[Event]) -> Result<Event> {
        let (function, name) = match begins {
            true => (self.acquire, "clEnqueueAcquireGLObjects"),
            false => (self.release, "clEnqueueReleaseGLObjects"),
        };
        if mems.iter().any(|mem| !mem.is_of_gl()) {
            return Err(queue.error(Failure { operation: name, code: NO_GL_OBJECT }));
        }
        let uses: Vec<_> = mems.iter().map(|mem| mem.used_whole(Access::Write)).collect();
        let objects: Vec<_> = mems.iter().map(|mem| mem.raw()).collect();
        queue.enqueue_turn(name, (&uses, begins), wait, |queue, n, list| {
            let mut event = ptr::null_mut();
            // SAFETY: the objects are live, and so is what `enqueue_turn` passes; one event is written. The driver refuses
            // objects of other contexts and kinds.
            let code = unsafe { function(queue, objects.len() as u32, objects.as_ptr(), n, list, &raw mut event) };
            if code == 0 { Ok(event) } else { Err(code) }
        })
    }

    /// An event for the end of what OpenGL was told so far. The GL context must be current, and the device list
    /// `cl_khr_gl_event`.
    pub fn fence(&self, context: &Context) -> Result<Event> {
        const CALL: &str = "clCreateEventFromGLsyncKHR";
        let missing = || context.error(Failure { operation: CALL, code: DLOPEN_FUNCTION_NOT_AVAILABLE });
        let from_sync = self.from_sync.ok_or_else(missing)?;
        self.check_current(CALL).map_err(|f| context.error(f))?;
        let (gl, mut code) = (&self.gl, 0);
        // SAFETY: the GL context is current. The fence is new; OpenCL keeps it for its event ("increments the reference
        // count"), so that it may be deleted here.
        let event = unsafe {
            let fence = (gl.fence)(0x9117, 0);
            let event = from_sync(context.raw(), fence, &raw mut code);
            (gl.flush)();
            (gl.delete)(fence);
            event
        };
        // SAFETY: a new event, whose one reference is ours.
        unsafe { Event::own(context, CALL, if code == 0 { Ok(event) } else { Err(code) }, None) }
    }

    /// Lets OpenGL, or else the host, wait for an event of the context.
    pub fn wait_for(&self, context: &Context, event: &Event) -> Result<()> {
        let Some(from_event) = self.gl.from_event else { return event.wait() };
        let gl = &self.gl;
        self.check_current("glCreateSyncFromCLeventARB").map_err(|f| context.error(f))?;
        // SAFETY: the GL context is current; context and event are live. The wait keeps the fence.
        unsafe {
            let fence = from_event(context.raw(), event.raw(), 0);
            if !fence.is_null() {
                (gl.wait)(fence, 0, u64::MAX);
                (gl.delete)(fence);
                return Ok(());
            }
        }
        event.wait()
    }
}
