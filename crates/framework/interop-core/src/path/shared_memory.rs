//! Paths without copies: one piece of memory that the kernel writes and the display reads.
//!
//! The module `pieces` knows who owns the memory. The display reads linear memory in place, or uploads from it if a
//! texture is needed; an image is a texture in place.

use super::contract::{SharingPath, not_begun};
use super::layout::{FrameLayout, FrameTransfer};
use super::pairing::Pairing;
use super::pieces::Piece;
use super::slot_sync::{RING_SLOTS, SlotSync};
use super::unwritten::{Ages, Clear, Reader, clear};
use crate::compute::{ComputeBackend, ComputeMemory, Target};
use crate::describe::error::{Error, Result};
use crate::describe::pattern::rows;
use crate::describe::surface::SurfaceDesc;
use crate::describe::view::View;
use crate::devices::capability::SyncKind;
use crate::devices::timeline::{FrameTag, step};
use crate::display::{Surface, SurfacePart};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// A piece of memory and its synchronisation.
struct Slot {
    piece: Piece,
    slot_sync: SlotSync,
    /// The frame whose pixels the slot holds.
    frame: Option<FrameTag>,
}

/// How the display reads the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadMethod {
    /// In place, for as long as it is shown.
    InPlace,
    /// Once, into a texture or buffer of its own.
    Upload,
    /// In place, as a texture. The display may draw into it, and its rows have no padding.
    Texture,
}

impl ReadMethod {
    /// A surface that is read so, and shows zero.
    fn surface(self, pairing: &Pairing<'_>) -> Result<Surface> {
        match self {
            Self::InPlace | Self::Texture => pairing.display.create_in_place_surface(pairing.desc),
            Self::Upload => pairing.display.create_surface(pairing.desc),
        }
    }
}

/// The path on which the display reads the very memory that kernels write.
pub struct SharedMemory {
    layout: FrameLayout,
    /// Bytes of each slot.
    room: usize,
    backend: Arc<dyn ComputeBackend>,
    surface: Surface,
    ring: Vec<Slot>,
    ages: Ages,
    reader: Reader,
    /// Number of slots that take turns, counted from the first. The last of them may not be made yet.
    in_use: usize,
    /// Number of further slots, used while readers outside this program keep some.
    spare: usize,
    reading: ReadMethod,
    whole: View,
    current: Option<(usize, FrameTransfer)>,
    /// Frames that are finished but not handed over yet, oldest first.
    in_flight: VecDeque<(usize, FrameTransfer)>,
    frames_behind: usize,
    /// Most frames behind for which the ring was made.
    most_behind: usize,
    sync: SyncKind,
    /// The slot that an in-place surface shows.
    shown: Option<usize>,
    /// Tag of the frame that was handed over last.
    shown_frame: Option<FrameTag>,
    next: usize,
}

