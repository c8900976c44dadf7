//! Kernels of CUDA's in wgpu's queue.

use crate::WgpuDevice;
use crate::compute::image::linear;
use crate::compute::memory::WgpuMemory;
use crate::compute::session::Session;
use crate::context::ptx::PtxFunction;
use crate::context::ptx_grid::PtxGrid;
use crate::context::queue_buffer::QueueBuffer;
use cuda_backend::{Geometry, Params, PtxKernel, PtxProof};
use interop_core::devices::owned::own;
use interop_core::{Arg, ComputeMemory, Kernel, KernelSource, Result, Target};
use std::sync::Arc;

/// A kernel of one backend.
pub struct CudaKernel {
    kernel: PtxKernel,
    function: PtxFunction,
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
        let proof = session.cuda.get_or_init(|| proved(&session.device).map_err(|error| error.to_string()));
        if let Err(reason) = proof {
            return Err(session.device.unsupported(reason.clone()));
        }
        #[cfg(feature = "opencl")]
        let source = &*opencl_backend::with_ptx(source, &session.identity)?;
        let kernel = PtxKernel::for_gpu(source, &session.identity)?;
        let function = session.device.ptx_function(kernel.text(), kernel.entry())?;
        Ok(Self { kernel, function, session: session.clone() })
    }

    /// Queues it.
    pub fn launch(&self, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        let (session, items) = (&self.session, target.items());
        let (memory, view) = target.into_parts();
        let (memory, view) = linear(memory, view, session)?;
        let address_of = |memory: &dyn ComputeMemory| {
            own::<WgpuMemory>(memory, session).and_then(|memory| memory.must_have_address())
        };
        let planned = self.kernel.plan(memory.must_have_address()?, &view, items, args, &address_of)?;
        run(&session.device, &self.function, planned)
    }
}

/// Records a launch planned by the function's own parameters.
fn run(device: &WgpuDevice, function: &PtxFunction, (geometry, params): (Geometry, Params)) -> Result<()> {
    let Geometry { grid, block } = geometry;
    let values: Vec<&[u64]> = params.values().collect();
    // SAFETY: the values were compared with what the text says of its parameters. Addresses are of memories that keep their
    // buffers for the queue when they are dropped. For the text somebody gave their word: `KernelSource::with_text`.
    unsafe { device.record_ptx(function, PtxGrid { grid, block }, &values) }
}

/// Runs a kernel and compares what it wrote. `Err` says why no kernel of CUDA's is taken.
fn proved(device: &WgpuDevice) -> Result<()> {
    let proof = PtxProof::new()?;
    let function = device.ptx_function(proof.kernel().text(), proof.kernel().entry())?;
    let buffer = QueueBuffer::new(device, PtxProof::BYTES)?;
    let address = buffer.address().ok_or_else(|| device.unsupported("its memory has no addresses"))?;
    run(device, &function, proof.plan(address)?)?;
    let found = device.read_buffer(buffer.buffer(), 0..PtxProof::BYTES as u64)?;
    proof.check(&found).map_err(|wrong| device.failure(wrong, ""))
}
