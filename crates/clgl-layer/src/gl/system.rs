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

#[derive(Clone, Copy)]
pub enum WindowSystem {
    Egl(&'static Egl),
    Glx(&'static Glx),
}

impl WindowSystem {
    /// `CL_EGL_DISPLAY_KHR`, `CL_GLX_DISPLAY_KHR`.
    pub const EGL: isize = 0x2009;
    pub const GLX: isize = 0x200A;

    /// The system that a property of `clCreateContext` means.
    pub fn of(property: isize) -> Result<Self, i32> {
        let found = match property {
            Self::EGL => Egl::get().map(Self::Egl),
            Self::GLX => Glx::get().map(Self::Glx),
            _ => None,
        };
        found.ok_or_else(|| refuse(INVALID_OPERATION, "the window system of the GL context is not known here"))
    }

    /// The context that is current on this thread; 0: none.
    pub fn current(self) -> usize {
        match self {
            Self::Egl(egl) => egl.current(),
            Self::Glx(glx) => glx.current(),
        }
    }

    /// Refuses what is no context of the display.
    pub fn check(self, program: ProgramContext) -> Result<(), i32> {
        let there = match self {
            Self::Egl(egl) => egl.configuration(program).is_some(),
            Self::Glx(glx) => glx.configuration(program).is_some(),
        };
        let why = "no such GL context on that display";
        if there { Ok(()) } else { Err(refuse(INVALID_GL_SHAREGROUP_REFERENCE, why)) }
    }

    fn address(self, name: &str) -> *const c_void {
        match self {
            Self::Egl(egl) => egl.address(name),
            Self::Glx(glx) => glx.address(name),
        }
    }

    /// Functions for the program's context.
    pub fn program_functions(self) -> Option<ProgramGl> {
        // SAFETY: the window system gives functions by their names in OpenGL.
        unsafe { ProgramGl::load(|name| self.address(name)) }
    }

    /// What has to be made on the program's thread: GLX's contexts, since Xlib's connections may be for one thread only.
    pub fn prepare(self, program: ProgramContext) -> Result<OwnContext, i32> {
        let context = match self {
            Self::Egl(_) => 0,
            Self::Glx(glx) => glx.create(program)?,
        };
        Ok(OwnContext { system: self, program, context })
    }
}

/// A context of the layer's own that shares with a program's.
pub struct OwnContext {
    system: WindowSystem,
    program: ProgramContext,
    /// 0: not made yet.
    context: usize,
}

impl OwnContext {
    /// Makes it current on this thread, where it stays.
    pub fn enter(&mut self) -> Result<(Gl, Option<RobustGl>), i32> {
        match self.system {
            WindowSystem::Egl(egl) => self.context = egl.enter(self.program)?,
            WindowSystem::Glx(glx) => glx.enter(self.program, self.context)?,
        }
        let old = || refuse(INVALID_GL_SHAREGROUP_REFERENCE, "the GL context is older than OpenGL 3.2");
        // SAFETY: the window system gives functions by their names in OpenGL.
        let gl = unsafe { Gl::load(|name| self.system.address(name)) }.filter(|gl| gl.is_of(3, 2)).ok_or_else(old)?;
        // SAFETY: as above.
        let robust =
            gl.has(c"GL_ARB_robustness").then(|| unsafe { RobustGl::load(|name| self.system.address(name)) }).flatten();
        Ok((gl, robust))
    }
}

impl Drop for OwnContext {
    fn drop(&mut self) {
        if self.context == 0 {
            return;
        }
        match self.system {
            WindowSystem::Egl(egl) => egl.leave(self.program, self.context),
            WindowSystem::Glx(glx) => glx.leave(self.program, self.context),
        }
    }
}
