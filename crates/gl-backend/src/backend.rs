//! [`GlBackend`].

use crate::kernel::GlKernel;
use crate::memory::GlMemory;
use crate::session::{Program, Session};
use gl_display::{GlDisplay, LentBuffer};
use interop_core::compute::check_range;
use interop_core::describe::pattern::Pattern;
use interop_core::devices::owned::{own, own_mut};
use interop_core::{
    Arg, ComputeBackend, ComputeCaps, ComputeMemory, DeviceIdentity, HandleType, Kernel, KernelSource, Language,
    MemoryCap, MemoryShape, Result, SharedHandle, Support, Target,
};
use std::ops::Range;
use std::sync::Arc;
use wgsl_kernel::{Limits, NUMBERS, PATTERN, pattern};

/// The context of a display, computing. See the crate.
pub struct GlBackend {
    session: Arc<Session>,
    pattern: Program,
}

impl GlBackend {
    /// Computes in the display's context, in its queue.
    ///
    /// # Errors
    /// [`interop_core::Error::WrongContext`] where the context is not current on this thread; [`interop_core::Error::Unsupported`] below
    /// OpenGL 4.3, where no window system knows the context, and where its compute shaders do not build.
    pub fn on(display: &GlDisplay) -> Result<Self> {
        const OP: &str = "GlBackend::on";
        let device = display.shared_device()?;
        let limits = device.limits();
        let caps = ComputeCaps {
            languages: vec![Language::Wgsl],
            imports: Vec::new(),
            image_formats: Vec::new(),
            exports: vec![MemoryCap::new(HandleType::QueueBuffer, MemoryShape::Linear, Support::Yes)],
            semaphores: Vec::new(),
            max_allocation: LentBuffer::MOST_BYTES.min(limits.buffer_bytes),
        };
        let refused = |log: String| device.unsupported(OP, format!("its compute shaders do not build: {log}"));
        let glsl = wgsl_kernel::glsl(PATTERN, "pattern").map_err(refused)?;
        let pattern = Program::build(&device, &glsl, OP)?.map_err(refused)?;
        let numbers = LentBuffer::new(&device, NUMBERS, OP)?;
        let limits = Limits::new(device.identity(), limits.storage_blocks, limits.groups);
        Ok(Self { session: Arc::new(Session { device, caps, limits, numbers }), pattern })
    }
}

impl ComputeBackend for GlBackend {
    fn device(&self) -> &DeviceIdentity {
        self.session.device.identity()
    }

    fn caps(&self) -> &ComputeCaps {
        &self.session.caps
    }

    fn build(&self, source: &KernelSource) -> Result<Arc<dyn Kernel>> {
        Ok(Arc::new(GlKernel::build(&self.session, source)?))
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
        Ok(Box::new(GlMemory::new(&self.session, bytes, "ComputeBackend::allocate")?))
    }

    fn allocate_shared(
        &self,
        bytes: usize,
        handle: HandleType,
        display: &DeviceIdentity,
    ) -> Result<(Box<dyn ComputeMemory>, SharedHandle)> {
        const OP: &str = "ComputeBackend::allocate_shared";
        if handle != HandleType::QueueBuffer {
            let reason = format!("it shares no memory with {display} by {handle}");
            return Err(self.session.device.unsupported(OP, reason));
        }
        let memory = GlMemory::new(&self.session, bytes, OP)?;
        let handle = memory.buffer().to_handle();
        Ok((Box::new(memory), handle))
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        own::<GlKernel>(kernel, &self.session, "ComputeBackend::launch")?.launch(target, args)
    }

    fn write_pattern(&self, target: Target<'_>, wanted: &Pattern) -> Result<()> {
        const OP: &str = "ComputeBackend::write_pattern";
        let (memory, view) = target.into_parts();
        let memory = own_mut::<GlMemory>(memory, &self.session, OP)?;
        let launch = pattern(&view, wanted, &self.session.limits)?;
        if launch.is_empty() {
            return Ok(());
        }
        self.pattern.run(&self.session, &[memory.buffer()], &launch, OP)
    }

    fn copy(&self, from: &dyn ComputeMemory, to: &mut dyn ComputeMemory, range: Range<usize>) -> Result<()> {
        const OP: &str = "ComputeBackend::copy";
        check_range(&range, from.len(), OP)?;
        check_range(&range, to.len(), OP)?;
        let from = own::<GlMemory>(from, &self.session, OP)?;
        let to = own_mut::<GlMemory>(to, &self.session, OP)?;
        to.buffer().copy_from(from.buffer(), range.clone(), range.start, OP)
    }

    fn finish(&self) -> Result<()> {
        self.session.device.finish("ComputeBackend::finish")
    }
}
