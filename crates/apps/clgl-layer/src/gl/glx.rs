//! Contexts of GLX.

use super::library;
use super::window_system::{ProgramContext, WindowSystem};
use crate::codes::INVALID_GL_SHAREGROUP_REFERENCE;
use crate::explain::refuse;
use crate::function_table::function_table;
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

function_table! {
    pub struct GlxFunctions by &'static str {
        choose_config = "glXChooseFBConfig"(usize, c_int, *const i32, *mut i32) -> *mut usize;
        destroy_context = "glXDestroyContext"(usize, usize);
        get_current_context = "glXGetCurrentContext"() -> usize;
        get_proc_address = "glXGetProcAddressARB"(*const c_char) -> *const c_void;
        make_current = "glXMakeContextCurrent"(usize, usize, usize, usize) -> c_int;
        query_context = "glXQueryContext"(usize, usize, c_int, *mut i32) -> c_int;
    }
}

type ErrorHandler = Option<unsafe extern "C" fn(usize, *mut c_void) -> c_int>;
type CloseHandler = unsafe extern "C" fn(usize, *mut c_void) -> c_int;

function_table! {
    pub struct XFunctions by &'static str {
        free = "XFree"(*mut c_void) -> c_int;
        sync = "XSync"(usize, c_int) -> c_int;
        set_error_handler = "XSetErrorHandler"(ErrorHandler) -> ErrorHandler;
        add_extension = "XAddExtension"(usize) -> *const c_int;
        set_close = "XESetCloseDisplay"(usize, c_int, CloseHandler) -> *const c_void;
    }
}

const FBCONFIG_ID: i32 = 0x8013;
const SCREEN: i32 = 0x800C;
/// Accepts configurations without window support.
const DRAWABLE_TYPE: i32 = 0x8010;
const ANY: i32 = -1;

pub struct Glx {
    glx: GlxFunctions,
    x: XFunctions,
}

/// Displays of the layer's contexts, with whether the program has closed them.
static DISPLAYS: Mutex<Option<HashMap<usize, bool>>> = Mutex::new(None);

