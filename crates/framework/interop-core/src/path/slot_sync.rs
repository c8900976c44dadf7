//! Turns of the two sides at one slot of shared memory. They are ordered by a fence that the host waits for, by
//! semaphores that only the devices wait for, or by the queue that both sides use.

use super::pairing::Pairing;
use crate::compute::{ComputeMemory, ComputeSemaphore};
use crate::describe::error::Result;
use crate::devices::capability::SyncKind;
use crate::devices::timeline::step;
use crate::display::{DisplaySemaphore, Staging};

/// Slots of a ring: one shown, one that the display may still read, one to write.
pub(crate) const RING_SLOTS: usize = 3;

/// One semaphore, opened by both sides. It is always waited for before it is signalled again: a binary semaphore that
/// is not stalls or hangs drivers.
pub(super) struct Semaphore {
    compute: Box<dyn ComputeSemaphore>,
    display: DisplaySemaphore,
    value: u64,
    /// True where it was signalled and not waited for yet.
    pending: bool,
}

impl Semaphore {
    fn open(pairing: &Pairing<'_>, kind: SyncKind) -> Result<Self> {
        let (display, handle) = pairing.display.create_semaphore(kind)?;
        let compute = pairing.backend.import_semaphore(&handle)?;
        Ok(Self { compute, display, value: 0, pending: false })
    }

    /// Waits once for a pending signal.
    fn wait_in(&mut self, wait: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if self.pending {
            wait(self)?;
            self.pending = false;
        }
        Ok(())
    }

    fn compute_waits(&mut self) -> Result<()> {
        self.wait_in(|s| s.compute.wait(s.value))
    }

    fn display_waits(&mut self, staging: &mut Staging) -> Result<()> {
        self.wait_in(|s| s.display.wait(s.value, staging))
    }

    /// Signals for the compute side, after waiting for an earlier signal that is still pending.
    fn compute_signals(&mut self, staging: &mut Staging) -> Result<()> {
        // The signal may be left over from a frame that was never handed over.
        self.display_waits(staging)?;
        self.compute.signal(self.value + 1)?;
        self.signalled();
        Ok(())
    }

    /// Signals for the display, after waiting for a signal that the compute side has not waited for yet.
    fn display_signals(&mut self, staging: &mut Staging) -> Result<()> {
        // The slot was shown once more without having been written in between.
        self.compute_waits()?;
        self.display.signal(self.value + 1, staging)?;
        self.signalled();
        Ok(())
    }

    fn signalled(&mut self) {
        self.value += 1;
        self.pending = true;
    }
}

/// How the end of the other side's turn is detected.
enum TurnSignal {
    /// The host waits for the side whose turn ends.
    Host,
    /// The other side's queue waits for a semaphore.
    Semaphores { written: Semaphore, read: Semaphore },
    /// Both sides use one queue, which runs work in the order of submission.
    Queue,
}

/// The turns at one slot.
pub(super) struct SlotSync {
    signal: TurnSignal,
    /// True where a fence after the display's reads could not be inserted yet.
    owed: bool,
}

impl SlotSync {
    pub(super) fn open(pairing: &Pairing<'_>) -> Result<Self> {
        let signal = match pairing.sync {
            Some(kind @ (SyncKind::BinarySemaphore | SyncKind::TimelineSemaphore)) => TurnSignal::Semaphores {
                written: Semaphore::open(pairing, kind)?,
                read: Semaphore::open(pairing, kind)?,
            },
            Some(SyncKind::Implicit) => TurnSignal::Queue,
            _ => TurnSignal::Host,
        };
        Ok(Self { signal, owed: false })
    }

    /// True where the host waits, so that delaying the hand-over makes sense.
    pub(super) fn by_host(&self) -> bool {
        matches!(self.signal, TurnSignal::Host)
    }

    /// Before kernels write: waits until the display has read the slot.
    pub(super) fn begin_compute(&mut self, staging: &mut Staging) -> Result<()> {
        let _step = step!("wait for the slot");
        if self.owed {
            // This fence comes after those reads, too.
            self.mark_reads(staging)?;
            self.owed = false;
        }
        match &mut self.signal {
            TurnSignal::Host => staging.wait(),
            TurnSignal::Semaphores { read, .. } => read.compute_waits(),
            TurnSignal::Queue => Ok(()),
        }
    }

    /// After the kernels, in their queue. Does not wait.
    pub(super) fn end_compute(&mut self, memory: &mut dyn ComputeMemory, staging: &mut Staging) -> Result<()> {
        let _step = step!("submit");
        match &mut self.signal {
            TurnSignal::Host => memory.submit(),
            TurnSignal::Semaphores { written, .. } => {
                memory.release_in_queue()?;
                written.compute_signals(staging)
            }
            TurnSignal::Queue => Ok(()),
        }
    }

    /// Before the display reads: waits until the kernels are done.
    pub(super) fn begin_display(&mut self, memory: &mut dyn ComputeMemory, staging: &mut Staging) -> Result<()> {
        let _step = step!("release");
        match &mut self.signal {
            TurnSignal::Host => memory.release(),
            // A second attempt after a failed read has waited already.
            TurnSignal::Semaphores { written, .. } => written.display_waits(staging),
            TurnSignal::Queue => Ok(()),
        }
    }

    /// After the display's reads. The frame has arrived, so a failure here does not belong to it; a lasting failure is
    /// reported before the memory is written again.
    pub(super) fn end_display(&mut self, staging: &mut Staging) {
        let _step = step!("mark reads");
        if let Err(error) = self.mark_reads(staging) {
            tracing::warn!(%error, "cannot insert a fence after the display's reads; trying again later");
            self.owed = true;
        }
    }

    fn mark_reads(&mut self, staging: &mut Staging) -> Result<()> {
        match &mut self.signal {
            TurnSignal::Host => staging.fence(),
            TurnSignal::Semaphores { read, .. } => read.display_signals(staging),
            TurnSignal::Queue => Ok(()),
        }
    }
}
