//! OpenGL's functions, from the window system.

use crate::function_table::function_table;
use std::ffi::{CStr, c_char, c_void};

function_table! {
    /// Functions of OpenGL 3.2 that the layer calls in its own context.
    pub struct Gl by &'static str {
        active_texture = "glActiveTexture"(u32);
        bind_buffer = "glBindBuffer"(u32, u32);
        bind_framebuffer = "glBindFramebuffer"(u32, u32);
        bind_renderbuffer = "glBindRenderbuffer"(u32, u32);
        bind_texture = "glBindTexture"(u32, u32);
        bind_vertex_array = "glBindVertexArray"(u32);
        blit_framebuffer = "glBlitFramebuffer"(i32, i32, i32, i32, i32, i32, i32, i32, u32, u32);
        buffer_sub_data = "glBufferSubData"(u32, isize, isize, *const c_void);
        check_framebuffer = "glCheckFramebufferStatus"(u32) -> u32;
        client_wait_sync = "glClientWaitSync"(*mut c_void, u32, u64) -> u32;
        delete_framebuffers = "glDeleteFramebuffers"(i32, *const u32);
        delete_sync = "glDeleteSync"(*mut c_void);
        delete_textures = "glDeleteTextures"(i32, *const u32);
        delete_vertex_arrays = "glDeleteVertexArrays"(i32, *const u32);
        finish = "glFinish"();
        framebuffer_renderbuffer = "glFramebufferRenderbuffer"(u32, u32, u32, u32);
        framebuffer_texture_2d = "glFramebufferTexture2D"(u32, u32, u32, u32, i32);
        gen_framebuffers = "glGenFramebuffers"(i32, *mut u32);
        gen_textures = "glGenTextures"(i32, *mut u32);
        gen_vertex_arrays = "glGenVertexArrays"(i32, *mut u32);
        get_buffer_parameter = "glGetBufferParameteri64v"(u32, u32, *mut i64);
        get_buffer_sub_data = "glGetBufferSubData"(u32, isize, isize, *mut c_void);
        get_error = "glGetError"() -> u32;
        get_integer = "glGetIntegerv"(u32, *mut i32);
        get_renderbuffer_parameter = "glGetRenderbufferParameteriv"(u32, u32, *mut i32);
        get_string_i = "glGetStringi"(u32, u32) -> *const c_char;
        get_tex_image = "glGetTexImage"(u32, i32, u32, u32, *mut c_void);
        get_tex_level_parameter = "glGetTexLevelParameteriv"(u32, i32, u32, *mut i32);
        get_tex_parameter = "glGetTexParameteriv"(u32, u32, *mut i32);
        is_buffer = "glIsBuffer"(u32) -> u8;
        is_renderbuffer = "glIsRenderbuffer"(u32) -> u8;
        is_sync = "glIsSync"(*mut c_void) -> u8;
        is_texture = "glIsTexture"(u32) -> u8;
        pixel_store = "glPixelStorei"(u32, i32);
        read_buffer = "glReadBuffer"(u32);
        read_pixels = "glReadPixels"(i32, i32, i32, i32, u32, u32, *mut c_void);
        tex_image_2d = "glTexImage2D"(u32, i32, i32, i32, i32, i32, u32, u32, *const c_void);
        tex_sub_image_1d = "glTexSubImage1D"(u32, i32, i32, i32, u32, u32, *const c_void);
        tex_sub_image_2d = "glTexSubImage2D"(u32, i32, i32, i32, i32, i32, u32, u32, *const c_void);
        tex_sub_image_3d = "glTexSubImage3D"(u32, i32, i32, i32, i32, i32, i32, i32, u32, u32, *const c_void);
    }
}

function_table! {
    /// Functions of `GL_ARB_robustness`.
    pub struct RobustGl by &'static str {
        get_n_tex_image = "glGetnTexImageARB"(u32, i32, u32, u32, i32, *mut c_void);
    }
}

function_table! {
    /// Functions that the layer calls in the program's context; none of them changes the program's state.
    pub struct ProgramGl by &'static str {
        fence_sync = "glFenceSync"(u32, u32) -> *mut c_void;
        flush = "glFlush"();
        finish = "glFinish"();
    }
}

impl Gl {
    /// Returns whether the context has an extension.
    pub fn has(&self, extension: &CStr) -> bool {
        const EXTENSIONS: u32 = 0x1F03;
        const COUNT: u32 = 0x821D;
        let is = |index| {
            // SAFETY: OpenGL gives null, or a string that lives as long as the context.
            unsafe {
                let name = (self.get_string_i)(EXTENSIONS, index);
                !name.is_null() && CStr::from_ptr(name) == extension
            }
        };
        (0..self.integer(COUNT).cast_unsigned()).any(is)
    }

    /// Returns one integer of the context's state.
    pub fn integer(&self, name: u32) -> i32 {
        let mut value = 0;
        // SAFETY: one number is written.
        unsafe { (self.get_integer)(name, &raw mut value) };
        value
    }

    /// Clears pending errors and returns the first.
    pub fn error(&self) -> Option<u32> {
        // A lost context reports errors forever, so the number is limited. SAFETY: takes no arguments.
        let mut errors = (0..16).map(|_| unsafe { (self.get_error)() }).take_while(|error| *error != 0);
        let first = errors.next();
        errors.for_each(drop);
        first
    }
}
