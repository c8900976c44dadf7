//! The CPU backend.

use crate::crew::{CpuOptions, Crew};
use crate::host;
use crate::kernel::CpuKernel;
use crate::launch::{Engine, argument};
use crate::memory::CpuMemory;
use crate::pattern;
use crate::queue::queue;
use crate::raw::{Bytes, Pages};
use crate::timeline::Timeline;
use interop_core::compute::{BackendDriver, CheckToken};
use interop_core::{
    Arg, ComputeCaps, ComputeMemory, ComputeQueue, DeviceIdentity, DeviceSpan, HandleType, HostBlock, Kernel,
    KernelSource, Language, MemoryCap, MemoryShape, QueueOptions, RawMemory, RawTarget, Result, Support, Target,
    describe::pattern::Pattern,
};

use std::ops::Range;
use std::sync::Arc;

/// Computes on the CPU's own threads. It works on every machine.
///
/// Launches are synchronous: when one returns, the pixels are written, so [`interop_core::ComputeBackend::finish`] has
/// nothing to do. Queues ([`interop_core::ComputeBackend::queue`]) run beside them, on threads of their own that share
/// the threads for loops. Kernels are Rust closures, see [`crate::CpuKernelExt`]. Memory is host memory, so `map_read`
/// and `map_write` copy nothing.
///
/// ```
/// use cpu_fallback::{CpuBackend, CpuKernelExt};
/// use interop_core::{ComputeBackend, KernelSource, Target};
///
/// let backend = CpuBackend::new()?;
/// assert!(backend.threads() >= 1);
/// let kernel = backend.build(&KernelSource::new("ones").cpu_buffer(|out, _| out.par_items(|_| 1_u8)))?;
/// let mut memory = backend.allocate(3)?;
/// backend.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &[])?;
/// memory.map_read(0..3, &mut |bytes| Ok(assert_eq!(bytes, [1, 1, 1])))?;
/// # Ok::<(), interop_core::Error>(())
/// ```
pub struct CpuBackend {
    engine: Arc<Engine>,
    caps: ComputeCaps,
}

impl CpuBackend {
    /// Creates a backend with one thread for each CPU that this process may use.
    ///
    /// # Errors
    /// [`interop_core::Error::Unavailable`] where the system cannot start more threads.
    pub fn new() -> Result<Self> {
        Self::with_options(&CpuOptions::default())
    }

    /// Creates a backend with options.
    ///
    /// # Errors
    /// The errors of [`CpuBackend::new`]; [`interop_core::Error::InvalidInput`] for options that are out of range.
    pub fn with_options(options: &CpuOptions) -> Result<Self> {
        let crew = Crew::new(options)?;
        let threads = crew.threads();
        let driver = format!("{threads} thread{}", if threads == 1 { "" } else { "s" });
        let timeline = Timeline::new(&driver);
        let caps = ComputeCaps::new(vec![Language::Rust], host::memory_bytes()).with_imports(vec![MemoryCap::new(
            HandleType::HostPointer,
            MemoryShape::Linear,
            Support::Yes,
        )]);
        let device = Arc::new(host::identity(host::cpu_name(), driver));
        Ok(Self { engine: Arc::new(Engine { device, crew, timeline }), caps })
    }

    /// Returns the number of threads that run kernels.
    pub fn threads(&self) -> usize {
        self.engine.crew.threads()
    }
}

// SAFETY: memories own their bytes or keep their block alive, and report its length; calls form slices by checked
// ranges.
unsafe impl BackendDriver for CpuBackend {
    fn device(&self) -> &DeviceIdentity {
        &self.engine.device
    }

    fn caps(&self) -> &ComputeCaps {
        &self.caps
    }

    fn build(&self, source: &KernelSource) -> Result<Arc<dyn Kernel>> {
        Ok(Arc::new(CpuKernel::build(source, &self.engine.device)?))
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
        Ok(Box::new(CpuMemory::new(Pages::allocate(bytes)?.into(), &self.engine.device)))
    }

    fn import_host(&self, block: &HostBlock) -> Result<Box<dyn ComputeMemory>> {
        let bytes = Bytes::of_block(block.clone(), block.len())?;
        Ok(Box::new(CpuMemory::new(bytes, &self.engine.device)))
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        let kernel = self.engine.kernel(kernel)?;
        let items = target.items();
        let (memory, view) = target.into_parts();
        let memory = self.engine.memory_mut(memory)?;
        let mut target = memory.writing(view.span(), &"the target")?;
        // Keeps argument memory from being written while the kernel runs.
        let held = args.iter().enumerate().map(|(index, arg)| {
            arg.with_memory(|memory| self.engine.memory(memory)?.reading(0..memory.len(), &argument(index)))
        });
        let held = held.collect::<Result<Vec<_>>>()?;
        self.engine.launch(kernel, view, items, &mut target, &held)
    }

    fn write_pattern(&self, target: Target<'_>, pattern: &Pattern) -> Result<()> {
        let (memory, view) = target.into_parts();
        let memory = self.engine.memory_mut(memory)?;
        let mut target = memory.writing(view.span(), &"the target")?;
        let bytes: &mut [u8] = &mut target;
        self.engine.run(pattern::NAME, &view, None, |loops| pattern::write(pattern, view, bytes, loops))
    }

    fn raw<'a>(&self, target: Target<'a>) -> Result<RawTarget<'a>> {
        let (memory, view) = target.into_parts();
        let memory = self.engine.memory_mut(memory)?;
        // Fails where the bytes are being read or written now.
        drop(memory.writing(view.span(), &"the target")?);
        // SAFETY: the target lies inside the memory, whose bytes stay valid for as long as it is borrowed.
        Ok(unsafe { RawTarget::new(RawMemory::Host { address: memory.bytes.address() }, view) })
    }

    fn copy(
        &self,
        _: CheckToken,
        from: &dyn ComputeMemory,
        to: &mut dyn ComputeMemory,
        range: Range<usize>,
    ) -> Result<()> {
        let (from, to) = (self.engine.memory(from)?, self.engine.memory_mut(to)?);
        let from = from.reading(range.clone(), &"the source")?;
        let mut to = to.writing(range, &"the destination")?;
        self.engine.timeline.timed("copy", || to.copy_from_slice(&from));
        Ok(())
    }

    fn queue(&self, options: QueueOptions) -> Result<Box<dyn ComputeQueue>> {
        queue(&self.engine, options)
    }

    fn finish(&self) -> Result<()> {
        Ok(())
    }

    fn set_timeline(&self, on: bool) -> Result<Support> {
        self.engine.timeline.backlog.switch(on);
        Ok(Support::Yes)
    }

    fn drain_timeline(&self, into: &mut dyn FnMut(DeviceSpan)) -> Result<()> {
        self.engine.timeline.drain(into)
    }
}