fn with_displays<T>(f: impl FnOnce(&mut HashMap<usize, bool>) -> T) -> T {
    f(DISPLAYS.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// Returns whether the program has closed a display; nothing of it may be used then.
pub fn is_closed(display: usize) -> bool {
    with_displays(|displays| displays.get(&display).copied().unwrap_or(false))
}

unsafe extern "C" fn closed(display: usize, _: *mut c_void) -> c_int {
    with_displays(|displays| displays.insert(display, true));
    0
}

static FAILED: AtomicBool = AtomicBool::new(false);

/// Xlib's default handler ends the process.
unsafe extern "C" fn note_error(_: usize, _: *mut c_void) -> c_int {
    FAILED.store(true, Ordering::Relaxed);
    0
}

impl Glx {
    pub fn get() -> Option<&'static Self> {
        static GLX: OnceLock<Option<Glx>> = OnceLock::new();
        let load = || {
            let (gl, x) = (library::open(&["libGLX.so.0", "libGL.so.1"])?, library::open(&["libX11.so.6"])?);
            // SAFETY: the libraries' functions have these types.
            unsafe {
                let glx = GlxFunctions::load(|name| library::address(gl, name))?;
                Some(Glx { glx, x: XFunctions::load(|name| library::address(x, name))? })
            }
        };
        GLX.get_or_init(load).as_ref()
    }

    /// Runs `f`; an error of the X server is recorded instead of ending the process.
    fn guarded(&self, display: usize, f: impl FnOnce() -> usize) -> usize {
        static ONE: Mutex<()> = Mutex::new(());
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the display is live by the program's word.
        let before = unsafe {
            (self.x.sync)(display, 0);
            FAILED.store(false, Ordering::Relaxed);
            (self.x.set_error_handler)(Some(note_error))
        };
        let made = f();
        // SAFETY: as above.
        unsafe {
            (self.x.sync)(display, 0);
            (self.x.set_error_handler)(before);
        }
        if FAILED.load(Ordering::Relaxed) { 0 } else { made }
    }

    /// ID of a context's configuration; `None` if the display has no such context.
    fn configuration(&self, program: ProgramContext) -> Option<i32> {
        let ProgramContext { display, context } = program;
        if display == 0 || context == 0 {
            return None;
        }
        let mut id = 0;
        let known = self.guarded(display, || {
            // SAFETY: the display is live by the program's word; one number is written.
            usize::from(unsafe { (self.glx.query_context)(display, context, FBCONFIG_ID, &raw mut id) } == 0)
        });
        (known != 0).then_some(id)
    }

    /// Requests a notification when the program closes the display.
    fn watch(&self, display: usize) {
        if with_displays(|displays| displays.insert(display, false)) == Some(false) {
            return;
        }
        // SAFETY: the display is live by the program's word; the first number is that of the extension.
        unsafe {
            let codes = (self.x.add_extension)(display);
            if !codes.is_null() {
                (self.x.set_close)(display, codes.read(), closed);
            }
        }
    }
}

impl WindowSystem for Glx {
    fn current(&self) -> usize {
        // SAFETY: takes nothing.
        unsafe { (self.glx.get_current_context)() }
    }

    fn address(&self, name: &str) -> *const c_void {
        let Ok(name) = CString::new(name) else { return std::ptr::null() };
        // SAFETY: a name.
        unsafe { (self.glx.get_proc_address)(name.as_ptr()) }
    }

    fn knows(&self, program: ProgramContext) -> bool {
        self.configuration(program).is_some()
    }

    /// Makes a context that shares with the program's.
    fn prepare(&self, program: ProgramContext) -> Result<usize, i32> {
        type Create = unsafe extern "C" fn(usize, usize, usize, c_int, *const i32) -> usize;
        let refused = |why| Err(refuse(INVALID_GL_SHAREGROUP_REFERENCE, why));
        let ProgramContext { display, context } = program;
        let Some(id) = self.configuration(program) else {
            return refused("unknown GLX context on that display");
        };
        let create = self.address("glXCreateContextAttribsARB");
        if create.is_null() {
            return refused("GLX lacks GLX_ARB_create_context");
        }
        self.watch(display);
        let own = self.guarded(display, || {
            // SAFETY: the display is live by the program's word; GLX checks the context; single numbers are written.
            unsafe {
                let create = std::mem::transmute::<*const c_void, Create>(create);
                let (mut screen, mut count) = (0, 0);
                if (self.glx.query_context)(display, context, SCREEN, &raw mut screen) != 0 {
                    return 0;
                }
                // 0: a context without a configuration; any does.
                let list = if id == 0 { [0; 5] } else { [FBCONFIG_ID, id, DRAWABLE_TYPE, ANY, 0] };
                let configs = (self.glx.choose_config)(display, screen, list.as_ptr(), &raw mut count);
                if configs.is_null() || count == 0 {
                    return 0;
                }
                let config = configs.read();
                (self.x.free)(configs.cast());
                create(display, config, context, 1, [0].as_ptr())
            }
        });
        if own == 0 { refused("GLX cannot make a context that shares with the program's") } else { Ok(own) }
    }

    fn enter(&self, program: ProgramContext, own: usize) -> Result<usize, i32> {
        // SAFETY: made by `prepare` on that display.
        if unsafe { (self.glx.make_current)(program.display, 0, 0, own) } == 0 {
            return Err(refuse(INVALID_GL_SHAREGROUP_REFERENCE, "cannot make a context without a window current"));
        }
        Ok(own)
    }

    /// Destroys it, on the thread where it is current. If the display is closed, the context is already gone.
    fn leave(&self, program: ProgramContext, own: usize) {
        if is_closed(program.display) {
            return;
        }
        // SAFETY: made by `prepare` on that display, which is open.
        unsafe {
            (self.glx.make_current)(program.display, 0, 0, 0);
            (self.glx.destroy_context)(program.display, own);
        }
    }
}
