//! An OpenGL context as it is named and held by those that share with it.

use std::ffi::{CStr, c_void};

/// An OpenGL context by its window system's name for it: addresses, which only name it.
///
/// ```
/// use interop_core::GlName;
///
/// // Addresses as EGL gave them to the program that made the context.
/// let name = GlName::Egl { context: 0x1000, display: 0x2000 };
/// assert_ne!(name, GlName::Glx { context: 0x1000, display: 0x2000 });
/// ```
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
///
/// ```
/// use interop_core::{GlContext, GlName};
/// use std::ffi::{CStr, c_void};
/// use std::ptr;
///
/// /// A context that was destroyed.
/// struct Gone(GlName);
///
/// // SAFETY: it is current nowhere and finds no functions, so that nobody calls any.
/// unsafe impl GlContext for Gone {
///     fn name(&self) -> GlName {
///         self.0
///     }
///     fn is_current(&self) -> bool {
///         false
///     }
///     fn function(&self, _: &CStr) -> *const c_void {
///         ptr::null()
///     }
/// }
/// let held: Box<dyn GlContext> = Box::new(Gone(GlName::Egl { context: 1, display: 2 }));
/// assert!(held.function(c"glFlush").is_null());
/// ```
pub unsafe trait GlContext: Send + Sync {
    /// Returns the name of the context.
    fn name(&self) -> GlName;

    /// True where it is current on the calling thread. Never true again once its display was told that it is gone.
    fn is_current(&self) -> bool;

    /// The OpenGL function of that name; null where there is none.
    fn function(&self, name: &CStr) -> *const c_void;
}
