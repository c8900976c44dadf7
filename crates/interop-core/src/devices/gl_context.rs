//! An OpenGL context as it is named and held by those that share with it.

use std::ffi::{CStr, c_void};

/// An OpenGL context by its window system's name for it: addresses, which only name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GlName {
    /// EGL.
    Egl {
        /// `EGLContext`.
        context: usize,
        /// `EGLDisplay`.
        display: usize,
    },
    /// GLX of the X Window System.
    Glx {
        /// `GLXContext`.
        context: usize,
        /// `Display *` of Xlib.
        display: usize,
    },
    /// WGL of Windows.
    Wgl {
        /// `HGLRC`.
        context: usize,
        /// `HDC`.
        device: usize,
    },
    /// CGL of macOS.
    Cgl {
        /// `CGLContextObj`.
        context: usize,
        /// `CGLShareGroupObj`.
        share_group: usize,
    },
}

/// An OpenGL context that is held: it exists for as long as this value does, also when the display that it was made for is
/// gone. Given out by [`crate::Display::hold_gl`].
///
/// Any thread may have it; the context stays on its own thread, so that only there [`GlContext::is_current`] is ever true.
///
/// # Safety
/// Whoever implements it vouches for this: the context, or another of its share group, exists as long as the value.
/// `name` names it, `is_current` says truly whether it is current on the calling thread, and what `function` finds are its
/// functions, which may be called where it is current.
pub unsafe trait GlContext: Send + Sync {
    /// Who it is.
    fn name(&self) -> GlName;

    /// Whether it is current on the calling thread. Never true again once its display was told that it is gone.
    fn is_current(&self) -> bool;

    /// The OpenGL function of that name; null where there is none.
    fn function(&self, name: &CStr) -> *const c_void;
}
