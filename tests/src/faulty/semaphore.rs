//! Semaphores whose use is checked.

use super::staging::FaultyStaging;
use super::turn::Turn;
use pixelferry::driver::{ComputeSemaphore, DisplaySemaphore, Staging};
use pixelferry::{Error, Result, SyncKind};
use pixelferry_faults::{Alive, Faults, Step};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// What both ends share.
pub(super) struct SemaphoreState {
    kind: SyncKind,
    /// The counter; of a binary one 1 where it is signalled.
    value: Cell<u64>,
    /// The block whose reads the signal comes after.
    after_reads: RefCell<Option<Rc<Turn>>>,
}

impl SemaphoreState {
    pub fn new(kind: SyncKind) -> Rc<Self> {
        Rc::new(Self { kind, value: Cell::new(0), after_reads: RefCell::default() })
    }

    fn signal(&self, value: u64, faults: &Faults) {
        if self.kind == SyncKind::BinarySemaphore {
            if self.value.replace(1) == 1 {
                faults.violation("a binary semaphore was signalled again before it was waited for");
            }
        } else if value <= self.value.replace(value) {
            faults.violation(format!("a timeline semaphore was signalled with {value}, which is no more than before"));
        }
    }

    fn wait(&self, value: u64, faults: &Faults) {
        let hangs = match self.kind {
            SyncKind::BinarySemaphore => self.value.replace(0) == 0,
            _ => self.value.get() < value,
        };
        if hangs {
            faults.violation(format!("a {} was waited for that nobody signals", self.kind));
        }
    }
}

/// The compute side's end.
pub(super) struct FaultyComputeSemaphore {
    pub shared: Rc<SemaphoreState>,
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
    pub shared: Rc<SemaphoreState>,
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
