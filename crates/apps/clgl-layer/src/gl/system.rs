//! The window systems of shared contexts: EGL and GLX.

use super::egl::Egl;
use super::functions::{Gl, RobustGl};
use super::glx::Glx;
use super::window_system::{ProgramContext, WindowSystem};
use crate::codes::{INVALID_GL_SHAREGROUP_REFERENCE, INVALID_OPERATION};
use crate::explain::refuse;

const MAJOR_VERSION: u32 = 0x821B;
const MINOR_VERSION: u32 = 0x821C;

/// `CL_EGL_DISPLAY_KHR`, `CL_GLX_DISPLAY_KHR`.
pub const EGL: isize = 0x2009;
pub const GLX: isize = 0x200A;

/// Returns the system of a `clCreateContext` property.
pub fn of(property: isize) -> Result<&'static dyn WindowSystem, i32> {
    let found: Option<&'static dyn WindowSystem> = match property {
        EGL => Egl::get().map(|egl| egl as _),
        GLX => Glx::get().map(|glx| glx as _),
        _ => None,
    };
    found.ok_or_else(|| refuse(INVALID_OPERATION, "the window system of the GL context is unsupported"))
}

/// A context of the layer's own that shares with a program's.
pub struct OwnContext {
    system: &'static dyn WindowSystem,
    program: ProgramContext,
    /// 0 if it is not made yet.
    context: usize,
}

impl OwnContext {
    /// Prepares it on the thread of the program that names the context.
    pub fn new(system: &'static dyn WindowSystem, program: ProgramContext) -> Result<Self, i32> {
        Ok(Self { system, program, context: system.prepare(program)? })
    }

    /// Makes it current on this thread, where it stays.
    pub fn enter(&mut self) -> Result<(Gl, Option<RobustGl>), i32> {
        self.context = self.system.enter(self.program, self.context)?;
        let old = || refuse(INVALID_GL_SHAREGROUP_REFERENCE, "the GL context is older than OpenGL 3.2");
        // SAFETY: the window system gives functions by their names in OpenGL.
        let gl = unsafe { Gl::load(|name| self.system.address(name)) }.ok_or_else(old)?;
        if (gl.integer(MAJOR_VERSION), gl.integer(MINOR_VERSION)) < (3, 2) {
            return Err(old());
        }
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
