//! Semaphores whose use is checked.

use super::counter::Counter;
use super::staging::FaultyStaging;
use super::turn::Turn;
use pixelferry::driver::{ComputeSemaphore, DisplaySemaphore, Staging};
use pixelferry::{Error, Result};
use pixelferry_faults::{Alive, Faults, Step};
use std::rc::Rc;

/// The compute side's end.
pub(super) struct FaultyComputeSemaphore {
    pub shared: Rc<Counter>,
    pub faults: Faults,
    pub _alive: Alive,
}

impl ComputeSemaphore for FaultyComputeSemaphore {
    fn signal(&mut self, value: u64) -> Result<()> {
        self.faults.check(Step::ComputeSignal)?;
        self.shared.signal(value, &self.faults);
        Ok(())
    }

    fn wait(&mut self, value: u64) -> Result<()> {
        self.faults.check(Step::ComputeWait)?;
        self.shared.wait(value, &self.faults);
        if let Some(turn) = self.shared.after_reads.take() {
            turn.done_reading();
        }
        Ok(())
    }
}

/// The display's end.
pub(super) struct FaultyDisplaySemaphore {
    pub shared: Rc<Counter>,
    pub faults: Faults,
    pub _alive: Alive,
}

impl FaultyDisplaySemaphore {
    fn turn(staging: &dyn Staging) -> Result<Rc<Turn>> {
        let staging = staging.as_any().downcast_ref::<FaultyStaging>();
        let turn = staging.map(|s| Rc::clone(&s.turn));
        turn.ok_or_else(|| Error::invalid("a double's semaphore", "a staging block of another display"))
    }
}

impl DisplaySemaphore for FaultyDisplaySemaphore {
    fn signal(&mut self, value: u64, staging: &mut dyn Staging) -> Result<()> {
        self.faults.check(Step::DisplaySignal)?;
        self.shared.signal(value, &self.faults);
        self.shared.after_reads.replace(Some(Self::turn(staging)?));
        Ok(())
    }

    fn wait(&mut self, value: u64, staging: &mut dyn Staging) -> Result<()> {
        self.faults.check(Step::DisplayWait)?;
        self.shared.wait(value, &self.faults);
        Self::turn(staging)?.written();
        Ok(())
    }
}
