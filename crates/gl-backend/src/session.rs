//! What everything made by one backend shares.

use gl_display::{GlDevice, LentBuffer};
use interop_core::devices::owned::Maker;
use interop_core::{ComputeCaps, Result};
use wgsl_kernel::{Launch, Limits};

/// One context.
pub struct Session {
    pub device: GlDevice,
    pub caps: ComputeCaps,
    pub limits: Limits,
    /// Of the launch that was queued last.
    pub numbers: LentBuffer,
}

impl Maker for Session {
    fn name(&self) -> String {
        self.device.identity().to_string()
    }
}

/// Text in the context, which is `wgsl_kernel`'s.
pub struct Program(gl_display::ComputeProgram);

impl Program {
    /// Compiles what `wgsl_kernel` wrote. The inner error is the driver's log.
    pub fn build(device: &GlDevice, glsl: &str, operation: &'static str) -> Result<Result<Self, String>> {
        Ok(gl_display::ComputeProgram::build(device, glsl, operation)?.map(Self))
    }

    /// Queues a launch. `memories`: the target, then those among the arguments, each as large as the text declares.
    pub fn run(
        &self,
        session: &Session,
        memories: &[&LentBuffer],
        launch: &Launch,
        operation: &'static str,
    ) -> Result<()> {
        let numbers = (&session.numbers, launch.numbers.as_slice());
        // SAFETY: `wgsl_kernel` wrote the program: each index is limited to what it indexes, which `own_memories` found to be
        // there, and its only blocks are those that are bound, of which the uniform block has `NUMBERS` bytes.
        unsafe { self.0.run(memories, numbers, launch.groups, operation) }
    }
}
