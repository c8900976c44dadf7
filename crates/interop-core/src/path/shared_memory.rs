//! One piece of linear memory that both sides address: the kernel writes it, the display reads it, nobody copies.
//!
//! The memory is the display's (a persistently mapped buffer), neutral pages that both import (pinned memory), or the
//! compute device's (exported by a handle). The display reads it in place, or uploads from it where a texture is
//! needed.

use super::{Crossing, FrameLayout, Pairing, RING_SLOTS, SharingPath};
use crate::capability::{HandleType, SyncKind};
use crate::compute::{ComputeBackend, ComputeMemory, Target};
use crate::display::{Part, Staging, StagingKind, Surface};
use crate::error::{Error, Result};
use crate::host_block::HostBlock;
use crate::view::View;
use std::collections::VecDeque;
use std::sync::Arc;

/// One block; `memory` goes first because it lies inside `staging`.
struct Slot {
    memory: Box<dyn ComputeMemory>,
    staging: Box<dyn Staging>,
}

/// Whose memory it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    /// The display's mapped buffer.
    Display,
    /// Pages that the display and the compute side both import.
    Neutral,
    /// The compute device's, opened by the display.
    Compute,
}

/// How the display reads it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// Where it lies, for as long as it is shown.
    InPlace,
    /// Once, into a texture or buffer of its own.
    Upload,
}

/// See the module.
pub struct SharedMemory {
    layout: FrameLayout,
    backend: Arc<dyn ComputeBackend>,
    surface: Box<dyn Surface>,
    ring: Vec<Slot>,
    reading: Reading,
    whole: View,
    current: Option<(usize, Crossing)>,
    /// Frames that are finished but not handed over yet, oldest first.
    in_flight: VecDeque<(usize, Crossing)>,
    frames_late: usize,
    /// The slot that an in-place surface shows.
    shown: Option<usize>,
    next: usize,
}

impl SharedMemory {
    pub(super) fn open(pairing: &Pairing<'_>, owner: Owner, reading: Reading) -> Result<Self> {
        let layout = pairing.layout();
        let bytes = layout.frame_bytes()?;
        let surface = match reading {
            Reading::InPlace => pairing.display.create_in_place_surface(pairing.desc)?,
            Reading::Upload => pairing.display.create_surface(pairing.desc)?,
        };
        // As many frames on their way to the display as on their way from the kernels.
        let slots = RING_SLOTS.max(2 * pairing.frames_late + 2);
        let ring = (0..slots).map(|_| Slot::open(pairing, owner, bytes)).collect::<Result<Vec<_>>>()?;
        Ok(Self {
            backend: Arc::clone(pairing.backend),
            whole: layout.whole()?,
            layout,
            surface,
            ring,
            reading,
            current: None,
            in_flight: VecDeque::new(),
            frames_late: pairing.frames_late,
            shown: None,
            next: 0,
        })
    }

    /// A part written in place needs the rest of the frame around it: that of the frame finished last, as the display
    /// left it where it has had it.
    fn copy_forward(&mut self, to: usize) -> Result<()> {
        let newest = self.in_flight.back().map(|(slot, _)| *slot);
        let Some(from) = newest.or(self.shown) else { return Ok(()) };
        let [from, to] = self
            .ring
            .get_disjoint_mut([from, to])
            .map_err(|_| Error::invalid("acquire", "the ring has no slot that is not shown"))?;
        if newest.is_none() {
            from.staging.fence()?;
            from.staging.wait()?;
        }
        self.backend.copy(from.memory.as_ref(), to.memory.as_mut(), self.whole.span())
    }

    /// The first slot after `index` that neither is shown nor waits to be; after a failure that need not be the next.
    fn free_after(&self, index: usize) -> usize {
        let used = |slot| self.shown == Some(slot) || self.in_flight.iter().any(|(other, _)| *other == slot);
        let mut others = (1..self.ring.len()).map(|step| (index + step) % self.ring.len());
        // There is always one: half of the ring is beyond those shown and in flight.
        others.find(|slot| !used(*slot)).unwrap_or(index)
    }