impl SharedMemory {
    /// Opens a ring of slots that `make` creates, each of at least the given number of bytes. For a program's own
    /// memory: synchronisation, the ring, late frames, regions and the rule for unwritten pixels work as for the
    /// built-in paths.
    ///
    /// The sides synchronise as [`Pairing::sync`] says, by default with [`SyncKind::HostFence`]. [`SyncKind::Implicit`]
    /// is for two sides that use one queue.
    ///
    /// # Errors
    /// Those of the two sides and of `make`.
    pub fn open(
        pairing: &Pairing<'_>,
        reading: ReadMethod,
        mut make: impl FnMut(&Pairing<'_>, usize) -> Result<Piece>,
    ) -> Result<Self> {
        let (layout, reader) = match (reading, pairing.desc) {
            (ReadMethod::Texture, _) => (pairing.layout().unpadded(), Reader::InPlaceAndDraws),
            (ReadMethod::InPlace, SurfaceDesc::Image(_)) => (pairing.layout(), Reader::InPlace),
            (ReadMethod::InPlace, SurfaceDesc::Buffer(_)) => (pairing.layout(), Reader::InPlaceAndDraws),
            (ReadMethod::Upload, _) => (pairing.layout(), pairing.uploads()),
        };
        let bytes = layout.frame_bytes()?;
        let surface = reading.surface(pairing)?;
        let sync = pairing.sync.unwrap_or(SyncKind::HostFence);
        let slots = pairing.ring_of(slots_for(pairing.frames_behind, sync));
        let spare = pairing.display.caps().outside_readers;
        let made = slots.min(pairing.pieces_at_once.max(1));
        let mut slot = || Ok(Slot { piece: make(pairing, bytes)?, slot_sync: SlotSync::open(pairing)?, frame: None });
        let ring = (0..made).map(|_| slot()).collect::<Result<Vec<_>>>()?;
        Ok(Self {
            backend: Arc::clone(pairing.backend),
            whole: layout.whole()?,
            ages: Ages::new(&layout, reader, slots + spare)?,
            reader,
            layout,
            room: bytes,
            surface,
            in_use: slots,
            spare,
            ring,
            reading,
            current: None,
            in_flight: VecDeque::new(),
            frames_behind: pairing.frames_behind,
            most_behind: pairing.frames_behind,
            sync,
            shown: None,
            shown_frame: None,
            next: 0,
        })
    }

    /// Returns the memory of the frame that was begun last, for kernels that read it.
    pub(super) fn memory(&self) -> &dyn ComputeMemory {
        self.ring[self.slot()].piece.memory.as_ref()
    }

    /// Writes zeros, in queue order.
    fn clear(&mut self, slot: usize, view: View) -> Result<()> {
        self.ages.touched(slot);
        clear(self.backend.as_ref(), Target::new(self.ring[slot].piece.memory.as_mut(), view)?)
    }

    /// Copies missing content into a slot. The display's drawing around a part is kept, so it must be finished.
    fn copy_forward(&mut self, from: usize, to: usize, range: Range<usize>, is_part: bool) -> Result<()> {
        let _step = step!("copy forward");
        let is_shown = !self.in_flight.iter().any(|(slot, _)| *slot == from);
        let [source, target] = self
            .ring
            .get_disjoint_mut([from, to])
            .map_err(|_| Error::invalid("acquire", "the ring has no free slot"))?;
        if is_part && is_shown && self.reader == Reader::InPlaceAndDraws {
            source.piece.staging.fence()?;
            source.piece.staging.wait()?;
        }
        // The copy is in queue order after the kernels of the source and before those of the destination.
        self.backend.copy(source.piece.memory.as_ref(), target.piece.memory.as_mut(), range)?;
        self.ages.renewed(to);
        Ok(())
    }

    /// Returns the first slot after `index` that is not shown, not in flight and does not hold the newest frame. After
    /// a failure that need not be the next one. Among slots that are not made yet, returns the first.
    fn free_after(&self, index: usize) -> usize {
        let mut others = (1..=self.in_use).map(|step| (index + step) % self.in_use);
        // There is always one: half of the ring is in excess of the slots shown and in flight.
        others.find(|slot| !self.is_kept(*slot)).unwrap_or(0).min(self.ring.len())
    }

    fn is_kept(&self, slot: usize) -> bool {
        let kept = [self.shown, self.ages.newest()];
        kept.contains(&Some(slot)) || self.in_flight.iter().any(|(other, _)| *other == slot)
    }

    /// Advances to a slot that no reader outside this program keeps: the next one, another one that takes turns, or a
    /// spare one.
    fn pass_over_kept(&mut self) -> Result<()> {
        let turns = (0..self.in_use).map(|step| (self.next + step) % self.in_use);
        for slot in turns.chain(self.in_use..self.in_use + self.spare).collect::<Vec<_>>() {
            if slot >= self.ring.len() {
                // The first of those that are not made yet.
                self.next = self.ring.len();
                return Ok(());
            }
            if !self.is_kept(slot) && self.ring[slot].piece.staging.claim()? {
                self.next = slot;
                return Ok(());
            }
        }
        Err(Error::invalid("acquire", "readers outside this program keep every slot of the ring"))
    }

    /// Waits for the kernels of one frame and lets the display use it.
    fn hand_over(&mut self, index: usize, transfer: &FrameTransfer) -> Result<()> {
        let slot = &mut self.ring[index];
        let frame = slot.frame;
        // This is not always the frame that is being finished.
        let _tagged = FrameTag::enter(frame);
        let _step = step!("hand over", frame = frame.map(|tag| tag.frame), slot = index);
        slot.slot_sync.begin_display(slot.piece.memory.as_mut(), &mut slot.piece.staging)?;
        match self.reading {
            ReadMethod::Upload => {
                let uploading = step!("upload");
                self.surface.upload_staged(&transfer.part, &mut slot.piece.staging, &transfer.native)?;
                drop(uploading);
                slot.end_display();
            }
            ReadMethod::InPlace | ReadMethod::Texture => {
                self.surface.read_in_place(&slot.piece.staging, &self.whole)?;
                // Every draw of the previous frame has been submitted by now: its slot is free when those are done.
                if let Some(before) = self.shown.replace(index) {
                    self.ring[before].end_display();
                }
            }
        }
        self.shown_frame = frame;
        Ok(())
    }

    pub(super) fn has_views(&self) -> bool {
        self.reading != ReadMethod::Texture
    }

    pub(super) fn reads_in_place(&self) -> bool {
        self.reader == Reader::InPlace
    }

    pub(super) fn missing_pieces(&self) -> usize {
        self.in_use.saturating_sub(self.ring.len())
    }

    pub(super) fn lacks_piece(&mut self) -> Result<bool> {
        if self.spare > 0 {
            self.pass_over_kept()?;
        }
        Ok(self.next >= self.ring.len())
    }

    pub(super) fn take_pieces(&mut self, mut other: Self) {
        let missing = (self.in_use + self.spare).saturating_sub(self.ring.len());
        self.ring.extend(other.ring.drain(..).take(missing));
    }

    pub(super) fn forget(&mut self, pairing: &Pairing<'_>) -> Result<bool> {
        self.drain(0)?;
        let (surface, ages) = (self.reading.surface(pairing)?, self.ages.resized(&self.layout)?);
        if let Some(shown) = self.shown.take() {
            self.ring[shown].end_display();
        }
        // The earlier surface shows the slot that is written next.
        (self.surface, self.ages) = (surface, ages);
        (self.next, self.current, self.shown_frame) = (0, None, None);
        Ok(true)
    }

    /// Hands over frames until at most `left` are in flight. A frame whose hand-over fails stays the next.
    fn drain(&mut self, left: usize) -> Result<()> {
        while self.in_flight.len() > left {
            let Some((index, transfer)) = self.in_flight.pop_front() else { break };
            if let Err(error) = self.hand_over(index, &transfer) {
                self.in_flight.push_front((index, transfer));
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Number of slots of a ring with this lateness: one shown, one to write, those waiting to be handed over, and some
/// that the display still reads.
fn slots_for(frames_behind: usize, sync: SyncKind) -> usize {
    // If only the devices wait, as many slots in flight to the display as from the kernels pay off. If the host waits,
    // half of that is equally fast (measured on an NVIDIA H200).
    let still_read = if sync == SyncKind::HostFence { frames_behind / 2 } else { frames_behind };
    (frames_behind + still_read + 2).max(frames_behind + RING_SLOTS)
}

impl Slot {
    /// Copies the surface's content of a part into the memory, before the compute side's turn.
    fn fetch(&mut self, surface: &mut Surface, from: &FrameTransfer) -> Result<()> {
        let _step = step!("fetch back");
        let Piece { memory, staging } = &mut self.piece;
        if !self.slot_sync.by_host() {
            return surface.download(&from.part, staging, &from.native);
        }
        // Waits for kernels that read the previously fetched content, before the display overwrites it.
        memory.release()?;
        surface.download(&from.part, staging, &from.native)?;
        staging.wait()
    }

    fn end_display(&mut self) {
        self.slot_sync.end_display(&mut self.piece.staging);
    }
}

impl SharingPath for SharedMemory {
    fn begin(&mut self, part: &SurfacePart) -> Result<()> {
        let slot = self.next;
        let Some(Slot { piece, slot_sync, .. }) = self.ring.get_mut(slot) else {
            return Err(Error::invalid("begin", "the ring's next slot is not made yet"));
        };
        slot_sync.begin_compute(&mut piece.staging)?;
        let transfer = self.layout.in_place(part)?;
        let plan = self.ages.begin(slot, &transfer);
        if plan.fetch {
            self.ring[slot].fetch(&mut self.surface, &transfer)?;
        }
        self.ring[slot].piece.memory.acquire()?;
        self.ring[slot].frame = FrameTag::current().map(|tag| FrameTag { slot, ..tag });
        if self.frames_behind > 0 && self.ring[slot].slot_sync.by_host() {
            self.backend.defer_submission()?;
        }
        if let Some((from, range)) = plan.copy {
            self.copy_forward(from, slot, range, *part != self.layout.full())?;
        }
        match plan.clear {
            Clear::Nothing => {}
            Clear::Part => self.clear(slot, transfer.kernel)?,
            Clear::Whole => {
                self.clear(slot, self.whole)?;
                self.ages.cleared(slot);
            }
        }
        self.current = Some((slot, transfer));
        Ok(())
    }

    fn target(&mut self) -> Result<Target<'_>> {
        let (slot, transfer) = self.current.as_ref().ok_or_else(not_begun)?;
        self.ages.touched(*slot);
        Target::new(self.ring[*slot].piece.memory.as_mut(), transfer.kernel)
    }

    fn finish(&mut self) -> Result<()> {
        let (index, transfer) = self.current.take().ok_or_else(not_begun)?;
        let Slot { piece, slot_sync, .. } = &mut self.ring[index];
        if self.frames_behind > 0 || !slot_sync.by_host() {
            slot_sync.end_compute(piece.memory.as_mut(), &mut piece.staging)?;
        }
        self.in_flight.push_back((index, transfer));
        let handed_over = self.drain(self.frames_behind);
        match handed_over {
            Ok(()) => self.ages.finished(index),
            // This frame is discarded; those before it are still in flight.
            Err(_) => drop(self.in_flight.pop_back()),
        }
        self.next = self.free_after(index);
        handed_over
    }

    fn flush(&mut self) -> Result<()> {
        self.drain(0)
    }

    fn overlay_unshown(&mut self, shown: &mut [u8]) -> Result<()> {
        let tight = self.layout.tight();
        for (index, transfer) in &self.in_flight {
            let span = transfer.native.span();
            let mut bytes = vec![0; span.len()];
            self.ring[*index].piece.memory.read(span.start, &mut bytes)?;
            let to = tight.in_place(&transfer.part)?.native;
            for ((_, to), (_, from)) in rows(&to).zip(rows(&transfer.native)) {
                shown[to].copy_from_slice(&bytes[from.start - span.start..from.end - span.start]);
            }
        }
        Ok(())
    }

    fn frames_behind(&self) -> usize {
        self.frames_behind
    }

    fn set_frames_behind(&mut self, frames: usize) -> Result<()> {
        self.drain(0)?;
        self.frames_behind = frames.min(self.most_behind);
        self.in_use = slots_for(self.frames_behind, self.sync);
        self.next = self.free_after(self.next);
        Ok(())
    }

    fn trim(&mut self) {
        // The surface keeps the memory that it shows alive.
        self.shown = self.shown.filter(|slot| *slot < self.in_use + self.spare);
        self.ring.truncate(self.in_use + self.spare);
        self.ages.truncate(self.in_use + self.spare);
    }

    fn resize(&mut self, pairing: &Pairing<'_>) -> Result<Option<Surface>> {
        let layout = pairing.layout();
        if !self.has_views() || layout.frame_bytes()? > self.room {
            return Ok(None);
        }
        let surface = self.reading.surface(pairing)?;
        let (whole, ages) = (layout.whole()?, self.ages.resized(&layout)?);
        self.drain(0)?;
        (self.layout, self.whole, self.ages, self.current) = (layout, whole, ages, None);
        // A surface that reads in place keeps showing its slot, which stays the shown one.
        self.next = self.free_after(self.next);
        Ok(Some(std::mem::replace(&mut self.surface, surface)))
    }

    fn slots(&self) -> usize {
        self.in_use.min(self.ring.len())
    }

    fn slot(&self) -> usize {
        self.current.as_ref().map_or(self.next, |(slot, _)| *slot)
    }

    fn shown_frame(&self) -> Option<FrameTag> {
        self.shown_frame
    }

    fn cancel(&mut self) {
        self.current = None;
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
