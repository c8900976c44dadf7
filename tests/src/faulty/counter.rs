//! What a semaphore counts.

use super::turn::Turn;
use pixelferry::SyncKind;
use pixelferry_faults::Faults;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// What both ends of a semaphore share.
pub(super) struct Counter {
    kind: SyncKind,
    /// The counter; of a binary one 1 where it is signalled.
    value: Cell<u64>,
    /// The block whose reads the signal comes after.
    pub after_reads: RefCell<Option<Rc<Turn>>>,
}

impl Counter {
    pub fn new(kind: SyncKind) -> Rc<Self> {
        Rc::new(Self { kind, value: Cell::new(0), after_reads: RefCell::default() })
    }

    pub fn signal(&self, value: u64, faults: &Faults) {
        if self.kind == SyncKind::BinarySemaphore {
            if self.value.replace(1) == 1 {
                faults.violation("a binary semaphore was signalled again before it was waited for");
            }
        } else if value <= self.value.replace(value) {
            faults.violation(format!("a timeline semaphore was signalled with {value}, which is no more than before"));
        }
    }

    pub fn wait(&self, value: u64, faults: &Faults) {
        let hangs = match self.kind {
            SyncKind::BinarySemaphore => self.value.replace(0) == 0,
            _ => self.value.get() < value,
        };
        if hangs {
            faults.violation(format!("a {} was waited for that nobody signals", self.kind));
        }
    }
}
