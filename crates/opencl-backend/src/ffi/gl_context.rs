//! The OpenGL context that is current on this thread, asked of the windowing system that made it.

use libloading::Library;
use std::ffi::{CStr, c_char, c_void};

/// Who made a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code)] // each operating system has its own
pub enum Windowing {
    /// EGL.
    Egl,
    /// GLX of the X Window System.
    Glx,
    /// WGL of Windows.
    Wgl,
    /// CGL of macOS.
    Cgl,
}

/// How a windowing system's library is asked.
struct Asked {
    windowing: Windowing,
    /// The library is only looked at where it is in this process already: without it no context of its is current.
    library: &'static str,
    context: &'static [u8],
    /// The display, device context or share group that the context belongs to.
    owner: &'static [u8],
    /// Finds GL functions; where empty, the library has them itself.
    get: &'static [u8],
}

#[cfg(all(unix, not(target_os = "macos")))]
const SYSTEMS: [Asked; 2] = [
    Asked {
        windowing: Windowing::Egl,
        library: "libEGL.so.1",
        context: b"eglGetCurrentContext\0",
        owner: b"eglGetCurrentDisplay\0",
        get: b"eglGetProcAddress\0",
    },
    Asked {
        windowing: Windowing::Glx,
        library: "libGL.so.1",
        context: b"glXGetCurrentContext\0",
        owner: b"glXGetCurrentDisplay\0",
        get: b"glXGetProcAddressARB\0",
    },
];
#[cfg(windows)]
const SYSTEMS: [Asked; 1] = [Asked {
    windowing: Windowing::Wgl,
    library: "opengl32.dll",
    context: b"wglGetCurrentContext\0",
    owner: b"wglGetCurrentDC\0",
    get: b"wglGetProcAddress\0",
}];
#[cfg(target_os = "macos")]
const SYSTEMS: [Asked; 1] = [Asked {
    windowing: Windowing::Cgl,
    library: "/System/Library/Frameworks/OpenGL.framework/OpenGL",
    context: b"CGLGetCurrentContext\0",
    owner: b"CGLGetShareGroup\0",
    get: b"\0",
}];

/// The library, if this process has it open.
fn loaded(name: &str) -> Option<Library> {
    #[cfg(unix)]
    {
        use libloading::os::unix::{Library as Unix, RTLD_LAZY};
        const RTLD_NOLOAD: i32 = if cfg!(target_os = "macos") { 0x10 } else { 0x4 };
        // SAFETY: nothing is loaded, so nothing runs.
        unsafe { Unix::open(Some(name), RTLD_LAZY | RTLD_NOLOAD) }.ok().map(Library::from)
    }
    #[cfg(windows)]
    {
        libloading::os::windows::Library::open_already_loaded(name).ok().map(Library::from)
    }
}

/// A context; the addresses only name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GlContext {
    pub windowing: Windowing,
    context: usize,
    owner: usize,
}

impl GlContext {
    /// The one that is current on this thread.
    pub fn current() -> Option<Self> {
        SYSTEMS.iter().find_map(Asked::current)
    }

    /// What `clCreateContext` is told of it (`cl_khr_gl_sharing`, `cl_APPLE_gl_sharing`), without the closing 0.
    pub fn properties(self) -> Vec<isize> {
        const GL_CONTEXT: isize = 0x2008;
        let (context, owner) = (self.context.cast_signed(), self.owner.cast_signed());
        match self.windowing {
            Windowing::Egl => vec![GL_CONTEXT, context, 0x2009, owner],
            Windowing::Glx => vec![GL_CONTEXT, context, 0x200A, owner],
            Windowing::Wgl => vec![GL_CONTEXT, context, 0x200B, owner],
            // The share group alone.
            Windowing::Cgl => vec![0x1000_0000, owner],
        }
    }

    /// The GL function of that name; null where there is none.
    pub fn function(self, name: &CStr) -> *const c_void {
        type Get = unsafe extern "system" fn(name: *const c_char) -> *const c_void;
        let found = SYSTEMS.iter().find(|asked| asked.windowing == self.windowing);
        let Some((asked, library)) = found.and_then(|asked| Some((asked, loaded(asked.library)?))) else {
            return std::ptr::null();
        };
        // SAFETY: each system's function takes a name and gives an address; the other symbols are functions of GL, of
        // which only the address is taken.
        unsafe {
            let by_system = library.get::<Get>(asked.get).map_or(std::ptr::null(), |get| get(name.as_ptr()));
            if by_system.is_null() {
                // The functions of OpenGL 1.1 are the library's own on Windows, all of them are on macOS.
                return library.get::<*const c_void>(name.to_bytes_with_nul()).map_or(std::ptr::null(), |f| *f);
            }
            by_system
        }
    }
}

impl Asked {
    fn current(&self) -> Option<GlContext> {
        type Ask = unsafe extern "system" fn() -> *const c_void;
        type AskOf = unsafe extern "system" fn(context: *const c_void) -> *const c_void;
        let library = loaded(self.library)?;
        // SAFETY: none of them takes a parameter but CGL's, which takes the context; null says that there is none.
        let (context, owner) = unsafe {
            let context = library.get::<Ask>(self.context).ok()?();
            if context.is_null() {
                return None;
            }
            let owner = match self.windowing {
                Windowing::Cgl => library.get::<AskOf>(self.owner).ok()?(context),
                _ => library.get::<Ask>(self.owner).ok()?(),
            };
            (context, owner)
        };
        Some(GlContext { windowing: self.windowing, context: context.addr(), owner: owner.addr() })
    }
}
