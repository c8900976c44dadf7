//! Operations on expressions.

#[cfg(test)]
mod compiles;
pub(crate) mod elementwise;
#[cfg(test)]
mod forms;
mod histogram;
mod launch;
pub(crate) mod random;
pub(crate) mod reduce;
pub(crate) mod scan;

use crate::context::Arrays;
use crate::cpu::CpuProgram;
use crate::element::{Element, ElementType};
use crate::expr::{Access, BoundProgram};
use cpu_fallback::{CpuArgs, CpuKernelExt};
use interop_core::{Arg, KernelSource, Result, Target};

/// Form of a combination on a device: by groups or by single work items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Groups of work items, through local memory.
    Groups,
    /// Each work item alone, for a device that is a CPU.
    Runs,
}

impl Form {
    fn of(arrays: &Arrays) -> Self {
        if arrays.is_software() { Self::Runs } else { Self::Groups }
    }
}

impl BoundProgram<'_> {
    fn on_cpu(&self) -> CpuProgram {
        let layouts = self.leaves.iter().map(|leaf| (*leaf.layout).clone()).collect();
        CpuProgram::new(self.program.clone(), self.constants.clone(), layouts)
    }
}

/// Runs `f` on the CPU backend's threads with the program, the target's elements and the leaves' bytes. `items` is the
/// amount of work.
fn on_cpu<T: Element>(
    arrays: &Arrays,
    name: &'static str,
    (target, items): (Target<'_>, usize),
    bound: &BoundProgram<'_>,
    operation: &'static str,
    f: impl Fn(&CpuProgram, &mut [T], &[&[u8]]) + Send + Sync + 'static,
) -> Result<()> {
    let program = bound.on_cpu();
    let code = move |out: &mut cpu_fallback::CpuBuffer<'_>, args: &CpuArgs<'_>| {
        let leaf = |(at, (kind, _)): (usize, &(ElementType, Access))| match kind.bits() {
            64 => args.memory::<u64>(at).map(bytemuck::cast_slice),
            _ => args.memory::<u32>(at).map(bytemuck::cast_slice),
        };
        let leaves = program.program.leaves.iter().enumerate().map(leaf).collect::<Result<Vec<&[u8]>>>()?;
        f(&program, out.as_slice_mut::<T>()?, &leaves);
        Ok(())
    };
    let kernel = arrays.backend().build(&KernelSource::new(name).cpu_buffer(code))?;
    let lent = bound.leaves.iter().map(|leaf| leaf.store.borrow(operation)).collect::<Result<Vec<_>>>()?;
    let args = lent.iter().map(|memory| Arg::Memory(&***memory)).collect::<Vec<_>>();
    arrays.run(kernel.as_ref(), target.with_items(items), &args)
}
