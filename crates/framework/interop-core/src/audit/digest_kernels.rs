//! The kernels of digests, built once for each backend.

use super::digest_plan::DigestPlan;
use crate::compute::{Arg, ComputeBackend, ComputeMemory, ComputeQueue, Kernel, KernelSource, QueueOptions, Target};
use crate::describe::error::{Error, Result};
use crate::describe::view::{BufferView, View};
use std::sync::Arc;

/// How the sums of a band become one: each item of a round adds up this many. The product is the number of work items of
/// one band: enough for all of a GPU, and on a CPU as many as a vector has lanes.
const FOLDS: &[u32] = &[32, 32];
const FOLDS_SOFTWARE: &[u32] = &[8];

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
    folds: &'static [u32],
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
        let folds = if backend.device().software { FOLDS_SOFTWARE } else { FOLDS };
        let queue = backend.queue(QueueOptions::default()).ok();
        let (sum, fold) = (backend.build(&sum)?, backend.build(&fold)?);
        Ok(Self { queue, sum, fold, folds })
    }

    /// Allocates memory for the sums before each round.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn sums(&self, backend: &dyn ComputeBackend) -> Result<Vec<Box<dyn ComputeMemory>>> {
        let count = |at| self.folds[at..].iter().product::<u32>() as usize;
        (0..self.folds.len()).map(|at| backend.allocate(DIGEST_BYTES * count(at))).collect()
    }

    /// Queues the digest of the planned view of `from`, which is linear. `sums` is memory of
    /// [`DigestKernels::sums`], and `into` has at least [`DIGEST_BYTES`].
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the view reaches outside; errors of the backend.
    pub fn queue(
        &self,
        backend: &dyn ComputeBackend,
        (plan, view): (&DigestPlan, &View),
        from: &dyn ComputeMemory,
        sums: &mut [Box<dyn ComputeMemory>],
        into: &mut dyn ComputeMemory,
    ) -> Result<()> {
        view.check_inside(from.len())?;
        let launch = |kernel: &Arc<dyn Kernel>, to: &mut dyn ComputeMemory, count: u32, args: &[Arg<'_>]| {
            let words = View::Buffer(BufferView { offset: 0, len: 4 * count as usize });
            backend.launch(kernel.as_ref(), Target::new(to, words)?.with_items(count as usize), args)
        };
        let lanes = self.folds.iter().product();
        let mut count = plan.bands() * lanes;
        let args: Vec<Arg<'_>> = [Arg::Memory(from)].into_iter().chain(plan.numbers(lanes).map(Arg::U32)).collect();
        launch(&self.sum, sums[0].as_mut(), count, &args)?;
        for (at, fold) in self.folds.iter().enumerate() {
            count /= fold;
            let (from, rest) = sums.split_at_mut(at + 1);
            let to = rest.first_mut().map_or(&mut *into, |next| next.as_mut());
            launch(&self.fold, to, count, &[Arg::Memory(from[at].as_ref()), Arg::U32(*fold)])?;
        }
        Ok(())
    }
}
