//! Queries the window system (EGL, GLX, WGL or CGL) for the OpenGL context that is current on this thread.

use super::loader::Loader;
use interop_core::GlName;
use libloading::Library;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;

/// `eglGetCurrentContext`, `glXGetCurrentContext`, `wglGetCurrentContext`, `CGLGetCurrentContext`: no parameter; null
/// where no context of that system is current.
type Current = unsafe extern "system" fn() -> *const c_void;
/// `CGLGetShareGroup`.
type ShareGroup = unsafe extern "system" fn(context: *const c_void) -> *const c_void;
/// `eglGetProcAddress` and similar functions.
type Find = unsafe extern "system" fn(name: *const c_char) -> *const c_void;

/// A window system that creates contexts: the names of its functions, and its form of context names.
struct System {
    /// Names of the system's library. Only a library that this process has already loaded can have created the current
    /// context, so no other is used.
    libraries: &'static [&'static str],
    current: &'static CStr,
    owner: Owner,
    /// `None` where the library exports all functions of OpenGL.
    find: Option<&'static CStr>,
    name: fn(context: usize, owner: usize) -> GlName,
}

/// The function that returns what a context belongs to.
enum Owner {
    /// A function for the current context: `eglGetCurrentDisplay`, `glXGetCurrentDisplay`, `wglGetCurrentDC`.
    OfCurrent(&'static CStr),
    /// A function for any context: `CGLGetShareGroup`.
    #[cfg_attr(not(target_vendor = "apple"), allow(dead_code))]
    Of(&'static CStr),
}

const EGL: System = System {
    libraries: if cfg!(windows) { &["libEGL.dll"] } else { &["libEGL.so.1", "libEGL.so"] },
    current: c"eglGetCurrentContext",
    owner: Owner::OfCurrent(c"eglGetCurrentDisplay"),
    find: Some(c"eglGetProcAddress"),
    name: |context, display| GlName::Egl { context, display },
};
#[cfg(all(unix, not(target_vendor = "apple")))]
const SYSTEMS: &[System] = &[
    EGL,
    System {
        // Programs linked with libglvnd's parts have libGLX but no libGL.
        libraries: &["libGLX.so.0", "libGL.so.1", "libGL.so"],
        current: c"glXGetCurrentContext",
        owner: Owner::OfCurrent(c"glXGetCurrentDisplay"),
        find: Some(c"glXGetProcAddressARB"),
        name: |context, display| GlName::Glx { context, display },
    },
];
#[cfg(windows)]
const SYSTEMS: &[System] = &[
    System {
        libraries: &["opengl32.dll"],
        current: c"wglGetCurrentContext",
        owner: Owner::OfCurrent(c"wglGetCurrentDC"),
        find: Some(c"wglGetProcAddress"),
        name: |context, device| GlName::Wgl { context, device },
    },
    EGL,
];
#[cfg(target_vendor = "apple")]
const SYSTEMS: &[System] = &[
    System {
        libraries: &["/System/Library/Frameworks/OpenGL.framework/OpenGL"],
        current: c"CGLGetCurrentContext",
        owner: Owner::Of(c"CGLGetShareGroup"),
        find: None,
        name: |context, share_group| GlName::Cgl { context, share_group },
    },
    EGL,
];

/// Returns the library, if this process has loaded it.
fn opened(name: &str) -> Option<Library> {
    #[cfg(unix)]
    {
        use libloading::os::unix::{Library as Unix, RTLD_LAZY};
        const RTLD_NOLOAD: i32 = if cfg!(target_vendor = "apple") { 0x10 } else { 0x4 };
        // SAFETY: nothing is loaded, so nothing runs.
        unsafe { Unix::open(Some(name), RTLD_LAZY | RTLD_NOLOAD) }.ok().map(Library::from)
    }
    #[cfg(windows)]
    {
        libloading::os::windows::Library::open_already_loaded(name).ok().map(Library::from)
    }
}

/// A context, identified by its window system's name.
pub(crate) struct NativeContext {
    name: GlName,
    /// The address of the context; it is only compared.
    address: usize,
    current: Current,
    find: Option<Find>,
    /// The library with the functions. `None` where the engine's loader found them; an engine keeps them for as long as
    /// its context.
    library: Option<Library>,
}

impl NativeContext {
    /// Returns the context that is current on this thread; `None` where there is none, or none of a known window
    /// system.
    ///
    /// # Safety
    /// `load` returns null or the function of that name, which can be called for as long as the context exists.
    pub(crate) unsafe fn current(load: Option<Loader<'_>>) -> Option<Self> {
        for system in SYSTEMS {
            for library in system.libraries.iter().filter_map(|name| opened(name)) {
                let look = |name: &CStr| {
                    // SAFETY: only the address is taken.
                    let found = unsafe { library.get::<*const c_void>(name.to_bytes_with_nul()) };
                    found.map_or(ptr::null(), |found| *found)
                };
                // SAFETY: what the system's library has by these names is of these types, and stays where it is while the
                // library is open.
                let found = unsafe { Self::asked(system, look) };
                if let Some(found) = found {
                    return Some(Self { library: Some(library), ..found });
                }
            }
        }
        // A loader of GL functions may find EGL's own functions as well. (GLX's own are not looked up: other loaders
        // return the address of an empty function for every name that begins with `gl`.)
        // SAFETY: the caller's promise.
        load.and_then(|load| unsafe { Self::asked(&EGL, load) })
    }

    /// # Safety
    /// `look` gives null, or the system's function of that name.
    unsafe fn asked(system: &System, mut look: impl FnMut(&CStr) -> *const c_void) -> Option<Self> {
        // SAFETY: null becomes `None`; else the functions are of these types by the caller's promise.
        unsafe {
            let current = std::mem::transmute::<*const c_void, Option<Current>>(look(system.current))?;
            let context = current();
            if context.is_null() {
                return None;
            }
            let owner = match system.owner {
                Owner::OfCurrent(name) => std::mem::transmute::<*const c_void, Option<Current>>(look(name))?(),
                Owner::Of(name) => std::mem::transmute::<*const c_void, Option<ShareGroup>>(look(name))?(context),
            };
            let find = system.find.map_or(ptr::null(), look);
            let find = std::mem::transmute::<*const c_void, Option<Find>>(find);
            let address = context.expose_provenance();
            let name = (system.name)(address, owner.expose_provenance());
            Some(Self { name, address, current, find, library: None })
        }
    }

    pub(crate) fn name(&self) -> GlName {
        self.name
    }

    /// True where the context is current on the calling thread.
    pub(crate) fn is_current(&self) -> bool {
        // SAFETY: it takes no parameter and may be called on any thread; its library is open.
        unsafe { (self.current)() }.addr() == self.address
    }

    /// Returns the GL function of that name; null where there is none.
    pub(crate) fn function(&self, name: &CStr) -> *const c_void {
        // SAFETY: each system's function takes a name and gives an address or null; its library is open.
        let found = self.find.map_or(ptr::null(), |find| unsafe { find(name.as_ptr()) });
        if !found.is_null() {
            return found;
        }
        let Some(library) = &self.library else { return ptr::null() };
        // The library itself exports the functions of OpenGL 1.1 on Windows, and all functions on macOS.
        // SAFETY: only the address is taken.
        let own = unsafe { library.get::<*const c_void>(name.to_bytes_with_nul()) };
        own.map_or(ptr::null(), |found| *found)
    }
}
