//! [`OpenClBackend`].

use crate::device::{OpenClDevice, devices};
use crate::kernel::OpenClKernel;
use crate::launch::launch;
use crate::memory::{OpenClMemory, PreparedHost};
use crate::pattern::PatternKernel;
use crate::queue::OpenClQueue;
use crate::shared::Shared;
use interop_core::pattern::Pattern;
use interop_core::{
    Arg, ComputeBackend, ComputeCaps, ComputeMemory, ComputeQueue, DeviceIdentity, DeviceSpan, HostBlock, Kernel,
    KernelSource, QueueOptions, Result, Support, Target,
};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// One OpenCL device with a context and an in-order queue of its own.
///
/// Threads: may be shared. The memories it hands out stay on their thread, because a host block may belong to one.
/// Kernels and memories keep the context alive, so that they may be dropped after the backend.
pub struct OpenClBackend {
    pub(crate) shared: Arc<Shared>,
    pattern: PatternKernel,
}

impl OpenClBackend {
    /// Opens a device.
    ///
    /// # Errors
    /// [`interop_core::Error::Driver`] where the driver refuses.
    pub fn open(device: &OpenClDevice) -> Result<Self> {
        Ok(Self { shared: Arc::new(Shared::open(device)?), pattern: PatternKernel::default() })
    }

    /// Opens the first device that can be opened: GPUs before CPUs before others, else in the drivers' order.
    ///
    /// # Errors
    /// Those of [`devices`]; the best device's own error where none can be opened.
    pub fn open_best() -> Result<Self> {
        let mut candidates = devices()?;
        candidates.sort_by_key(|d| d.description.sort);
        let mut first_error = None;
        for device in &candidates {
            match Self::open(device) {
                Ok(backend) => return Ok(backend),
                Err(error) => {
                    tracing::debug!("{} cannot be opened: {error}", device.identity());
                    first_error.get_or_insert(error);
                }
            }
        }
        Err(first_error.unwrap_or_else(|| crate::error::no_device(&[])))
    }

    /// The device, as [`devices`] lists it.
    pub fn opened_device(&self) -> &OpenClDevice {
        &self.shared.device
    }
}

impl ComputeBackend for OpenClBackend {
    fn device(&self) -> &DeviceIdentity {
        self.shared.identity()
    }

    fn caps(&self) -> &ComputeCaps {
        &self.shared.caps
    }

    fn build(&self, source: &KernelSource) -> Result<Arc<dyn Kernel>> {
        Ok(Arc::new(OpenClKernel::build(&self.shared, source)?))
    }

    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
        Ok(Box::new(OpenClMemory::allocate(&self.shared, bytes)?))
    }

    fn import_host(&self, block: &HostBlock) -> Result<Box<dyn ComputeMemory>> {
        Ok(Box::new(OpenClMemory::import(&self.shared, block)?))
    }

    fn prepare_host(&self, block: &HostBlock) -> Result<Option<Box<dyn Any>>> {
        Ok(PreparedHost::new(&self.shared, block).map(|prepared| Box::new(prepared) as Box<dyn Any>))
    }

    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        self.shared.timed(Some(kernel.name()), || launch(&self.shared, kernel, target, args))
    }

    fn write_pattern(&self, target: Target<'_>, pattern: &Pattern) -> Result<()> {
        self.shared.timed(Some("pattern"), || self.pattern.write(&self.shared, target, pattern))
    }

    fn copy(&self, from: &dyn ComputeMemory, to: &mut dyn ComputeMemory, range: Range<usize>) -> Result<()> {
        const OP: &str = "ComputeBackend::copy";
        let from = OpenClMemory::of(from, &self.shared, OP)?;
        let to = OpenClMemory::of(to, &self.shared, OP)?;
        self.shared.timed(None, || from.copy_to(to, range))
    }

    fn queue(&self, options: QueueOptions) -> Result<Box<dyn ComputeQueue>> {
        Ok(Box::new(OpenClQueue::new(&self.shared, options)?))
    }

    fn finish(&self) -> Result<()> {
        self.shared.finish()
    }

    fn set_timeline(&self, on: bool) -> Result<Support> {
        self.shared.switch_timeline(on)
    }

    fn drain_timeline(&self, into: &mut dyn FnMut(DeviceSpan)) -> Result<()> {
        self.shared.drain_timeline(into)
    }
}
