//! Kernels with an expression's arguments.

use crate::context::Arrays;
use crate::expr::Leaf;
use crate::text::Parameter;
use interop_core::{Arg, Kernel, Result, Target};

impl Arrays {
    /// Queues `kernel` with the leaves' memory as arguments.
    pub(crate) fn launch(
        &self,
        kernel: &dyn Kernel,
        target: Target<'_>,
        before: &[Arg<'_>],
        leaves: &[Leaf<'_>],
        after: &[Parameter],
        operation: &'static str,
    ) -> Result<()> {
        let lent = leaves.iter().map(|leaf| leaf.store.borrow(operation)).collect::<Result<Vec<_>>>()?;
        let memories = lent.iter().map(|memory| Arg::Memory(&***memory)).collect::<Vec<_>>();
        let args = before.iter().copied().chain(after.iter().map(|p| match p {
            Parameter::Leaf(at) => memories[*at],
            Parameter::Number(constant) => constant.arg(),
        }));
        self.run(kernel, target, &args.collect::<Vec<_>>())
    }
}
