//! Acquire and release.

use super::objects::is_native;
use crate::cl::driver::driver;
use crate::cl::handles::{Handle, checked};
use crate::codes::{INVALID_COMMAND_QUEUE, INVALID_EVENT_WAIT_LIST, INVALID_GL_OBJECT, INVALID_VALUE};
use crate::command::TurnCommand;
use crate::edge::{Raw, code, list};
use crate::events::{self, EVENTS, EventKind};
use crate::objects;

/// `clEnqueueAcquireGLObjects` and `clEnqueueReleaseGLObjects`.
///
/// # Safety
/// `cl_khr_gl_sharing`'s.
pub unsafe extern "C" fn turn<const ACQUIRE: bool>(
    queue: Raw,
    count: u32,
    objects: *const Raw,
    waits: u32,
    wait_for: *const Raw,
    event: *mut Raw,
) -> i32 {
    // SAFETY: the caller's promise.
    code(|| unsafe {
        if queue.is_null() {
            return Err(INVALID_COMMAND_QUEUE);
        }
        if (count == 0) != objects.is_null() {
            return Err(INVALID_VALUE);
        }
        let after = list(waits, wait_for);
        if (waits == 0) != wait_for.is_null() || after.iter().any(|event| event.is_null()) {
            return Err(INVALID_EVENT_WAIT_LIST);
        }
        let named = list(count, objects);
        if named.is_empty() {
            return Ok(());
        }
        let found: Vec<_> = named.iter().filter_map(|object| objects::find(Handle::new(*object))).collect();
        if found.len() < named.len() {
            // If all objects belong to drivers with their own sharing, pass the call on.
            for object in named {
                if !is_native(*object)? {
                    return Err(INVALID_GL_OBJECT);
                }
            }
            let driver = driver()?;
            return checked(if ACQUIRE {
                (driver.acquire_gl_objects)(queue, count, objects, waits, wait_for, event)
            } else {
                (driver.release_gl_objects)(queue, count, objects, waits, wait_for, event)
            });
        }
        let command = TurnCommand::new(Handle::new(queue), found, ACQUIRE)?;
        let done = command.enqueue(after, !event.is_null())?;
        if let (Some(done), false) = (done, event.is_null()) {
            let kind = if ACQUIRE { events::ACQUIRE } else { events::RELEASE };
            EVENTS.insert(done.0.handle, EventKind::Command(kind));
            event.write(done.0.give());
        }
        Ok(())
    })
}
