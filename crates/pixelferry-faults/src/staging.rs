//! Staging blocks of the display's double.

use crate::faults::Faults;
use crate::step::Step;
use interop_core::{HandleType, HostBlock, Result, SharedHandle, Staging};
use std::any::Any;

/// The display's block, wrapped.
pub(crate) struct StagingDouble {
    pub inner: Box<dyn Staging>,
    pub faults: Faults,
}

impl Staging for StagingDouble {
    fn len(&self) -> usize {
        self.inner.len()
    }

    fn host_block(&self) -> Option<HostBlock> {
        self.inner.host_block()
    }

    fn wait(&mut self) -> Result<()> {
        self.inner.wait()?;
        self.faults.check(Step::Wait)
    }

    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.inner.map_write(f)?;
        self.faults.check(Step::MapStaging)
    }

    fn fence(&mut self) -> Result<()> {
        self.inner.fence()?;
        self.faults.check(Step::Fence)
    }

    fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        self.faults.check(Step::Export)?;
        self.inner.export(handle)
    }

    fn as_any(&self) -> &dyn Any {
        self.inner.as_any()
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self.inner.as_any_mut()
    }
}
