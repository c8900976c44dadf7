//! OpenGL contexts: their names, and handles for APIs that share with them.

use std::ffi::{CStr, c_void};

/// Name of an OpenGL context in its window system. The addresses only identify it.
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

/// A held OpenGL context: it exists for as long as this value does, even after the display that it was made for is
/// dropped. [`crate::Display::hold_gl`] returns one.
///
/// Any thread may own the value. The context stays on its own thread, so [`GlContext::is_current`] is true only there.
///
/// # Safety
/// The implementor guarantees that the context, or another of its share group, exists as long as the value; that `name`
/// identifies it; that `is_current` says correctly whether it is current on the calling thread; and that `function`
/// returns functions of that context, which may be called while it is current.
///
/// ```
/// use interop_core::{GlContext, GlName};
/// use std::ffi::{CStr, c_void};
/// use std::ptr;
///
/// /// A context that was destroyed.
/// struct Gone(GlName);
///
/// // SAFETY: it is never current and has no functions, so none is called.
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

    /// True where it is current on the calling thread. It never becomes true again after its display learned that the
    /// context is gone.
    fn is_current(&self) -> bool;

    /// Returns the OpenGL function of that name; null where the context has none.
    fn function(&self, name: &CStr) -> *const c_void;
}
