//! How the two sides take turns at one slot of shared memory: by a fence that the host waits for, or by semaphores that
//! only the devices wait for.

use super::Pairing;
use crate::capability::SyncKind;
use crate::compute::{ComputeMemory, ComputeSemaphore};
use crate::display::{DisplaySemaphore, Staging};
use crate::error::Result;

/// One semaphore, opened by both sides, always waited for before it is signalled again: a binary one that is not stalls
/// or hangs drivers.
pub(super) struct Semaphore {
    compute: Box<dyn ComputeSemaphore>,
    display: Box<dyn DisplaySemaphore>,
    value: u64,
    /// Signalled and not waited for yet.
    pending: bool,
}

impl Semaphore {
    fn open(pairing: &Pairing<'_>, kind: SyncKind) -> Result<Self> {
        let (display, handle) = pairing.display.create_semaphore(kind)?;
        let compute = pairing.backend.import_semaphore(&handle)?;
        Ok(Self { compute, display, value: 0, pending: false })
    }
}

/// How a side learns that the other's turn has ended.
enum Way {
    /// The host waits for the side whose turn ends.
    Host,
    /// The other side's queue waits: for what was written, and for what was read.
    Semaphores(Box<[Semaphore; 2]>),
}

/// The turns at one slot.
pub(super) struct Turns {
    way: Way,
    /// The end of the display's reads could not be marked yet.
    owed: bool,
}

impl Turns {
    pub(super) fn open(pairing: &Pairing<'_>) -> Result<Self> {
        let way = match pairing.sync {
            Some(kind @ (SyncKind::BinarySemaphore | SyncKind::TimelineSemaphore)) => {
                Way::Semaphores(Box::new([Semaphore::open(pairing, kind)?, Semaphore::open(pairing, kind)?]))
            }
            _ => Way::Host,
        };
        Ok(Self { way, owed: false })
    }

    /// Whether the host waits, so that holding work back makes sense.
    pub(super) fn by_host(&self) -> bool {
        matches!(self.way, Way::Host)
    }

    /// Before kernels write: the display has read what was there.
    pub(super) fn begin_compute(&mut self, staging: &mut dyn Staging) -> Result<()> {
        if self.owed {
            // What is marked now comes after those reads, too.
            self.mark_reads(staging)?;
            self.owed = false;
        }
        match &mut self.way {
            Way::Host => staging.wait(),
            Way::Semaphores(pair) => {
                let read = &mut pair[1];
                if read.pending {
                    read.compute.wait(read.value)?;
                    read.pending = false;
                }
                Ok(())
            }
        }
    }

    /// After the kernels, in their queue. Waits for nothing.
    pub(super) fn end_compute(&mut self, memory: &mut dyn ComputeMemory, staging: &mut dyn Staging) -> Result<()> {
        match &mut self.way {
            Way::Host => memory.submit(),
            Way::Semaphores(pair) => {
                let written = &mut pair[0];
                if written.pending {
                    // Left over from a frame that was never handed over.
                    written.display.wait(written.value, staging)?;
                    written.pending = false;
                }
                written.compute.signal(written.value + 1)?;
                written.value += 1;
                written.pending = true;
                Ok(())
            }
        }
    }

    /// Before the display reads.
    pub(super) fn begin_display(&mut self, memory: &mut dyn ComputeMemory, staging: &mut dyn Staging) -> Result<()> {
        match &mut self.way {
            Way::Host => memory.release(),
            Way::Semaphores(pair) => {
                let written = &mut pair[0];
                // A second try after a read that failed has waited already.
                if written.pending {
                    written.display.wait(written.value, staging)?;
                    written.pending = false;
                }
                Ok(())
            }
        }
    }

    /// After everything that the display was told to read. The frame is there, so a failure is none of its own: it
    /// comes up, if it stays, before the memory is written again.
    pub(super) fn end_display(&mut self, staging: &mut dyn Staging) {
        if let Err(error) = self.mark_reads(staging) {
            tracing::warn!(%error, "the end of the display's reads could not be marked; it is tried again");
            self.owed = true;
        }
    }

    fn mark_reads(&mut self, staging: &mut dyn Staging) -> Result<()> {
        match &mut self.way {
            Way::Host => staging.fence(),
            Way::Semaphores(pair) => {
                let read = &mut pair[1];
                if read.pending {
                    // Shown once more without having been written in between.
                    read.compute.wait(read.value)?;
                    read.pending = false;
                }
                read.display.signal(read.value + 1, staging)?;
                read.value += 1;
                read.pending = true;
                Ok(())
            }
        }
    }
}
