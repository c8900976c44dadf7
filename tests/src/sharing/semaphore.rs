//! Semaphores whose use is checked.

use super::turn::Turn;
use crate::faults::Faults;
use interop_core::describe::PlainMutex;
use pixelferry::driver::ComputeSemaphore;
use pixelferry::{Result, SyncKind};
use std::sync::Arc;

/// Either end of a semaphore.
#[derive(Clone)]
pub struct Semaphore(Arc<Counter>);

/// Counter that both ends share.
struct Counter {
    kind: SyncKind,
    /// The counter; of a binary one 1 where it is signalled.
    value: PlainMutex<u64>,
    /// The block whose reads the signal comes after.
    after_reads: PlainMutex<Option<Arc<Turn>>>,
    faults: Faults,
}

impl Semaphore {
    pub fn new(kind: SyncKind, faults: &Faults) -> Self {
        let (value, after_reads) = (PlainMutex::new(0), PlainMutex::default());
        Self(Arc::new(Counter { kind, value, after_reads, faults: faults.clone() }))
    }

    fn signalled(&self, value: u64) {
        let Counter { kind, value: counter, faults, .. } = self.0.as_ref();
        if *kind == SyncKind::BinarySemaphore {
            if counter.replace(1) == 1 {
                faults.violation("a binary semaphore was signalled again before it was waited for");
            }
        } else if value <= counter.replace(value) {
            faults.violation(format!("a timeline semaphore was signalled with {value}, which is no more than before"));
        }
    }

    pub(super) fn waited(&self, value: u64) {
        let Counter { kind, value: counter, faults, .. } = self.0.as_ref();
        let hangs = match kind {
            SyncKind::BinarySemaphore => counter.replace(0) == 0,
            _ => counter.get() < value,
        };
        if hangs {
            faults.violation(format!("a {kind} was waited for that nobody signals"));
        }
    }

    /// Signalled after the reads of a block.
    pub(super) fn signalled_after(&self, value: u64, reads: Arc<Turn>) {
        self.signalled(value);
        self.0.after_reads.replace(Some(reads));
    }
}

impl ComputeSemaphore for Semaphore {
    fn signal(&mut self, value: u64) -> Result<()> {
        self.signalled(value);
        Ok(())
    }

    fn wait(&mut self, value: u64) -> Result<()> {
        self.waited(value);
        if let Some(turn) = self.0.after_reads.take() {
            turn.done_reading();
        }
        Ok(())
    }
}
