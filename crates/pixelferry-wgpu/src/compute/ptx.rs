//! Kernels of CUDA's in wgpu's queue.

use crate::WgpuDevice;
use crate::compute::image::linear;
use crate::compute::memory::WgpuMemory;
use crate::compute::session::Session;
use crate::context::ptx::PtxFunction;
use crate::context::ptx_grid::PtxGrid;
use crate::context::queue_buffer::QueueBuffer;
use cuda_backend::{Geometry, Params, PtxKernel};
#[cfg(feature = "opencl")]
use interop_core::Language;
use interop_core::devices::owned::own;
use interop_core::{Arg, ComputeMemory, DeviceIdentity, Kernel, KernelSource, Result, Target, View};
use std::borrow::Cow;
use std::sync::Arc;

/// Compute capability of texts for a GPU that CUDA's own driver does not list: the oldest that its compilers all know.
const OLDEST: i32 = 75;

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
        let source = translated(source, &session.identity)?;
        let kernel = PtxKernel::of(source.as_ref(), architecture(&session.identity))?;
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

/// The source with PTX where it has neither that nor CUDA C++.
#[cfg(feature = "opencl")]
fn translated<'s>(source: &'s KernelSource, gpu: &DeviceIdentity) -> Result<Cow<'s, KernelSource>> {
    let direct = [Language::Ptx, Language::CudaCpp].into_iter().any(|language| source.source(language).is_some());
    if direct || source.source(Language::OpenClC).is_none() {
        return Ok(Cow::Borrowed(source));
    }
    opencl_backend::ptx(source, gpu).map(Cow::Owned)
}

#[cfg(not(feature = "opencl"))]
fn translated<'s>(source: &'s KernelSource, _: &DeviceIdentity) -> Result<Cow<'s, KernelSource>> {
    Ok(Cow::Borrowed(source))
}

/// Compute capability of the GPU, as CUDA's own driver says it.
fn architecture(identity: &DeviceIdentity) -> i32 {
    let devices = cuda_backend::devices().unwrap_or_default();
    let same = devices.iter().find(|device| device.identity().same_device(identity).is_yes());
    same.map_or(OLDEST, |device| {
        let (major, minor) = device.compute_capability();
        major * 10 + minor
    })
}

/// Bytes that the proof writes: more than one block, and not all of the last.
const PROOF: usize = 4 * 1000;

/// Runs a kernel and compares what it wrote: that a driver lists an extension proves nothing. `Err` says why no kernel of CUDA's
/// is taken.
fn proved(device: &WgpuDevice) -> Result<()> {
    const SEED: u32 = 0x5eed_1234;
    // SAFETY: it writes words below the length that it is given, in the buffer that it is given.
    let source = unsafe { KernelSource::new("pf_proof").ptx(include_str!("proof.ptx")) };
    let kernel = PtxKernel::of(&source, OLDEST)?;
    let function = device.ptx_function(kernel.text(), kernel.entry())?;
    let buffer = QueueBuffer::new(device, PROOF)?;
    let address = buffer.address().ok_or_else(|| device.unsupported("its memory has no addresses"))?;
    let view = View::Buffer(interop_core::BufferView { offset: 0, len: PROOF });
    run(device, &function, kernel.plan(address, &view, None, &[Arg::U32(SEED)], &|_| Ok(0))?)?;
    let found = device.read_buffer(buffer.buffer(), 0..PROOF as u64)?;
    let wanted = (0..PROOF as u32 / 4).map(|index| index.wrapping_mul(0x9e37_79b1).wrapping_add(SEED));
    let found = found.as_chunks::<4>().0.iter().map(|word| u32::from_ne_bytes(*word));
    match found.zip(wanted).position(|(found, wanted)| found != wanted) {
        None => Ok(()),
        Some(at) => Err(device.failure(format!("word {at} of a kernel's was wrong"), "")),
    }
}
