//! [`GlFns`]: the functions of OpenGL that keeping it and OpenCL apart needs.

use super::{Failure, GL_FUNCTION_MISSING};
use interop_core::GlContext;
use std::ffi::{CStr, c_void};
use std::ptr;

/// Functions of OpenGL that keeping apart needs.
pub(crate) struct GlFns {
    pub finish: Plain,
    pub flush: Plain,
    pub fence: Fence,
    pub delete: Delete,
    pub wait: Wait,
    /// `glCreateSyncFromCLeventARB`, where OpenGL lists `GL_ARB_cl_event`.
    pub from_event: Option<FromEvent>,
}

pub(crate) type Plain = unsafe extern "system" fn();
pub(crate) type Fence = unsafe extern "system" fn(condition: u32, flags: u32) -> *mut c_void;
pub(crate) type Delete = unsafe extern "system" fn(sync: *mut c_void);
pub(crate) type Wait = unsafe extern "system" fn(sync: *mut c_void, flags: u32, timeout: u64);
pub(crate) type FromEvent =
    unsafe extern "system" fn(context: *mut c_void, event: *mut c_void, flags: u32) -> *mut c_void;

impl GlFns {
    /// Those of the context that is current.
    pub fn load(context: &dyn GlContext) -> Result<Self, Failure> {
        macro_rules! gl {
            ($name:literal as $kind:ty) => {{
                let missing = Failure { operation: "OpenGL", code: GL_FUNCTION_MISSING };
                let address = ptr::NonNull::new(context.function($name).cast_mut()).ok_or(missing)?;
                // SAFETY: the signature is that of OpenGL 3.2, or of the extension that is listed.
                unsafe { std::mem::transmute::<*mut c_void, $kind>(address.as_ptr()) }
            }};
        }
        let from_event = match gl_lists(context, c"GL_ARB_cl_event")? {
            true => Some(gl!(c"glCreateSyncFromCLeventARB" as FromEvent)),
            false => None,
        };
        Ok(Self {
            finish: gl!(c"glFinish" as Plain),
            flush: gl!(c"glFlush" as Plain),
            fence: gl!(c"glFenceSync" as Fence),
            delete: gl!(c"glDeleteSync" as Delete),
            wait: gl!(c"glWaitSync" as Wait),
            from_event,
        })
    }
}

/// Tells whether the current context lists a GL extension.
fn gl_lists(context: &dyn GlContext, wanted: &CStr) -> Result<bool, Failure> {
    type GetInteger = unsafe extern "system" fn(parameter: u32, value: *mut i32);
    type GetString = unsafe extern "system" fn(parameter: u32, index: u32) -> *const std::ffi::c_char;
    let (get, name) = (context.function(c"glGetIntegerv"), context.function(c"glGetStringi"));
    if get.is_null() || name.is_null() {
        return Err(Failure { operation: "OpenGL", code: GL_FUNCTION_MISSING });
    }
    // SAFETY: both are functions of OpenGL 3.0 of the current context. One number is written, and the strings live as
    // long as the context.
    unsafe {
        let get = std::mem::transmute::<*const c_void, GetInteger>(get);
        let name = std::mem::transmute::<*const c_void, GetString>(name);
        let mut count = 0;
        get(0x821D, &raw mut count);
        Ok((0..count.max(0).cast_unsigned()).any(|index| {
            let text = name(0x1F03, index);
            !text.is_null() && CStr::from_ptr(text) == wanted
        }))
    }
}
