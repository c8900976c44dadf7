//! Contexts.

use crate::cl::driver::{NotifyCallback, driver};
use crate::cl::handles::{ALL_DEVICES, DEFAULT_DEVICES, Handle, checked, made};
use crate::codes::{DEVICE_NOT_FOUND, INVALID_GL_SHAREGROUP_REFERENCE, INVALID_VALUE};
use crate::contexts::{self, CONTEXTS, ContextProperties};
use crate::edge::{InfoRoom, Raw, code, handle, list};
use crate::explain::refuse;

/// `CL_CONTEXT_PROPERTIES`, `CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR`, `CL_DEVICES_FOR_GL_CONTEXT_KHR`.
const PROPERTIES: u32 = 0x1082;
const CURRENT_DEVICE: u32 = 0x2006;
const DEVICES: u32 = 0x2007;

/// # Safety
/// OpenCL's.
pub unsafe extern "C" fn create_context(
    properties: *const isize,
    count: u32,
    devices: *const Raw,
    notify: NotifyCallback,
    user: Raw,
    answer: *mut i32,
) -> Raw {
    // SAFETY: the caller's promise; what it passes is handed on.
    unsafe {
        handle(answer, || {
            let asked = ContextProperties::read(properties);
            let make = |list: *const isize| {
                made(|driver, code| (driver.create_context)(list, count, devices, notify, user, code))
            };
            let named: Vec<_> = list(count, devices).iter().map(|device| Handle::new(*device)).collect();
            if !asked.names_gl || contexts::are_native(&named) {
                return make(properties).map(Handle::raw);
            }
            contexts::create(&asked, |rest| make(rest.as_ptr())).map(Handle::raw)
        })
    }
}

/// # Safety
/// OpenCL's.
pub unsafe extern "C" fn create_context_from_type(
    properties: *const isize,
    kind: u64,
    notify: NotifyCallback,
    user: Raw,
    answer: *mut i32,
) -> Raw {
    // SAFETY: the caller's promise; what it passes is handed on.
    unsafe {
        handle(answer, || {
            let asked = ContextProperties::read(properties);
            let of_type = |list: *const isize| {
                made(|driver, code| (driver.create_context_from_type)(list, kind, notify, user, code))
            };
            if !asked.names_gl || contexts::devices(&asked).is_ok_and(|devices| contexts::are_native(&devices)) {
                return of_type(properties).map(Handle::raw);
            }
            // Rusticl has no default device; take the first one.
            let of_first = |rest: *const isize| {
                let device = contexts::devices(&asked)?[0].raw();
                made(|driver, code| (driver.create_context)(rest, 1, &raw const device, notify, user, code))
            };
            let make = |rest: &[isize]| match of_type(rest.as_ptr()) {
                Err(DEVICE_NOT_FOUND) if matches!(kind, DEFAULT_DEVICES | ALL_DEVICES) => of_first(rest.as_ptr()),
                answer => answer,
            };
            contexts::create(&asked, make).map(Handle::raw)
        })
    }
}

/// # Safety
/// OpenCL's.
pub unsafe extern "C" fn retain_context(context: Raw) -> i32 {
    // SAFETY: the caller's promise.
    code(|| unsafe {
        checked((driver()?.retain_context)(context))?;
        CONTEXTS.retained(Handle::new(context));
        Ok(())
    })
}

/// # Safety
/// OpenCL's.
pub unsafe extern "C" fn release_context(context: Raw) -> i32 {
    // SAFETY: the caller's promise.
    code(|| unsafe {
        if let Some(shared) = CONTEXTS.released(Handle::new(context)) {
            shared.thread().settle();
        }
        checked((driver()?.release_context)(context))
    })
}

/// # Safety
/// OpenCL's.
pub unsafe extern "C" fn context_info(context: Raw, what: u32, bytes: usize, value: Raw, found: *mut usize) -> i32 {
    // SAFETY: the caller's promise.
    code(|| unsafe {
        match contexts::find(Handle::new(context)) {
            Some(shared) if what == PROPERTIES => {
                let list: Vec<u8> = shared.properties.iter().flat_map(|number| number.to_ne_bytes()).collect();
                InfoRoom { bytes, value, found }.answer(&list)
            }
            _ => checked((driver()?.get_context_info)(context, what, bytes, value, found)),
        }
    })
}

/// # Safety
/// OpenCL's.
pub unsafe extern "C" fn gl_context_info(
    properties: *const isize,
    what: u32,
    bytes: usize,
    value: Raw,
    found: *mut usize,
) -> i32 {
    // SAFETY: the caller's promise.
    code(|| unsafe {
        let asked = ContextProperties::read(properties);
        let devices = contexts::devices(&asked)?;
        if contexts::are_native(&devices) {
            return checked((driver()?.get_gl_context_info)(properties, what, bytes, value, found));
        }
        if !asked.shares() {
            return Err(refuse(INVALID_GL_SHAREGROUP_REFERENCE, "the query names no GL context"));
        }
        let (system, program) = asked.program()?;
        if !system.knows(program) {
            return Err(refuse(INVALID_GL_SHAREGROUP_REFERENCE, "unknown GL context on that display"));
        }
        let devices = match what {
            CURRENT_DEVICE => &devices[..1],
            DEVICES => &devices[..],
            _ => return Err(INVALID_VALUE),
        };
        let list: Vec<u8> = devices.iter().flat_map(|device| device.raw().addr().to_ne_bytes()).collect();
        InfoRoom { bytes, value, found }.answer(&list)
    })
}
