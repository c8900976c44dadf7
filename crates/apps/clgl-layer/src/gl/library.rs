//! Shared libraries of the window systems, which the program has already loaded.

use crate::explain;
use libloading::os::unix::{Library, RTLD_LAZY};
use std::ffi::c_void;

const RTLD_NOLOAD: i32 = 4;

/// Opens the first of the libraries that the process has loaded, or else can load. It stays open forever.
pub fn open(names: &[&str]) -> Option<&'static Library> {
    // SAFETY: what the system's libraries run when they are loaded is theirs.
    let load = |flags: i32| names.iter().find_map(|name| unsafe { Library::open(Some(*name), flags) }.ok());
    let library = load(RTLD_LAZY | RTLD_NOLOAD).or_else(|| load(RTLD_LAZY));
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

/// A struct of functions, by their names in a library; `load` gives `None` where one is missing.
macro_rules! library_functions {
    ($(#[$doc:meta])* $vis:vis struct $struct:ident { $($field:ident = $name:literal ($($kind:ty),*) $(-> $result:ty)?;)* }) => {
        $(#[$doc])*
        $vis struct $struct {
            $(pub $field: unsafe extern "C" fn($($kind),*) $(-> $result)?,)*
        }

        impl $struct {
            /// # Safety
            /// `address` gives null or the function of that name, whose type is the one written here.
            $vis unsafe fn load(address: impl Fn(&'static str) -> *const std::ffi::c_void) -> Option<Self> {
                Some(Self {
                    $($field: {
                        let address = address($name);
                        if address.is_null() {
                            $crate::explain::say(format_args!("missing function {}", $name));
                            return None;
                        }
                        // SAFETY: the caller's promise.
                        unsafe {
                            std::mem::transmute::<*const std::ffi::c_void, unsafe extern "C" fn($($kind),*) $(-> $result)?>(address)
                        }
                    },)*
                })
            }
        }
    };
}
pub(crate) use library_functions;
