//! Kernels of CUDA's in the display's queue.

use crate::compute::image::VulkanImage;
use crate::compute::memory::VulkanMemory;
use crate::compute::session::Session;
use crate::context::device_state::DeviceState;
use crate::context::home::AtHome;
use crate::launch::lasting::Lasting;
use crate::sharing::{CuDevice, CuFunction, CuGrid};
use crate::staging::memory::Buffer;
use crate::staging::queue_buffer::QueueBuffer;
use crate::staging::transfer::read_buffer;
use cuda_backend::{Geometry, Params, PtxKernel, PtxProof};
use interop_core::devices::owned::{find, own};
use interop_core::{Arg, ComputeMemory, Error, Kernel, KernelSource, Result, Target, View};
use std::rc::Rc;
use std::sync::Arc;

/// A kernel of one backend.
pub struct CudaKernel {
    kernel: PtxKernel,
    function: AtHome<Lasting<CuFunction>>,
    session: Arc<Session>,
}

interop_core::owned!(CudaKernel: Session, "kernel", |kernel| &kernel.session);

impl Kernel for CudaKernel {
    fn name(&self) -> &str {
        self.kernel.name()
    }
}

impl CudaKernel {
    pub fn build(session: &Arc<Session>, source: &KernelSource) -> Result<Self> {
        let shared = session.shared()?;
        cu(shared)?;
        let proof = session.cuda.get_or_init(|| proved(shared).map_err(|error| error.to_string()));
        if let Err(reason) = proof {
            return Err(shared.unsupported(reason.clone()));
        }
        #[cfg(feature = "opencl")]
        let source = &*opencl_backend::with_ptx(source, &session.identity)?;
        let kernel = PtxKernel::for_gpu(source, &session.identity)?;
        let function = AtHome::new(&shared.home, function(shared, &kernel)?)?;
        Ok(Self { kernel, function, session: Arc::clone(session) })
    }

    /// Queues a launch. The target is an image, by a linear copy, or linear memory.
    pub fn launch(&self, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        let (session, items) = (self.session.as_ref(), target.items());
        let shared = session.shared()?;
        let (memory, view) = target.into_parts();
        let address_of = |memory: &dyn ComputeMemory| address(shared, own::<VulkanMemory>(memory, session)?.buffer()?);
        let run = |memory: &QueueBuffer, view: &View| {
            let planned = self.kernel.plan(address(shared, memory)?, view, items, args, &address_of)?;
            // SAFETY: addresses are of buffers that are retired when they go.
            unsafe { run(shared, self.function.get()?, planned) }
        };
        match find::<VulkanImage>(memory, session) {
            Some(image) => image.through_linear(&view, run),
            None => run(own::<VulkanMemory>(memory, session)?.buffer()?, &view),
        }
    }
}

fn cu(shared: &DeviceState) -> Result<&CuDevice> {
    shared.cu.as_ref().map_err(|reason| shared.unsupported(reason.clone()))
}

fn address(shared: &DeviceState, memory: &QueueBuffer) -> Result<u64> {
    let reason = "an engine's buffer has no address here, which kernels in PTX need; copy by an outlet's other path";
    memory.address().ok_or_else(|| shared.unsupported(reason))
}

fn function(shared: &Rc<DeviceState>, kernel: &PtxKernel) -> Result<Lasting<CuFunction>> {
    // SAFETY: it goes when the queue has done with all that was submitted before.
    let function = unsafe { cu(shared)?.function(kernel.text(), kernel.entry()) }?;
    Ok(Lasting::new(shared, function))
}

/// Queues a launch planned by the function's own parameters.
///
/// # Safety
/// What the addresses name lives until the launch is done.
unsafe fn run(shared: &DeviceState, function: &CuFunction, (geometry, params): (Geometry, Params)) -> Result<()> {
    let Geometry { grid, block } = geometry;
    let (cu, values) = (cu(shared)?, params.values().collect::<Vec<&[u64]>>());
    let mut launched = Ok(());
    // SAFETY: the values were compared with what the text says of its parameters. For the text somebody gave their word:
    // `KernelSource::with_text`. The rest is the caller's promise.
    unsafe {
        shared.submissions.record(|_, commands| {
            launched = cu.launch(commands, function, CuGrid { grid, block }, &values);
        })
    }?;
    launched
}

/// Runs a kernel and compares what it wrote. `Err` says why no kernel of CUDA's is taken.
fn proved(shared: &Rc<DeviceState>) -> Result<()> {
    let proof = PtxProof::new()?;
    let function = function(shared, proof.kernel())?;
    let buffer = Rc::new(Buffer::zeroed(shared, PtxProof::BYTES)?);
    let memory = QueueBuffer::of(&buffer);
    // SAFETY: the buffer is retired when it goes.
    unsafe { run(shared, &function, proof.plan(address(shared, &memory)?)?) }?;
    let found = read_buffer(shared, memory.raw(), &(0..PtxProof::BYTES as u64))?;
    proof.check(&found).map_err(|wrong| Error::unsupported(&shared.identity, wrong))
}
