//! What the layer needs from EGL and GLX.

use std::ffi::c_void;

/// A context of the program, as passed to `clCreateContext`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgramContext {
    pub display: usize,
    pub context: usize,
}

/// What the layer needs from a window system.
pub trait WindowSystem: Send + Sync {
    /// The context that is current on this thread; 0 without a current context.
    fn current(&self) -> usize;

    /// An OpenGL function by its name; null if it is missing.
    fn address(&self, name: &str) -> *const c_void;

    /// Returns whether the display has such a context.
    fn knows(&self, program: ProgramContext) -> bool;

    /// Makes on the program's thread what must be made there; 0 if nothing.
    fn prepare(&self, program: ProgramContext) -> Result<usize, i32>;

    /// Makes a context that shares with the program's current on this thread; `own` is the result of [`Self::prepare`].
    fn enter(&self, program: ProgramContext, own: usize) -> Result<usize, i32>;

    /// Destroys it, on the thread where it is current.
    fn leave(&self, program: ProgramContext, own: usize);
}
