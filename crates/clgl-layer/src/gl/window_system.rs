//! What the layer asks of EGL and of GLX.

use std::ffi::c_void;

/// A context of the program's, as `clCreateContext` is told of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgramContext {
    pub display: usize,
    pub context: usize,
}

/// What the layer asks of a window system.
pub trait WindowSystem: Send + Sync {
    /// The context that is current on this thread; 0: none.
    fn current(&self) -> usize;

    /// A function of OpenGL's by its name; null where there is none.
    fn address(&self, name: &str) -> *const c_void;

    /// Whether the display has such a context.
    fn knows(&self, program: ProgramContext) -> bool;

    /// Makes on the program's thread what has to be made there; 0: nothing.
    fn prepare(&self, program: ProgramContext) -> Result<usize, i32>;

    /// Makes a context that shares with the program's current on this thread; `own`: what [`Self::prepare`] gave.
    fn enter(&self, program: ProgramContext, own: usize) -> Result<usize, i32>;

    /// Ends it, on the thread that has it.
    fn leave(&self, program: ProgramContext, own: usize);
}
