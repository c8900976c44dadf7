//! An OpenCL context that shares objects with an OpenGL context.

use crate::cl::handles::Handle;
use crate::codes::INVALID_OPERATION;
use crate::explain::refuse;
use crate::gl::fence::ProgramWork;
use crate::gl::functions::ProgramGl;
use crate::gl::system::OwnContext;
use crate::gl::thread::GlThread;
use crate::gl::window_system::{ProgramContext, WindowSystem};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The program's OpenGL context, and the layer's own, which shares with it.
pub struct GlSide {
    system: &'static dyn WindowSystem,
    program: ProgramContext,
    functions: ProgramGl,
    thread: GlThread,
}

impl GlSide {
    /// Makes the layer's own context.
    pub fn open(system: &'static dyn WindowSystem, program: ProgramContext) -> Result<Self, i32> {
        // SAFETY: the window system returns functions by their OpenGL names.
        let functions = unsafe { ProgramGl::load(|name| system.address(name)) };
        let functions = functions.ok_or_else(|| refuse(INVALID_OPERATION, "OpenGL has no fences here"))?;
        let thread = GlThread::start(OwnContext::new(system, program)?, program.display)?;
        Ok(Self { system, program, functions, thread })
    }
}

pub struct SharedContext {
    pub handle: Handle,
    /// As the program gave them, including the terminator.
    pub properties: Vec<isize>,
    /// Host memory for transfers, to be used again.
    staging: Mutex<Vec<Vec<u8>>>,
    gl: GlSide,
}

impl SharedContext {
    pub fn new(handle: Handle, properties: Vec<isize>, gl: GlSide) -> Self {
        Self { handle, properties, staging: Mutex::default(), gl }
    }

    /// The thread that owns the layer's OpenGL context.
    pub fn thread(&self) -> &GlThread {
        &self.gl.thread
    }

    /// Describes the OpenGL work that the calling thread has submitted.
    pub fn program_work(&self) -> ProgramWork {
        ProgramWork::begun(self.gl.system, self.gl.program, &self.gl.functions)
    }

    pub fn staging(&self) -> MutexGuard<'_, Vec<Vec<u8>>> {
        self.staging.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
