//! Queries about platforms and devices, and for functions.

use super::by_name;
use crate::cl::driver::driver;
use crate::cl::handles::{Handle, InfoCall, checked};
use crate::codes::INVALID_VALUE;
use crate::edge::{InfoRoom, Raw, code, handle};
use crate::extensions;
use std::ffi::{CStr, c_char};
use std::ptr;

/// # Safety
/// OpenCL's.
pub unsafe extern "C" fn platform_info(platform: Raw, what: u32, bytes: usize, value: Raw, found: *mut usize) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { answer(|driver| driver.get_platform_info, platform, what, InfoRoom { bytes, value, found }) }
}

/// # Safety
/// OpenCL's.
pub unsafe extern "C" fn device_info(device: Raw, what: u32, bytes: usize, value: Raw, found: *mut usize) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { answer(|driver| driver.get_device_info, device, what, InfoRoom { bytes, value, found }) }
}

/// # Safety
/// The object is live or null, and the room is as large as it says.
unsafe fn answer(call: InfoCall, object: Raw, parameter: u32, room: InfoRoom) -> i32 {
    code(|| {
        // SAFETY: the caller's promise.
        unsafe {
            if let Some(answer) = extensions::extended(call, Handle::new(object), parameter) {
                return room.answer(&answer?);
            }
            checked(call(driver()?)(object, parameter, room.bytes, room.value, room.found))
        }
    })
}

/// # Safety
/// OpenCL's.
pub unsafe extern "C" fn get_function(name: *const c_char) -> Raw {
    // SAFETY: the caller's promise.
    unsafe { function(name, || driver().map_or(ptr::null_mut(), |driver| (driver.get_function)(name))) }
}

/// # Safety
/// OpenCL's.
pub unsafe extern "C" fn get_function_of_platform(platform: Raw, name: *const c_char) -> Raw {
    // SAFETY: the caller's promise.
    unsafe {
        function(name, || driver().map_or(ptr::null_mut(), |driver| (driver.get_function_of_platform)(platform, name)))
    }
}

/// # Safety
/// `name` is null or a string.
unsafe fn function(name: *const c_char, other: impl FnOnce() -> Raw) -> Raw {
    // SAFETY: the caller's promise.
    unsafe {
        handle(ptr::null_mut(), || {
            if name.is_null() {
                return Err(INVALID_VALUE);
            }
            Ok(by_name(CStr::from_ptr(name)).map_or_else(other, <*const std::ffi::c_void>::cast_mut))
        })
    }
}
