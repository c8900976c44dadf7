//! Runs a kernel's closure over its target, for the backend's own calls and for queues.

use crate::args::CpuArgs;
use crate::buffer::CpuBuffer;
use crate::crew::{Crew, Loops};
use crate::image::CpuImage;
use crate::kernel::CpuKernel;
use crate::memory::CpuMemory;
use crate::raw::ReadGuard;
use crate::timeline::Timeline;
use interop_core::describe::panics::catch;
use interop_core::devices::maker_object::{own, own_mut};
use interop_core::{Argument, ComputeMemory, DeviceIdentity, Error, Kernel, Result, View};
use std::sync::Arc;

/// The device and its threads, shared by a backend and its queues.
pub(crate) struct Engine {
    pub(crate) device: Arc<DeviceIdentity>,
    pub(crate) crew: Crew,
    pub(crate) timeline: Timeline,
}

/// An argument whose memory stays unchanged during the launch.
pub(crate) type LaunchArgument<'m> = Argument<ReadGuard<'m>>;

/// Returns the name of a memory argument in messages.
pub(crate) fn argument(index: usize) -> String {
    format!("argument {index} (memory)")
}

impl Engine {
    pub(crate) fn kernel<'k>(&self, kernel: &'k dyn Kernel) -> Result<&'k CpuKernel> {
        own::<CpuKernel>(kernel, &self.device)
    }

    pub(crate) fn memory<'m>(&self, memory: &'m dyn ComputeMemory) -> Result<&'m CpuMemory> {
        own::<CpuMemory>(memory, &self.device)
    }

    pub(crate) fn memory_mut<'m>(&self, memory: &'m mut dyn ComputeMemory) -> Result<&'m mut CpuMemory> {
        own_mut::<CpuMemory>(memory, &self.device)
    }

    /// Runs the kernel over `bytes`, the span of `view`. `items` is the number of work items, where the launch
    /// specifies it.
    pub(crate) fn launch(
        &self,
        kernel: &CpuKernel,
        view: View,
        items: Option<usize>,
        bytes: &mut [u8],
        held: &[LaunchArgument<'_>],
    ) -> Result<()> {
        let values = held.iter().map(|held| held.each_ref().with_memory(|bytes| Ok(&**bytes)));
        let values = values.collect::<Result<Vec<_>>>()?;
        let args = CpuArgs::new(&kernel.name, &values);
        self.run(&kernel.name, &view, items, |loops| call(kernel, view, bytes, loops, &args))
    }

    /// Runs a kernel's closure over the target's bytes. A panic ends the kernel, but not the pool.
    pub(crate) fn run(
        &self,
        kernel: &str,
        view: &View,
        items: Option<usize>,
        code: impl FnOnce(Loops) -> Result<()> + Send,
    ) -> Result<()> {
        let items = items.unwrap_or(match view {
            View::Image(image) => usize::try_from(image.extent.pixels()).unwrap_or(usize::MAX),
            View::Buffer(buffer) => buffer.len / 4,
        });
        let run = || self.crew.run(items, |loops| catch(|| code(loops)));
        self.timeline.timed(kernel, run).unwrap_or_else(|panic| {
            let (device, reason) = (self.device.to_string(), panic.to_string());
            Err(Error::KernelFailed { kernel: kernel.into(), device, reason })
        })
    }
}

/// Calls the closure for this kind of target.
fn call(kernel: &CpuKernel, view: View, bytes: &mut [u8], loops: Loops, args: &CpuArgs<'_>) -> Result<()> {
    let missing = |kind: &str, method: &str| {
        Error::refused(format!(
            "kernel '{}' has no closure for {kind}; add one with CpuKernelExt::{method}",
            kernel.name
        ))
    };
    match view {
        View::Image(image) => {
            let code = kernel.code.image.as_ref().ok_or_else(|| missing("images", "cpu_image"))?;
            code(&mut CpuImage::new(bytes, image, loops, &kernel.name), args)
        }
        View::Buffer(_) => {
            let code = kernel.code.buffer.as_ref().ok_or_else(|| missing("buffers", "cpu_buffer"))?;
            code(&mut CpuBuffer::new(bytes, loops, &kernel.name), args)
        }
    }
}
