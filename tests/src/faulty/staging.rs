//! Staging blocks of the faulty display.

use super::handles::name_memory;
use super::turn::Turn;
use pixelferry::driver::{HandleType, HostBlock, SharedHandle, Staging};
use pixelferry::{Error, Result};
use pixelferry_faults::{Alive, Faults, Step};
use std::any::Any;
use std::rc::Rc;

/// A block of the memory display, wrapped.
pub(super) struct FaultyStaging {
    pub inner: Box<dyn Staging>,
    pub turn: Rc<Turn>,
    /// What the host may address.
    pub host_block: Option<HostBlock>,
    /// What others may open.
    pub exported: Option<HostBlock>,
    /// The driver gives new memory for each mapping.
    pub renamed: bool,
    pub faults: Faults,
    pub _alive: Alive,
}

impl Staging for FaultyStaging {
    fn len(&self) -> usize {
        self.inner.len()
    }

    fn host_block(&self) -> Option<HostBlock> {
        self.host_block.clone()
    }

    fn wait(&mut self) -> Result<()> {
        self.faults.check(Step::Wait)?;
        self.turn.wait();
        self.inner.wait()
    }

    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        if !self.renamed {
            self.turn.write(&self.faults, false);
        }
        self.inner.map_write(f)?;
        self.faults.check(Step::MapStaging)
    }

    fn fence(&mut self) -> Result<()> {
        self.faults.check(Step::Fence)?;
        self.turn.fence();
        self.inner.fence()
    }

    fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        self.faults.check(Step::Export)?;
        match (&self.exported, handle) {
            (Some(block), HandleType::OpaqueFd) => name_memory(block),
            _ => Err(Error::invalid("FaultyStaging::export", format!("this block is not named by a {handle}"))),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
