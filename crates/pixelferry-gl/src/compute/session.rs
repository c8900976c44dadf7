//! State shared by everything that one backend made.

use crate::GlDevice;
use crate::compute::place::Place;
use crate::compute::rows::Rows;
use crate::objects::image_unit::Bound;
use crate::queue::QueueBuffer;
use crate::queue::program::ComputeProgram;
use crate::queue::shape::ProgramShape;
use interop_core::devices::owned::Maker;
use interop_core::{ComputeCaps, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wgsl_kernel::{Dialect, GLSL_NUMBERS, Launch, Limits};

/// One context.
pub struct Session {
    pub device: GlDevice,
    pub caps: ComputeCaps,
    pub limits: Limits,
    /// Copies between textures and memory.
    pub rows: Rows,
    /// Memory of others whose turns here end with the next signal.
    pub written: Mutex<Vec<QueueBuffer>>,
    /// Goes last: a context of the backend's own, with its thread.
    pub place: Place,
}

impl Maker for Session {
    fn name(&self) -> String {
        self.device.identity().to_string()
    }
}

/// Returns what the context compiles.
pub fn dialect(device: &GlDevice) -> Dialect {
    if device.is_es() { Dialect::Es } else { Dialect::Desktop }
}

impl Session {
    /// Memory of others whose turns here end with the next signal.
    pub fn written(&self) -> MutexGuard<'_, Vec<QueueBuffer>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for all that was queued.
    pub fn finish(&self) -> Result<()> {
        let device = self.device.clone();
        self.place.run(move || device.finish())
    }

    /// Queues a launch. `memories`: the target, then those among the arguments, each as large as the text declares. Where the target
    /// is a texture, the program has no block for it, and anything may stand in its place.
    pub fn launch(
        &self,
        program: &Arc<Program>,
        texture: Option<Bound>,
        memories: Vec<QueueBuffer>,
        launch: Launch,
    ) -> Result<()> {
        let program = Arc::clone(program);
        self.place.run(move || program.run(&memories, texture, &launch))
    }
}

/// A program that `wgsl_kernel` wrote, or one behind its prelude for which a user vouched.
pub struct Program(ComputeProgram);

impl Program {
    /// Compiles what `wgsl_kernel` wrote, or its prelude with a text of [`interop_core::KernelSource::glsl`], and nothing else. The
    /// inner error is the driver's log.
    pub fn build(device: &GlDevice, glsl: &str) -> Result<Result<Self, String>> {
        Ok(ComputeProgram::build(device, glsl, GLSL_NUMBERS)?.map(Self))
    }

    /// Returns what the driver says that it is bound to.
    pub fn shape(&self) -> Result<ProgramShape> {
        self.0.shape(GLSL_NUMBERS)
    }

    fn run(&self, memories: &[QueueBuffer], texture: Option<Bound>, launch: &Launch) -> Result<()> {
        let memories: Vec<_> = memories.iter().collect();
        // SAFETY: `wgsl_kernel` wrote the program: each index is limited to what it indexes, which `own_memories` found to be
        // there, and its only blocks are those that are bound. Of a text of the user's own the user vouched for the indices, and
        // the driver told the blocks.
        unsafe { self.0.run(&memories, texture, launch.words(), launch.groups) }
    }
}
