//! A backend runs texts for which others vouch, so nobody writes one without a word of their own.

use interop_core::compute::{Arg, BackendDriver, CheckToken, ComputeBackend, ComputeMemory, Kernel, KernelSource, Target};
use interop_core::describe::pattern::Pattern;
use interop_core::{ComputeCaps, DeviceIdentity, Result};
use std::ops::Range;
use std::sync::Arc;

struct BackendHandle(Arc<dyn ComputeBackend>);

impl BackendDriver for BackendHandle { //~ E0200
    fn device(&self) -> &DeviceIdentity {
        self.0.device()
    }
    fn caps(&self) -> &ComputeCaps {
        self.0.caps()
    }
    fn build(&self, source: &KernelSource) -> Result<Arc<dyn Kernel>> {
        self.0.build(source)
    }
    fn allocate(&self, bytes: usize) -> Result<Box<dyn ComputeMemory>> {
        self.0.allocate(bytes.min(64))
    }
    fn launch(&self, kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()> {
        self.0.launch(kernel, target, args)
    }
    fn write_pattern(&self, target: Target<'_>, pattern: &Pattern) -> Result<()> {
        self.0.write_pattern(target, pattern)
    }
    fn copy(
        &self,
        _: CheckToken,
        from: &dyn ComputeMemory,
        to: &mut dyn ComputeMemory,
        range: Range<usize>,
    ) -> Result<()> {
        self.0.copy(from, to, range)
    }
    fn finish(&self) -> Result<()> {
        self.0.finish()
    }
}

fn main() {}