    /// Waits for the kernels of one frame and lets the display have it.
    fn hand_over(&mut self, index: usize, crossing: &Crossing) -> Result<()> {
        let slot = &mut self.ring[index];
        slot.memory.release()?;
        match self.reading {
            Reading::Upload => {
                self.surface.upload_staged(&crossing.part, slot.staging.as_mut(), &crossing.native)?;
                slot.staging.fence()?;
            }
            Reading::InPlace => {
                self.surface.read_in_place(slot.staging.as_ref(), &self.whole)?;
                // Every draw of the frame before has been submitted by now: its slot is free when they are done.
                if let Some(before) = self.shown.replace(index) {
                    self.ring[before].staging.fence()?;
                }
            }
        }
        Ok(())
    }

    /// Hands over frames until at most `left` are on their way.
    fn drain(&mut self, left: usize) -> Result<()> {
        while self.in_flight.len() > left {
            let Some((index, crossing)) = self.in_flight.pop_front() else { break };
            self.hand_over(index, &crossing)?;
        }
        Ok(())
    }
}

impl Slot {
    fn open(pairing: &Pairing<'_>, owner: Owner, bytes: usize) -> Result<Self> {
        let display = pairing.display;
        let staging = match owner {
            Owner::Display => display.create_staging(StagingKind::Persistent, bytes)?,
            Owner::Neutral => display.create_staging(StagingKind::Imported(HostBlock::allocate(bytes)?), bytes)?,
            Owner::Compute => {
                let (memory, handle) = pairing.backend.allocate_shared(bytes, HandleType::OpaqueFd)?;
                let staging = display.create_staging(StagingKind::External(handle), bytes)?;
                return Ok(Self { memory, staging });
            }
        };
        let block = staging.host_block().ok_or_else(|| Error::Unsupported {
            operation: "create_staging",
            device: display.device().to_string(),
            reason: "the block has no fixed address".into(),
        })?;
        let memory = pairing.backend.import_host(&block)?;
        Ok(Self { memory, staging })
    }
}

impl SharingPath for SharedMemory {
    fn begin(&mut self, part: &Part) -> Result<()> {
        let slot = self.next;
        self.ring[slot].staging.wait()?;
        let crossing = match self.reading {
            Reading::Upload => self.layout.packed(part)?,
            Reading::InPlace => {
                if *part != self.layout.full() {
                    self.copy_forward(slot)?;
                }
                self.layout.in_place(part)?
            }
        };
        self.ring[slot].memory.acquire()?;
        if self.frames_late > 0 {
            self.backend.hold_back()?;
        }
        self.current = Some((slot, crossing));
        Ok(())
    }

    fn target(&mut self) -> Result<Target<'_>> {
        let (slot, crossing) = self.current.as_ref().ok_or_else(super::not_begun)?;
        Target::new(self.ring[*slot].memory.as_mut(), crossing.kernel)
    }

    fn finish(&mut self) -> Result<()> {
        let (index, crossing) = self.current.take().ok_or_else(super::not_begun)?;
        if self.frames_late > 0 {
            self.ring[index].memory.submit()?;
        }
        self.in_flight.push_back((index, crossing));
        let handed_over = self.drain(self.frames_late);
        self.next = self.free_after(index);
        handed_over
    }

    fn flush(&mut self) -> Result<()> {
        self.drain(0)
    }

    fn frames_late(&self) -> usize {
        self.frames_late
    }

    fn slots(&self) -> usize {
        self.ring.len()
    }

    fn cancel(&mut self) {
        self.current = None;
    }

    fn surface(&self) -> &dyn Surface {
        self.surface.as_ref()
    }

    fn surface_mut(&mut self) -> &mut dyn Surface {
        self.surface.as_mut()
    }

    fn sync(&self) -> SyncKind {
        SyncKind::HostFence
    }
}
