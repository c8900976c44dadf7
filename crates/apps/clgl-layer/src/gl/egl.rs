//! Contexts of EGL.

use super::library;
use super::window_system::{ProgramContext, WindowSystem};
use crate::codes::INVALID_GL_SHAREGROUP_REFERENCE;
use crate::explain::refuse;
use crate::function_table::function_table;
use std::ffi::{CString, c_char, c_void};
use std::sync::OnceLock;

function_table! {
    pub struct EglFunctions by &'static str {
        bind_api = "eglBindAPI"(u32) -> u32;
        choose_config = "eglChooseConfig"(usize, *const i32, *mut usize, i32, *mut i32) -> u32;
        create_context = "eglCreateContext"(usize, usize, usize, *const i32) -> usize;
        destroy_context = "eglDestroyContext"(usize, usize) -> u32;
        get_current_context = "eglGetCurrentContext"() -> usize;
        get_proc_address = "eglGetProcAddress"(*const c_char) -> *const c_void;
        make_current = "eglMakeCurrent"(usize, usize, usize, usize) -> u32;
        query_context = "eglQueryContext"(usize, usize, i32, *mut i32) -> u32;
        release_thread = "eglReleaseThread"() -> u32;
    }
}

const OPENGL_API: u32 = 0x30A2;
const CONFIG_ID: i32 = 0x3028;
const NONE: i32 = 0x3038;

pub struct Egl(EglFunctions);

impl Egl {
    pub fn get() -> Option<&'static Self> {
        static EGL: OnceLock<Option<Egl>> = OnceLock::new();
        let load = || {
            let library = library::open(&["libEGL.so.1"])?;
            // SAFETY: EGL's functions have these types.
            unsafe { EglFunctions::load(|name| library::address(library, name)) }.map(Egl)
        };
        EGL.get_or_init(load).as_ref()
    }

    /// ID of a context's configuration; `None` if the display has no such context.
    fn configuration(&self, program: ProgramContext) -> Option<i32> {
        let mut id = 0;
        // SAFETY: EGL checks displays and contexts; one number is written.
        let known = unsafe { (self.0.query_context)(program.display, program.context, CONFIG_ID, &raw mut id) };
        (known != 0).then_some(id)
    }
}

impl WindowSystem for Egl {
    fn current(&self) -> usize {
        // SAFETY: takes nothing.
        unsafe { (self.0.get_current_context)() }
    }

    fn address(&self, name: &str) -> *const c_void {
        let Ok(name) = CString::new(name) else { return std::ptr::null() };
        // SAFETY: a name.
        unsafe { (self.0.get_proc_address)(name.as_ptr()) }
    }

    fn knows(&self, program: ProgramContext) -> bool {
        self.configuration(program).is_some()
    }

    fn prepare(&self, _: ProgramContext) -> Result<usize, i32> {
        Ok(0)
    }

    fn enter(&self, program: ProgramContext, _: usize) -> Result<usize, i32> {
        let refused = |why| Err(refuse(INVALID_GL_SHAREGROUP_REFERENCE, why));
        let ProgramContext { display, context } = program;
        let egl = &self.0;
        let Some(id) = self.configuration(program) else {
            return refused("unknown EGL context on that display");
        };
        // SAFETY: EGL checks displays and contexts; single numbers are written.
        unsafe {
            let (mut config, mut count) = (0, 0);
            // 0: a context without a configuration.
            let list = [CONFIG_ID, id, NONE];
            if id != 0
                && ((egl.choose_config)(display, list.as_ptr(), &raw mut config, 1, &raw mut count) == 0 || count == 0)
            {
                return refused("cannot find the configuration of the GL context");
            }
            (egl.bind_api)(OPENGL_API);
            let own = (egl.create_context)(display, config, context, [NONE].as_ptr());
            if own == 0 {
                return refused("EGL cannot make a context that shares with the program's");
            }
            if (egl.make_current)(display, 0, 0, own) == 0 {
                (egl.destroy_context)(display, own);
                return refused("cannot make a context without a surface current");
            }
            Ok(own)
        }
    }

    fn leave(&self, program: ProgramContext, own: usize) {
        // SAFETY: EGL checks them: the program may have ended the display.
        unsafe {
            (self.0.make_current)(program.display, 0, 0, 0);
            (self.0.destroy_context)(program.display, own);
            (self.0.release_thread)();
        }
    }
}
