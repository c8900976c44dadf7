//! Shared libraries of the window systems, which the program has already loaded.

use crate::explain;
use libloading::os::unix::{Library, RTLD_LAZY};
use std::ffi::c_void;

/// Opens the first of the libraries that the process has loaded, or else can load. It stays open forever.
pub fn open(names: &[&str]) -> Option<&'static Library> {
    // SAFETY: what the system's libraries run when they are loaded is theirs.
    let load = |flags: i32| names.iter().find_map(|name| unsafe { Library::open(Some(*name), flags) }.ok());
    let library = load(RTLD_LAZY | libc::RTLD_NOLOAD).or_else(|| load(RTLD_LAZY));
    if library.is_none() {
        explain::say(format_args!("cannot load {}", names.join(" or ")));
    }
    library.map(|library| &*Box::leak(Box::new(library)))
}

/// Returns the address of a function; null if it is missing.
pub fn address(library: &Library, name: &str) -> *const c_void {
    // SAFETY: only the address is taken.
    unsafe { library.get::<*const c_void>(name.as_bytes()) }.map_or(std::ptr::null(), |found| *found)
}
