//! The kernels of digests, built once for each backend.

use super::digest_plan::DigestPlan;
use crate::compute::{Arg, ComputeBackend, ComputeMemory, ComputeQueue, Kernel, KernelSource, QueueOptions, Target};
use crate::describe::error::{Error, Result};
use crate::describe::view::{BufferView, View};
use std::sync::Arc;

/// Work items of one band: enough for all of a GPU; on a CPU as many as a vector has lanes.
const LANES: u32 = 256;
const LANES_SOFTWARE: u32 = 8;

/// Bytes of a digest's memory, for the most bands.
pub(super) const DIGEST_BYTES: usize = 1024;

const C_TEXT: &str = include_str!("../../kernels/digest.cu");
const PTX: &str = include_str!("../ptx/digest.ptx");

/// Kernels of a backend that compute digests.
pub(super) struct DigestKernels {
    /// A queue that reads digests while the backend's own queue continues; `None` where the backend has no such queue.
    pub queue: Option<Box<dyn ComputeQueue>>,
    sum: Arc<dyn Kernel>,
    fold: Arc<dyn Kernel>,
    lanes: u32,
}

impl DigestKernels {
    /// Returns the kernels of `backend`, which are built at their first use.
    ///
    /// # Errors
    /// Errors of the build; [`Error::Unsupported`] where the backend has no language of the kernels.
    pub fn of(backend: &dyn ComputeBackend) -> Result<Arc<Self>> {
        let build = || Self::build(backend);
        backend.audit_kernels().map_or_else(|| build().map(Arc::new), |kept| kept.get(build))
    }

    fn build(backend: &dyn ComputeBackend) -> Result<Self> {
        let source = |name: &'static str, wgsl: &'static str| {
            // SAFETY: the kernels write their own item of the target, below its length. They read the words of the one
            // memory among their arguments, below the end of a view that lies inside it (`DigestKernels::queue`).
            unsafe { KernelSource::new(name).opencl_c(C_TEXT).ptx(PTX) }.wgsl(wgsl)
        };
        let (sum, fold) = (
            source("pf_digest", include_str!("digest.wgsl")),
            source("pf_digest_fold", include_str!("digest_fold.wgsl")),
        );
        if !sum.suits(backend.caps()) {
            return Err(Error::unsupported(backend.device(), "it runs no kernels from text"));
        }
        let lanes = if backend.device().software { LANES_SOFTWARE } else { LANES };
        let queue = backend.queue(QueueOptions::default()).ok();
        let (sum, fold) = (backend.build(&sum)?, backend.build(&fold)?);
        Ok(Self { queue, sum, fold, lanes })
    }

    /// Allocates memory for the sums of all lanes.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn lanes(&self, backend: &dyn ComputeBackend) -> Result<Box<dyn ComputeMemory>> {
        backend.allocate(DIGEST_BYTES * self.lanes as usize)
    }

    /// Queues the digest of the planned view of `from`, which is linear. `lanes` is memory of
    /// [`DigestKernels::lanes`], and `into` has at least [`DIGEST_BYTES`].
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the view reaches outside; errors of the backend.
    pub fn queue(
        &self,
        backend: &dyn ComputeBackend,
        (plan, view): (&DigestPlan, &View),
        from: &dyn ComputeMemory,
        lanes: &mut dyn ComputeMemory,
        into: &mut dyn ComputeMemory,
    ) -> Result<()> {
        view.check_inside(from.len())?;
        let (bands, count) = (plan.bands() as usize, plan.bands() as usize * self.lanes as usize);
        let words = |count: usize| View::Buffer(BufferView { offset: 0, len: 4 * count });
        let numbers = plan.numbers(self.lanes).map(Arg::U32);
        let args: Vec<Arg<'_>> = [Arg::Memory(from)].into_iter().chain(numbers).collect();
        backend.launch(self.sum.as_ref(), Target::new(lanes, words(count))?.with_items(count), &args)?;
        let args = [Arg::Memory(&*lanes), Arg::U32(self.lanes)];
        backend.launch(self.fold.as_ref(), Target::new(into, words(bands))?.with_items(bands), &args)
    }
}
