//! The functions that the layer inserts before the driver's, with the signatures of `cl.h` and `cl_gl.h`. Each checks
//! what C may pass, and leaves the rest to safe code.

mod contexts;
mod events;
mod info;
mod objects;
mod turns;

use std::ffi::{CStr, c_void};

/// One of the functions: its position in the loader's table, and its name for programs that query it.
type CallRow = (usize, Option<&'static CStr>, *const c_void);

fn rows() -> [CallRow; 25] {
    [
        (1, None, info::platform_info as *const c_void),
        (3, None, info::device_info as *const c_void),
        (4, None, contexts::create_context as *const c_void),
        (5, None, contexts::create_context_from_type as *const c_void),
        (6, None, contexts::retain_context as *const c_void),
        (7, None, contexts::release_context as *const c_void),
        (8, None, contexts::context_info as *const c_void),
        (42, None, events::event_info as *const c_void),
        (43, None, events::retain_event as *const c_void),
        (44, None, events::release_event as *const c_void),
        (65, None, info::get_function as *const c_void),
        (66, Some(c"clCreateFromGLBuffer"), objects::create_from_gl_buffer as *const c_void),
        (67, Some(c"clCreateFromGLTexture2D"), objects::create_from_gl_texture::<{ objects::TWO }> as *const c_void),
        (68, Some(c"clCreateFromGLTexture3D"), objects::create_from_gl_texture::<{ objects::THREE }> as *const c_void),
        (69, Some(c"clCreateFromGLRenderbuffer"), objects::create_from_gl_renderbuffer as *const c_void),
        (70, Some(c"clGetGLObjectInfo"), objects::get_gl_object_info as *const c_void),
        (71, Some(c"clGetGLTextureInfo"), objects::gl_texture_info as *const c_void),
        (72, Some(c"clEnqueueAcquireGLObjects"), turns::turn::<true> as *const c_void),
        (73, Some(c"clEnqueueReleaseGLObjects"), turns::turn::<false> as *const c_void),
        (74, Some(c"clGetGLContextInfoKHR"), contexts::gl_context_info as *const c_void),
        (84, None, events::create_user_event as *const c_void),
        (85, None, events::set_user_event_status as *const c_void),
        (92, Some(c"clCreateEventFromGLsyncKHR"), events::create_event_from_gl_sync as *const c_void),
        (107, None, info::get_function_of_platform as *const c_void),
        (108, Some(c"clCreateFromGLTexture"), objects::create_from_gl_texture::<{ objects::ANY }> as *const c_void),
    ]
}

/// Inserts all functions into a table.
pub fn put_into(table: &mut [*const c_void]) {
    for (place, _, function) in rows() {
        if let Some(entry) = table.get_mut(place) {
            *entry = function;
        }
    }
}

/// Returns the layer's function of that name; `None` for other functions.
fn by_name(name: &CStr) -> Option<*const c_void> {
    rows().into_iter().find(|(_, of, _)| *of == Some(name)).map(|(_, _, function)| function)
}
