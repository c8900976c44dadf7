//! Versions, texts, and what this machine has.

use crate::abi::*;
use crate::boundary::structure;
use crate::call::{call, last_message};
use crate::exports::caller_structs::policy;
use crate::exports::results::{say, to_json};
use crate::failure;
use crate::texts::free_text;
use pixelferry::{open_all_backends, probe_with};
use std::ffi::{CStr, c_char};

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => c"",
};

#[unsafe(no_mangle)]
pub extern "C" fn pf_version() -> *const c_char {
    VERSION.as_ptr()
}

/// Number of a version's part, which Cargo checked.
const fn number(text: &str) -> u32 {
    match u32::from_str_radix(text, 10) {
        Ok(number) => number,
        Err(_) => 0,
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_version_number() -> u32 {
    const NUMBER: u32 = 1_000_000 * number(env!("CARGO_PKG_VERSION_MAJOR"))
        + 1000 * number(env!("CARGO_PKG_VERSION_MINOR"))
        + number(env!("CARGO_PKG_VERSION_PATCH"));
    NUMBER
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_status_name(status: pf_status) -> *const c_char {
    failure::name(status).as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_last_error_message() -> *const c_char {
    last_message()
}

#[unsafe(no_mangle)]
pub extern "C" fn pf_string_free(text: *mut c_char) -> pf_status {
    call("pf_string_free", || free_text(text))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_backends_json(json: *mut *mut c_char) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_backends_json", || unsafe { say(json, "json", || to_json(&open_all_backends().1)) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_probe_json(
    surface: *const pf_surface,
    options: *const pf_link_options,
    json: *mut *mut c_char,
) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_probe_json", || unsafe {
        say(json, "json", || to_json(&probe_with(&structure(surface)?.desc()?, policy(options)?, &[], &[])?))
    })
}
