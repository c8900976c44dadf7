//! The window systems whose contexts programs share: EGL and GLX.

use super::egl::Egl;
use super::functions::{Gl, ProgramGl, RobustGl};
use super::glx::Glx;
use crate::codes::{INVALID_GL_SHAREGROUP_REFERENCE, INVALID_OPERATION};
use crate::explain::refuse;
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

/// `CL_EGL_DISPLAY_KHR`, `CL_GLX_DISPLAY_KHR`.
pub const EGL: isize = 0x2009;
pub const GLX: isize = 0x200A;

/// The system that a property of `clCreateContext` means.
pub fn of(property: isize) -> Result<&'static dyn WindowSystem, i32> {
    let found: Option<&'static dyn WindowSystem> = match property {
        EGL => Egl::get().map(|egl| egl as _),
        GLX => Glx::get().map(|glx| glx as _),
        _ => None,
    };
    found.ok_or_else(|| refuse(INVALID_OPERATION, "the window system of the GL context is not known here"))
}

/// Functions for the program's context.
pub fn program_functions(system: &dyn WindowSystem) -> Option<ProgramGl> {
    // SAFETY: the window system gives functions by their names in OpenGL.
    unsafe { ProgramGl::load(|name| system.address(name)) }
}

/// A context of the layer's own that shares with a program's.
pub struct OwnContext {
    system: &'static dyn WindowSystem,
    program: ProgramContext,
    /// 0: not made yet.
    context: usize,
}

impl OwnContext {
    /// For the thread of the program that names the context.
    pub fn new(system: &'static dyn WindowSystem, program: ProgramContext) -> Result<Self, i32> {
        Ok(Self { system, program, context: system.prepare(program)? })
    }

    /// Makes it current on this thread, where it stays.
    pub fn enter(&mut self) -> Result<(Gl, Option<RobustGl>), i32> {
        self.context = self.system.enter(self.program, self.context)?;
        let old = || refuse(INVALID_GL_SHAREGROUP_REFERENCE, "the GL context is older than OpenGL 3.2");
        // SAFETY: the window system gives functions by their names in OpenGL.
        let gl = unsafe { Gl::load(|name| self.system.address(name)) }.filter(|gl| gl.is_of(3, 2)).ok_or_else(old)?;
        let robust = gl.has(c"GL_ARB_robustness");
        // SAFETY: as above.
        let robust = robust.then(|| unsafe { RobustGl::load(|name| self.system.address(name)) }).flatten();
        Ok((gl, robust))
    }
}

impl Drop for OwnContext {
    fn drop(&mut self) {
        if self.context != 0 {
            self.system.leave(self.program, self.context);
        }
    }
}
