//! A display's block of memory, and its end of a semaphore, which is about the block's reads.

use super::handles::name_memory;
use super::semaphore::Semaphore;
use super::turn::Turn;
use pixelferry::driver::{DisplaySemaphore, HandleType, HostBlock, SharedHandle, Staging};
use pixelferry::{Error, Result};
use pixelferry_faults::Faults;
use std::any::Any;
use std::rc::Rc;

/// A block of the memory display, wrapped.
pub struct SharedStaging {
    pub inner: Box<dyn Staging>,
    pub turn: Rc<Turn>,
    /// What the host may address.
    pub host_block: Option<HostBlock>,
    /// What others may open.
    pub exported: Option<HostBlock>,
    /// The driver gives new memory for each mapping.
    pub renamed: bool,
    pub faults: Faults,
}

impl Staging for SharedStaging {
    pixelferry_faults::forward! {
        & len() -> usize;
    }

    fn host_block(&self) -> Option<HostBlock> {
        self.host_block.clone()
    }

    fn wait(&mut self) -> Result<()> {
        self.turn.wait();
        self.inner.wait()
    }

    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        if !self.renamed {
            self.turn.write(&self.faults, false);
        }
        self.inner.map_write(f)
    }

    fn fence(&mut self) -> Result<()> {
        self.turn.fence();
        self.inner.fence()
    }

    fn export(&self, handle: HandleType) -> Result<SharedHandle> {
        match (&self.exported, handle) {
            (Some(block), HandleType::OpaqueFd) => name_memory(block),
            _ => Err(Error::invalid("SharedStaging::export", format!("this block is not named by a {handle}"))),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

fn turn(staging: &dyn Staging) -> Result<Rc<Turn>> {
    let turn = staging.as_any().downcast_ref().map(|staging: &SharedStaging| Rc::clone(&staging.turn));
    turn.ok_or_else(|| Error::invalid("a double's semaphore", "a staging block of another display"))
}

impl DisplaySemaphore for Semaphore {
    fn signal(&mut self, value: u64, staging: &mut dyn Staging) -> Result<()> {
        self.signalled_after(value, turn(staging)?);
        Ok(())
    }

    fn wait(&mut self, value: u64, staging: &mut dyn Staging) -> Result<()> {
        self.waited(value);
        turn(staging)?.written();
        Ok(())
    }
}
