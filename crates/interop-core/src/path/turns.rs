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

/// The turns at one slot.
pub(super) enum Turns {
    /// The host waits for the side whose turn ends.
    Host,
    /// The other side's queue waits.
    Semaphores(Box<[Semaphore; 2]>),
}

impl Turns {
    pub(super) fn open(pairing: &Pairing<'_>) -> Result<Self> {
        Ok(match pairing.sync {
            Some(kind @ (SyncKind::BinarySemaphore | SyncKind::TimelineSemaphore)) => {
                Self::Semaphores(Box::new([Semaphore::open(pairing, kind)?, Semaphore::open(pairing, kind)?]))
            }
            _ => Self::Host,
        })
    }

    /// Whether the host waits, so that holding work back makes sense.
    pub(super) fn by_host(&self) -> bool {
        matches!(self, Self::Host)
    }

    /// Before kernels write: the display has read what was there.
    pub(super) fn begin_compute(&mut self, staging: &mut dyn Staging) -> Result<()> {
        match self {
            Self::Host => staging.wait(),
            Self::Semaphores(pair) => {
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
        match self {
            Self::Host => memory.submit(),
            Self::Semaphores(pair) => {
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
        match self {
            Self::Host => memory.release(),
            Self::Semaphores(pair) => {
                let written = &mut pair[0];
                written.display.wait(written.value, staging)?;
                written.pending = false;
                Ok(())
            }
        }
    }

    /// After everything that the display was told to read.
    pub(super) fn end_display(&mut self, staging: &mut dyn Staging) -> Result<()> {
        match self {
            Self::Host => staging.fence(),
            Self::Semaphores(pair) => {
                let read = &mut pair[1];
                if read.pending {
                    // Shown once more without having been written in between.
                    read.compute.wait(read.value)?;
                }
                read.display.signal(read.value + 1, staging)?;
                read.value += 1;
                read.pending = true;
                Ok(())
            }
        }
    }
}
