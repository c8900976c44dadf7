//! Functions that set state and that glow does not wrap.

use std::ffi::{CStr, c_void};

type ClampColor = unsafe extern "system" fn(target: u32, clamp: u32);
type PixelTransfer = unsafe extern "system" fn(parameter: u32, value: f32);

/// Function pointers of one context. Drivers may return functions that the context does not have, so use them only
/// where it has the state.
#[derive(Clone, Copy, Default)]
pub(crate) struct StateFns {
    /// `glClampColor`, OpenGL 3.0.
    pub clamp_color: Option<ClampColor>,
    /// `glPixelTransferf` of the compatibility profile.
    pub pixel_transfer: Option<PixelTransfer>,
}

impl StateFns {
    /// Loads the functions.
    ///
    /// # Safety
    /// `load` returns null or the address of the GL function of that name for the current context.
    pub(crate) unsafe fn load(load: &mut dyn FnMut(&CStr) -> *const c_void) -> Self {
        let (clamp, transfer) = (load(c"glClampColor"), load(c"glPixelTransferf"));
        // SAFETY: null becomes `None`; other addresses are functions of these signatures by the caller's promise (OpenGL 4.6
        // compatibility, sections 15.2.3 and 8.4.2).
        unsafe {
            Self {
                clamp_color: std::mem::transmute::<*const c_void, Option<ClampColor>>(clamp),
                pixel_transfer: std::mem::transmute::<*const c_void, Option<PixelTransfer>>(transfer),
            }
        }
    }
}
