//! Memory of the faulty backend.

use super::turn::Turn;
use pixelferry::{ComputeMemory, Result, SyncKind};
use pixelferry_faults::{Alive, Faults, Step};
use std::ops::Range;
use std::rc::Rc;

/// Memory of the CPU backend, wrapped.
pub(super) struct FaultyMemory {
    pub inner: Box<dyn ComputeMemory>,
    /// Of memory that the display addresses, too.
    pub turn: Option<Rc<Turn>>,
    pub faults: Faults,
    pub _alive: Alive,
}

impl FaultyMemory {
    /// Something is about to write.
    pub fn writing(&self, queued: bool) {
        if let Some(turn) = &self.turn {
            turn.write(&self.faults, queued);
        }
    }
}

impl ComputeMemory for FaultyMemory {
    pixelferry_faults::forward! {
        & len() -> usize;
        Read after &mut read(offset: usize, into: &mut [u8]) -> Result<()>;
        MapRead before &mut map_read(range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;
        Acquire before &mut acquire() -> Result<()>;
        Submit before &mut submit() -> Result<()>;
        ReleaseInQueue before &mut release_in_queue() -> Result<()>;
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        self.writing(true);
        self.inner.write(offset, from)?;
        self.faults.check(Step::Write)
    }

    fn map_write(&mut self, range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.writing(true);
        self.inner.map_write(range, f)?;
        self.faults.check(Step::MapWrite)
    }

    fn set_sync(&mut self, kind: SyncKind) -> Result<()> {
        self.faults.check(Step::SetSync)?;
        match (&self.turn, kind) {
            (Some(_), SyncKind::SharedEvent) => Ok(()),
            _ => self.inner.set_sync(kind),
        }
    }

    fn release(&mut self) -> Result<()> {
        self.faults.check(Step::Release)?;
        if let Some(turn) = &self.turn {
            turn.written();
        }
        self.inner.release()
    }
}
