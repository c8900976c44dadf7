//! Through staging blocks of the display: the compute side reads its memory straight into a mapped pixel buffer
//! object, the display uploads from there while the host goes on.

use super::turns::Turns;
use super::{Crossing, FrameLayout, Pairing, RING_SLOTS, SharingPath};
use crate::capability::SyncKind;
use crate::compute::{ComputeMemory, Target};
use crate::display::{Part, Staging, StagingKind, Surface};
use crate::error::Result;
use crate::timeline::step;
use std::any::Any;

/// One block, and what makes the compute side copy into it at full speed; dropped in this order.
struct Slot {
    _prepared: Option<Box<dyn Any>>,
    staging: Box<dyn Staging>,
    turns: Turns,
}

impl Slot {
    fn open(pairing: &Pairing<'_>, kind: StagingKind, bytes: usize) -> Result<Self> {
        let staging = pairing.display.create_staging(kind, bytes)?;
        let prepared = match staging.host_block() {
            Some(block) => pairing.backend.prepare_host(&block)?,
            None => None,
        };
        Ok(Self { _prepared: prepared, staging, turns: Turns::open(pairing)? })
    }
}

/// See the module.
pub struct PboStaging {
    layout: FrameLayout,
    memory: Box<dyn ComputeMemory>,
    ring: Vec<Slot>,
    next: usize,
    surface: Box<dyn Surface>,
    current: Option<Crossing>,
    sync: SyncKind,
}

impl PboStaging {
    /// A ring of blocks that stay mapped, each guarded by a fence.
    pub(super) fn open_persistent(pairing: &Pairing<'_>) -> Result<Self> {
        Self::open(pairing, || StagingKind::Persistent, RING_SLOTS, SyncKind::HostFence)
    }

    /// One block, mapped anew for each frame; the driver renames its memory while it is busy.
    pub(super) fn open_orphan(pairing: &Pairing<'_>) -> Result<Self> {
        Self::open(pairing, || StagingKind::Orphaned, 1, SyncKind::Implicit)
    }

    fn open(pairing: &Pairing<'_>, kind: fn() -> StagingKind, slots: usize, sync: SyncKind) -> Result<Self> {
        let layout = pairing.layout();
        let bytes = layout.frame_bytes()?;
        let memory = pairing.backend.allocate(bytes)?;
        let ring = (0..slots).map(|_| Slot::open(pairing, kind(), bytes)).collect::<Result<Vec<_>>>()?;
        let surface = pairing.display.create_surface(pairing.desc)?;
        Ok(Self { layout, memory, ring, next: 0, surface, current: None, sync })
    }
}

impl SharingPath for PboStaging {
    fn begin(&mut self, part: &Part) -> Result<()> {
        self.current = Some(self.layout.packed(part)?);
        Ok(())
    }

    fn target(&mut self) -> Result<Target<'_>> {
        let crossing = self.current.as_ref().ok_or_else(super::not_begun)?;
        Target::new(self.memory.as_mut(), crossing.kernel)
    }

    fn finish(&mut self) -> Result<()> {
        let crossing = self.current.take().ok_or_else(super::not_begun)?;
        let memory = &mut self.memory;
        let Slot { staging, turns, .. } = &mut self.ring[self.next];
        let len = crossing.native.span().end;
        turns.begin_compute(staging.as_mut())?;
        let reading = step!("read");
        staging.fill(&mut |mapped| memory.read(0, &mut mapped[..len]))?;
        drop(reading);
        let uploading = step!("upload");
        self.surface.upload_staged(&crossing.part, staging.as_mut(), &crossing.native)?;
        drop(uploading);
        turns.end_display(staging.as_mut());
        self.next = (self.next + 1) % self.ring.len();
        Ok(())
    }

    fn slots(&self) -> usize {
        self.ring.len()
    }

    fn slot(&self) -> usize {
        self.next
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
        self.sync
    }
}
