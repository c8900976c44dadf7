//! The backend.

use crate::args::{CpuArg, CpuArgs};
use crate::buffer::CpuBuffer;
use crate::crew::{CpuOptions, Crew, Loops};
use crate::host;
use crate::image::CpuImage;
use crate::kernel::CpuKernel;
use crate::memory::CpuMemory;
use crate::pattern;
use crate::raw::{Bytes, ReadGuard};
use crate::timeline::Timeline;
use interop_core::{
    Arg, ComputeBackend, ComputeCaps, ComputeMemory, DeviceIdentity, DeviceSpan, Error, HandleType, HostBlock, Kernel,
    KernelSource, Language, MemoryCap, MemoryShape, Result, Support, Target, View, pattern::Pattern,
};
use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Compute on the CPU's own threads. Works on every machine.
///
/// Launches are synchronous: when one returns, the pixels are there, so [`ComputeBackend::finish`] has nothing to do.
/// Kernels are Rust closures, see [`crate::CpuKernelExt`]. Memory is host memory: `view` and `fill` copy nothing.
pub struct CpuBackend {
    device: Arc<DeviceIdentity>,
    caps: ComputeCaps,
    crew: Crew,
    timeline: Timeline,
}

const LAUNCH: &str = "CpuBackend::launch";

/// An argument that stays as it is during the launch.
enum Held<'m> {
    Value(CpuArg<'m>),
    Memory(ReadGuard<'m>),
}

impl Held<'_> {
    fn value(&self) -> CpuArg<'_> {
        match self {
            Self::Value(value) => *value,
            Self::Memory(bytes) => CpuArg::Memory(bytes),
        }
    }
}

impl CpuBackend {
    /// A backend with one thread for each CPU that this process may use.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where the system gives no more threads.
    pub fn new() -> Result<Self> {
        Self::with_options(&CpuOptions::default())
    }

    /// A backend with options.
    ///
    /// # Errors
    /// As [`CpuBackend::new`]; [`Error::InvalidInput`] for options out of range.
    pub fn with_options(options: &CpuOptions) -> Result<Self> {
        let crew = Crew::new(options)?;
        let threads = crew.threads();
        let driver = format!("{threads} thread{}", if threads == 1 { "" } else { "s" });
        let timeline = Timeline::new(&driver);
        let caps = ComputeCaps {
            languages: vec![Language::Rust],
            imports: vec![MemoryCap::new(HandleType::HostPointer, MemoryShape::Linear, Support::Yes)],
            exports: Vec::new(),
            semaphores: Vec::new(),
            max_allocation: host::memory_bytes(),
        };
        Ok(Self { device: Arc::new(host::identity(host::cpu_name(), driver)), caps, crew, timeline })
    }

    /// Number of threads that kernels run on.
    pub fn threads(&self) -> usize {
        self.crew.threads()
    }

    fn is_mine(&self, device: &Arc<DeviceIdentity>) -> bool {
        Arc::ptr_eq(&self.device, device)
    }

    fn foreign(&self, operation: &'static str, object: &'static str) -> Error {
        Error::Foreign { operation, object, device: self.device.to_string() }
    }

    fn memory<'m>(&self, memory: &'m dyn ComputeMemory, operation: &'static str) -> Result<&'m CpuMemory> {
        let memory: Option<&CpuMemory> = memory.as_any().downcast_ref();
        memory.filter(|m| self.is_mine(&m.device)).ok_or_else(|| self.foreign(operation, "memory"))
    }

    fn memory_mut<'m>(&self, memory: &'m mut dyn ComputeMemory, operation: &'static str) -> Result<&'m mut CpuMemory> {
        let memory: Option<&mut CpuMemory> = memory.as_any_mut().downcast_mut();
        memory.filter(|m| self.is_mine(&m.device)).ok_or_else(|| self.foreign(operation, "memory"))
    }

    /// Keeps an argument's memory from being written while the kernel runs.
    fn hold<'m>(&self, index: usize, arg: &Arg<'m>) -> Result<Held<'m>> {
        Ok(Held::Value(match *arg {
            Arg::I32(v) => CpuArg::I32(v),
            Arg::U32(v) => CpuArg::U32(v),
            Arg::F32(v) => CpuArg::F32(v),
            Arg::Memory(m) => {
                let memory = self.memory(m, LAUNCH)?;
                let what = format!("argument {index} (memory)");
                return Ok(Held::Memory(memory.bytes.read(0..memory.len(), LAUNCH, &what)?));
            }
            ref other => {
                return Err(Error::Unsupported {
                    operation: LAUNCH,
                    device: self.device.to_string(),
                    reason: format!("argument {index} is {}, which it does not know", other.kind()),
                });
            }
        }))
    }

    /// Runs a kernel's code over the target's bytes. A panic ends the kernel, not the pool.
    fn run(&self, kernel: &str, view: &View, code: impl FnOnce(Loops) -> Result<()> + Send) -> Result<()> {
        let items = match view {
            View::Image(image) => usize::try_from(image.extent.pixels()).unwrap_or(usize::MAX),
            View::Buffer(buffer) => buffer.len / 4,
        };
        let run = || self.crew.run(items, |loops| catch_unwind(AssertUnwindSafe(|| code(loops))));
        self.timeline.timed(kernel, run).unwrap_or_else(|panic| {
            let reason = panic_message(panic.as_ref());
            Err(Error::KernelFailed { kernel: kernel.into(), device: self.device.to_string(), reason })
        })
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("it panicked: {}", text.unwrap_or("(the panic carried no text)"))
}

