//! Through staging blocks of the display: the compute side copies its memory into a mapped pixel buffer object, and the
//! display uploads from there while the host continues.

use super::canvas::Canvas;
use super::contract::SharingPath;
use super::pairing::Pairing;
use super::slot_sync::{RING_SLOTS, SlotSync};
use crate::compute::Target;
use crate::describe::error::Result;
use crate::devices::capability::SyncKind;
use crate::devices::timeline::step;
use crate::display::{Staging, StagingKind, Surface, SurfacePart};
use std::any::Any;

/// One block, with the registration that lets the compute side copy into it at full speed; dropped in this order.
struct Slot {
    _prepared: Option<Box<dyn Any + Send + Sync>>,
    staging: Staging,
    slot_sync: SlotSync,
}

impl Slot {
    fn open(pairing: &Pairing<'_>, kind: StagingKind, bytes: usize) -> Result<Self> {
        let staging = pairing.display.create_staging(kind, bytes)?;
        let prepared = match staging.host_block() {
            Some(block) => pairing.backend.prepare_host(&block)?,
            None => None,
        };
        Ok(Self { _prepared: prepared, staging, slot_sync: SlotSync::open(pairing)? })
    }
}

/// The path on which the compute side fills staging blocks, from which the display uploads.
pub struct PboStaging {
    pub(super) canvas: Canvas,
    ring: Vec<Slot>,
    next: usize,
    surface: Surface,
    sync: SyncKind,
}

impl PboStaging {
    /// Opens a ring of blocks that stay mapped, each guarded by a fence.
    pub(super) fn open_persistent(pairing: &Pairing<'_>) -> Result<Self> {
        Self::open(pairing, || StagingKind::Persistent, RING_SLOTS, SyncKind::HostFence)
    }

    /// Opens one block that is mapped again for each frame; the driver gives it new memory while it is busy.
    pub(super) fn open_orphan(pairing: &Pairing<'_>) -> Result<Self> {
        Self::open(pairing, || StagingKind::Orphaned, 1, SyncKind::Implicit)
    }

    fn open(pairing: &Pairing<'_>, kind: fn() -> StagingKind, slots: usize, sync: SyncKind) -> Result<Self> {
        let bytes = pairing.layout().frame_bytes()?;
        let canvas = Canvas::open(pairing)?;
        let ring =
            (0..pairing.ring_of(slots)).map(|_| Slot::open(pairing, kind(), bytes)).collect::<Result<Vec<_>>>()?;
        let surface = pairing.display.create_surface(pairing.desc)?;
        Ok(Self { canvas, ring, next: 0, surface, sync })
    }
}

impl SharingPath for PboStaging {
    fn begin(&mut self, part: &SurfacePart) -> Result<()> {
        let staging = &mut self.ring[self.next].staging;
        self.canvas.begin_by(part, &mut self.surface, Some(staging))
    }

    fn target(&mut self) -> Result<Target<'_>> {
        self.canvas.target()
    }

    fn finish(&mut self) -> Result<()> {
        let (memory, transfer) = self.canvas.end()?;
        let Slot { staging, slot_sync, .. } = &mut self.ring[self.next];
        let span = transfer.native.span();
        slot_sync.begin_compute(staging)?;
        let reading = step!("read");
        staging.map_write(&mut |mapped| memory.read(span.start, &mut mapped[span.clone()]))?;
        drop(reading);
        let uploading = step!("upload");
        self.surface.upload_staged(&transfer.part, staging, &transfer.native)?;
        drop(uploading);
        slot_sync.end_display(staging);
        self.next = (self.next + 1) % self.ring.len();
        self.canvas.finished();
        Ok(())
    }

    fn resize(&mut self, pairing: &Pairing<'_>) -> Result<Option<Surface>> {
        let surface = pairing.display.create_surface(pairing.desc)?;
        Ok(self.canvas.resize(pairing)?.then(|| std::mem::replace(&mut self.surface, surface)))
    }

    fn slots(&self) -> usize {
        self.ring.len()
    }

    fn slot(&self) -> usize {
        self.next
    }

    fn cancel(&mut self) {
        self.canvas.cancel();
    }

    fn surface(&self) -> &Surface {
        &self.surface
    }

    fn surface_mut(&mut self) -> &mut Surface {
        &mut self.surface
    }

    fn sync(&self) -> SyncKind {
        self.sync
    }
}
