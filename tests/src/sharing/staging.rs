//! A display's block of memory, and its end of a semaphore, which is about the block's reads.

use super::handles::name_memory;
use super::semaphore::Semaphore;
use super::turn::Turn;
use pixelferry::driver::{HandleType, HostBlock, SemaphoreDriver, SharedHandle, Staging, StagingDriver};
use pixelferry::{Error, Result};
use std::sync::Arc;

/// A block of the memory display, wrapped.
pub struct SharedStaging {
    pub inner: Staging,
    pub turn: Arc<Turn>,
    /// Host block that others may open.
    pub exported: Option<HostBlock>,
}

impl StagingDriver for SharedStaging {
    fn wait(&mut self) -> Result<()> {
        self.turn.wait();
        self.inner.wait()
    }

    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.inner.map_write(f)
    }

    fn fence(&mut self, _: bool) -> Result<()> {
        self.turn.fence();
        self.inner.fence()
    }

    fn export(&self, handle: HandleType) -> Result<Option<SharedHandle>> {
        match (&self.exported, handle) {
            (Some(block), HandleType::OpaqueFd) => name_memory(block).map(Some),
            _ => Ok(None),
        }
    }
}

fn turn(staging: &Staging) -> Result<Arc<Turn>> {
    let turn = staging.driver().downcast_ref().map(|staging: &SharedStaging| Arc::clone(&staging.turn));
    turn.ok_or_else(|| Error::invalid("a double's semaphore", "a staging block of another display"))
}

impl SemaphoreDriver for Semaphore {
    fn signal(&mut self, value: u64, staging: &mut Staging) -> Result<()> {
        self.signalled_after(value, turn(staging)?);
        Ok(())
    }

    fn wait(&mut self, value: u64, staging: &mut Staging) -> Result<()> {
        self.waited(value);
        turn(staging)?.written();
        Ok(())
    }
}