/// Calls the closure for this kind of target.
fn call(kernel: &CpuKernel, view: View, bytes: &mut [u8], loops: Loops, args: &CpuArgs<'_>) -> Result<()> {
    let missing = |kind: &str, method: &str| {
        Error::invalid(
            LAUNCH,
            format!("kernel '{}' has no closure for {kind}; add one with CpuKernelExt::{method}", kernel.name),
        )
    };
    match view {
        View::Image(image) => {
            let code = kernel.code.image.as_ref().ok_or_else(|| missing("images", "cpu_image"))?;
            code(&mut CpuImage::new(bytes, image, loops, &kernel.name)?, args)
        }
        View::Buffer(_) => {
            let code = kernel.code.buffer.as_ref().ok_or_else(|| missing("buffers", "cpu_buffer"))?;
            code(&mut CpuBuffer::new(bytes, loops, &kernel.name), args)
        }
    }
}

impl ComputeBackend for CpuBackend {
    fn device(&self) -> &DeviceIdentity {
        &self.device
    }

    fn caps(&self) -> &ComputeCaps {
        &self.caps
    }

    fn build(&self, source: &KernelSource) -> Result<Arc<dyn Kernel>> {
        Ok(Arc::new(CpuKernel::build(source, &self.device)?))
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
        if bytes as u64 > self.caps.max_allocation {
            return Err(Error::Unsupported {
                operation: "CpuBackend::allocate",
                device: self.device.to_string(),
                reason: format!("{bytes} bytes are more than this machine's memory, {}", self.caps.max_allocation),
            });
        }
        Ok(Box::new(CpuMemory { bytes: Bytes::allocate(bytes)?, device: Arc::clone(&self.device) }))
    }

    fn import_host(&self, block: &HostBlock) -> Result<Box<dyn ComputeMemory>> {
        let bytes = Bytes::of_block(block.clone(), block.len(), "CpuBackend::import_host")?;
        Ok(Box::new(CpuMemory { bytes, device: Arc::clone(&self.device) }))
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        let kernel: Option<&CpuKernel> = kernel.as_any().downcast_ref();
        let kernel = kernel.filter(|k| self.is_mine(&k.device)).ok_or_else(|| self.foreign(LAUNCH, "kernel"))?;
        let (memory, view) = target.into_parts();
        let memory = self.memory_mut(memory, LAUNCH)?;
        view.check_inside(memory.len(), LAUNCH)?;
        let mut target = memory.bytes.write(view.span(), LAUNCH, &"the target")?;
        let held = args.iter().enumerate().map(|(i, arg)| self.hold(i, arg)).collect::<Result<Vec<_>>>()?;
        let values = held.iter().map(Held::value).collect::<Vec<_>>();
        let args = CpuArgs::new(&kernel.name, &values);
        let bytes: &mut [u8] = &mut target;
        self.run(&kernel.name, &view, |loops| call(kernel, view, bytes, loops, &args))
    }

    fn write_pattern(&self, target: Target<'_>, pattern: &Pattern) -> Result<()> {
        const OP: &str = "CpuBackend::write_pattern";
        let (memory, view) = target.into_parts();
        let memory = self.memory_mut(memory, OP)?;
        view.check_inside(memory.len(), OP)?;
        let mut target = memory.bytes.write(view.span(), OP, &"the target")?;
        let bytes: &mut [u8] = &mut target;
        self.run(pattern::NAME, &view, |loops| pattern::write(pattern, view, bytes, loops))
    }

    fn copy(&self, from: &dyn ComputeMemory, to: &mut dyn ComputeMemory, range: Range<usize>) -> Result<()> {
        const OP: &str = "CpuBackend::copy";
        let (from, to) = (self.memory(from, OP)?, self.memory_mut(to, OP)?);
        let from = from.bytes.read(range.clone(), OP, &"the source")?;
        let mut to = to.bytes.write(range, OP, &"the destination")?;
        self.timeline.timed("copy", || to.copy_from_slice(&from));
        Ok(())
    }

    fn finish(&self) -> Result<()> {
        Ok(())
    }

    fn set_timeline(&self, on: bool) -> Result<Support> {
        self.timeline.backlog.switch(on);
        Ok(Support::Yes)
    }

    fn drain_timeline(&self, into: &mut dyn FnMut(DeviceSpan)) -> Result<()> {
        self.timeline.drain(into)
    }
}
