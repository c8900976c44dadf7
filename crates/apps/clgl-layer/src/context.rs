//! An OpenCL context that shares objects with an OpenGL context.

use crate::cl::handles::{Handle, OwnHandle};
use crate::codes::{INVALID_OPERATION, OUT_OF_HOST_MEMORY};
use crate::explain::refuse;
use crate::gl::fence::ProgramWork;
use crate::gl::functions::ProgramGl;
use crate::gl::system::OwnContext;
use crate::gl::thread::GlThread;
use crate::gl::window_system::{ProgramContext, WindowSystem};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
    /// The layer's own queues by device: work in the program's queues may wait for the copies.
    queues: Mutex<HashMap<Handle, Arc<OwnHandle>>>,
    /// Host memory for transfers, to be used again.
    staging: Mutex<Vec<Vec<u8>>>,
    gl: GlSide,
}

impl SharedContext {
    pub fn new(handle: Handle, properties: Vec<isize>, gl: GlSide) -> Self {
        Self { handle, properties, queues: Mutex::default(), staging: Mutex::default(), gl }
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

    /// The layer's own queue of a device.
    pub fn queue(&self, device: Handle) -> Result<Arc<OwnHandle>, i32> {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(queue) = queues.get(&device) {
            return Ok(Arc::clone(queue));
        }
        let failed = |code| refuse(OUT_OF_HOST_MEMORY, format_args!("cannot create a queue: {code}"));
        let queue = Arc::new(OwnHandle::queue(self.handle, device).map_err(failed)?);
        queues.insert(device, Arc::clone(&queue));
        Ok(queue)
    }
}
