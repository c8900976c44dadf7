//! Events.

use crate::cl::driver::driver;
use crate::cl::handles::{Handle, checked, made};
use crate::codes::INVALID_CONTEXT;
use crate::contexts;
use crate::edge::{InfoRoom, Raw, code, handle};
use crate::events::{self, EVENTS, EventKind};
use crate::fence_event;
use crate::gl::fence::Fence;

/// `CL_EVENT_COMMAND_TYPE`.
const COMMAND_TYPE: u32 = 0x11D1;

/// # Safety
/// OpenCL's.
pub unsafe extern "C" fn event_info(event: Raw, what: u32, bytes: usize, value: Raw, found: *mut usize) -> i32 {
    // SAFETY: the caller's promise.
    code(|| unsafe {
        match events::command_type(Handle::new(event)) {
            Some(kind) if what == COMMAND_TYPE => InfoRoom { bytes, value, found }.answer(&kind.to_ne_bytes()),
            _ => checked((driver()?.get_event_info)(event, what, bytes, value, found)),
        }
    })
}

/// # Safety
/// OpenCL's.
pub unsafe extern "C" fn retain_event(event: Raw) -> i32 {
    // SAFETY: the caller's promise.
    code(|| unsafe {
        checked((driver()?.retain_event)(event))?;
        EVENTS.retained(Handle::new(event));
        Ok(())
    })
}

/// # Safety
/// OpenCL's.
pub unsafe extern "C" fn release_event(event: Raw) -> i32 {
    // SAFETY: the caller's promise.
    code(|| unsafe {
        EVENTS.released(Handle::new(event));
        checked((driver()?.release_event)(event))
    })
}

/// # Safety
/// OpenCL's.
pub unsafe extern "C" fn create_user_event(context: Raw, answer: *mut i32) -> Raw {
    // SAFETY: the caller's promise.
    unsafe {
        handle(answer, || {
            let event = made(|driver, code| (driver.create_user_event)(context, code))?;
            if contexts::find(Handle::new(context)).is_some() {
                EVENTS.insert(event, EventKind::User(Handle::new(context), true));
            }
            Ok(event.raw())
        })
    }
}

/// # Safety
/// OpenCL's.
pub unsafe extern "C" fn set_user_event_status(event: Raw, status: i32) -> i32 {
    // SAFETY: the caller's promise.
    code(|| unsafe {
        events::completed(Handle::new(event));
        checked((driver()?.set_user_event_status)(event, status))
    })
}

/// # Safety
/// `cl_khr_gl_event`'s.
pub unsafe extern "C" fn create_event_from_gl_sync(context: Raw, sync: Raw, answer: *mut i32) -> Raw {
    // SAFETY: the caller's promise.
    unsafe {
        handle(answer, || {
            let of = Handle::new(context);
            let Some(shared) = contexts::find(of) else {
                if context.is_null() || !contexts::is_native(of) {
                    return Err(INVALID_CONTEXT);
                }
                return made(|driver, code| (driver.create_event_from_gl_sync)(context, sync, code)).map(Handle::raw);
            };
            let event = fence_event::event_of(&shared, Fence::new(sync))?;
            EVENTS.insert(event.0.handle, EventKind::Command(events::FENCE));
            Ok(event.0.give())
        })
    }
}
