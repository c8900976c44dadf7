//! One piece of memory that both sides address: the kernel writes it, the display reads it, nobody copies.
//!
//! Linear memory is the display's (a persistently mapped buffer), neutral pages that both import (pinned memory), or the
//! compute device's or that of the display's device (exported by a handle). The display reads it in place, or uploads
//! from it where a texture is needed. An image is the compute device's or the display's, exported by a handle, and is a texture in place.

use super::turns::Turns;
use super::unwritten::{Ages, Reader, clear};
use super::{Crossing, FrameLayout, Pairing, RING_SLOTS, SharingPath};
use crate::capability::{HandleType, SyncKind};
use crate::compute::{ComputeBackend, ComputeMemory, Target};
use crate::display::{Part, Staging, StagingKind, Surface};
use crate::error::{Error, Result};
use crate::host_block::HostBlock;
use crate::pattern::rows;
use crate::surface::SurfaceDesc;
use crate::timeline::{FrameTag, step};
use crate::view::View;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// One block; `memory` goes first because it lies inside `staging`.
struct Slot {
    memory: Box<dyn ComputeMemory>,
    staging: Box<dyn Staging>,
    turns: Turns,
    /// Whose pixels it holds.
    frame: Option<FrameTag>,
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
    /// Memory of the display's device, made to be opened by others.
    DisplayMemory,
    /// An image of the compute device's, opened by the display as a texture.
    ComputeImage,
    /// A texture of the display's, made to be opened by others.
    DisplayImage,
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
    ages: Ages,
    reader: Reader,
    /// Slots from the first on that take turns.
    in_use: usize,
    reading: Reading,
    whole: View,
    current: Option<(usize, Crossing)>,
    /// Frames that are finished but not handed over yet, oldest first.
    in_flight: VecDeque<(usize, Crossing)>,
    frames_late: usize,
    /// What the ring was made for.
    most_late: usize,
    sync: SyncKind,
    /// The slot that an in-place surface shows.
    shown: Option<usize>,
    /// What was handed over last.
    shown_frame: Option<FrameTag>,
    next: usize,
}

impl SharedMemory {
    pub(super) fn open(pairing: &Pairing<'_>, owner: Owner, reading: Reading) -> Result<Self> {
        let (layout, reader) = match (owner, reading) {
            (Owner::ComputeImage | Owner::DisplayImage, _) => (pairing.layout().unpadded(), Reader::InPlaceAndDraws),
            (_, Reading::InPlace) => (pairing.layout(), Reader::InPlace),
            (_, Reading::Upload) => (pairing.layout(), Reader::Uploads),
        };
        let bytes = layout.frame_bytes()?;
        let surface = match reading {
            Reading::InPlace => pairing.display.create_in_place_surface(pairing.desc)?,
            Reading::Upload => pairing.display.create_surface(pairing.desc)?,
        };
        let sync = pairing.sync.unwrap_or(SyncKind::HostFence);
        let slots = slots_for(pairing.frames_late, sync);
        let ring = (0..slots).map(|_| Slot::open(pairing, owner, bytes)).collect::<Result<Vec<_>>>()?;
        Ok(Self {
            backend: Arc::clone(pairing.backend),
            whole: layout.whole()?,
            ages: Ages::new(&layout, reader, ring.len())?,
            reader,
            layout,
            surface,
            in_use: ring.len(),
            ring,
            reading,
            current: None,
            in_flight: VecDeque::new(),
            frames_late: pairing.frames_late,
            most_late: pairing.frames_late,
            sync,
            shown: None,
            shown_frame: None,
            next: 0,
        })
    }

    /// Brings a slot up to date. The display's own drawing around a part is kept, so it must be over.
    fn copy_forward(&mut self, from: usize, to: usize, range: Range<usize>, is_part: bool) -> Result<()> {
        let _step = step!("copy forward");
        let is_shown = !self.in_flight.iter().any(|(slot, _)| *slot == from);
        let [source, target] = self
            .ring
            .get_disjoint_mut([from, to])
            .map_err(|_| Error::invalid("acquire", "the ring has no slot that is not shown"))?;
        if is_part && is_shown && self.reader == Reader::InPlaceAndDraws {
            source.staging.fence()?;
            source.staging.wait()?;
        }
        // In queue order after the kernels of the one, before those of the other.
        self.backend.copy(source.memory.as_ref(), target.memory.as_mut(), range)?;
        self.ages.renewed(to);
        Ok(())
    }

    /// The first slot after `index` that neither is shown, nor waits to be, nor holds the newest frame; after a failure
    /// that need not be the next.
    fn free_after(&self, index: usize) -> usize {
        let kept = [self.shown, self.ages.newest()];
        let used = |slot| kept.contains(&Some(slot)) || self.in_flight.iter().any(|(other, _)| *other == slot);
        let mut others = (1..=self.in_use).map(|step| (index + step) % self.in_use);
        // There is always one: half of the ring is beyond those shown and in flight.
        others.find(|slot| !used(*slot)).unwrap_or(0)
    }

    /// Waits for the kernels of one frame and lets the display have it.
    fn hand_over(&mut self, index: usize, crossing: &Crossing) -> Result<()> {
        let slot = &mut self.ring[index];
        let frame = slot.frame;
        // Not always the frame that is being finished.
        let _tagged = FrameTag::enter(frame);
        let _step = step!("hand over", frame = frame.map(|tag| tag.frame), slot = index);
        slot.turns.begin_display(slot.memory.as_mut(), slot.staging.as_mut())?;
        match self.reading {
            Reading::Upload => {
                let uploading = step!("upload");
                self.surface.upload_staged(&crossing.part, slot.staging.as_mut(), &crossing.native)?;
                drop(uploading);
                slot.end_display();
            }
            Reading::InPlace => {
                self.surface.read_in_place(slot.staging.as_ref(), &self.whole)?;
                // Every draw of the frame before has been submitted by now: its slot is free when they are done.
                if let Some(before) = self.shown.replace(index) {
                    self.ring[before].end_display();
                }
            }
        }
        self.shown_frame = frame;
        Ok(())
    }

    /// Hands over frames until at most `left` are on their way. One that cannot be stays the next.
    fn drain(&mut self, left: usize) -> Result<()> {
        while self.in_flight.len() > left {
            let Some((index, crossing)) = self.in_flight.pop_front() else { break };
            if let Err(error) = self.hand_over(index, &crossing) {
                self.in_flight.push_front((index, crossing));
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Slots of a ring that shows frames so late: one shown, one to write, those that wait to be handed over, and some that the
/// display still reads.
fn slots_for(frames_late: usize, sync: SyncKind) -> usize {
    // Where only the devices wait, as many on their way to the display as from the kernels pay off; where the host does,
    // half of that is as quick (measured on an NVIDIA H200).
    let still_read = if sync == SyncKind::HostFence { frames_late / 2 } else { frames_late };
    (frames_late + still_read + 2).max(frames_late + RING_SLOTS)
}

impl Slot {
    fn open(pairing: &Pairing<'_>, owner: Owner, bytes: usize) -> Result<Self> {
        let (memory, staging) = Self::memory(pairing, owner, bytes)?;
        Ok(Self { memory, staging, turns: Turns::open(pairing)?, frame: None })
    }

    fn memory(pairing: &Pairing<'_>, owner: Owner, bytes: usize) -> Result<(Box<dyn ComputeMemory>, Box<dyn Staging>)> {
        let (display, backend) = (pairing.display, pairing.backend);
        let image = || match pairing.desc {
            SurfaceDesc::Image(image) => Ok(*image),
            SurfaceDesc::Buffer(_) => Err(Error::invalid("open", "a buffer is no texture")),
        };
        let staging = match owner {
            Owner::Display => display.create_staging(StagingKind::Persistent, bytes)?,
            Owner::Neutral => display.create_staging(StagingKind::Imported(HostBlock::allocate(bytes)?), bytes)?,
            Owner::Compute => {
                let (memory, handle) = backend.allocate_shared(bytes, HandleType::OPAQUE, display.device())?;
                return Ok((memory, display.create_staging(StagingKind::External(handle), bytes)?));
            }
            Owner::ComputeImage => {
                let image = image()?;
                let (memory, handle) = backend.allocate_shared_image(&image, HandleType::OPAQUE)?;
                return Ok((memory, display.create_staging(StagingKind::ExternalImage(handle, image), bytes)?));
            }
            Owner::DisplayMemory => {
                let staging = display.create_staging(StagingKind::Exported, bytes)?;
                let handle = staging.export(HandleType::OPAQUE)?;
                return Ok((backend.import_surface(&handle, &SurfaceDesc::buffer(bytes as u64))?, staging));
            }
            Owner::DisplayImage => {
                let staging = display.create_staging(StagingKind::ExportedImage(image()?), bytes)?;
                let handle = staging.export(HandleType::OPAQUE)?;
                return Ok((backend.import_surface(&handle, pairing.desc)?, staging));
            }
        };
        let block = staging.host_block().ok_or_else(|| Error::Unsupported {
            operation: "create_staging",
            device: display.device().to_string(),
            reason: "the block has no fixed address".into(),
        })?;
        Ok((backend.import_host(&block)?, staging))
    }

    fn end_display(&mut self) {
        self.turns.end_display(self.staging.as_mut());
    }
}

impl SharingPath for SharedMemory {
    fn begin(&mut self, part: &Part) -> Result<()> {
        let slot = self.next;
        let Slot { staging, turns, .. } = &mut self.ring[slot];
        turns.begin_compute(staging.as_mut())?;
        let crossing = self.layout.in_place(part)?;
        self.ring[slot].memory.acquire()?;
        self.ring[slot].frame = FrameTag::current().map(|tag| FrameTag { slot, ..tag });
        if self.frames_late > 0 && self.ring[slot].turns.by_host() {
            self.backend.hold_back()?;
        }
        let plan = self.ages.begin(slot, &crossing);
        if let Some((from, range)) = plan.copy {
            self.copy_forward(from, slot, range, *part != self.layout.full())?;
        }
        self.current = Some((slot, crossing));
        if plan.clear {
            let backend = Arc::clone(&self.backend);
            let cleared = self.target().and_then(|target| clear(backend.as_ref(), target));
            if cleared.is_err() {
                self.current = None;
            }
            return cleared;
        }
        Ok(())
    }

    fn target(&mut self) -> Result<Target<'_>> {
        let (slot, crossing) = self.current.as_ref().ok_or_else(super::not_begun)?;
        self.ages.touched(*slot);
        Target::new(self.ring[*slot].memory.as_mut(), crossing.kernel)
    }

    fn finish(&mut self) -> Result<()> {
        let (index, crossing) = self.current.take().ok_or_else(super::not_begun)?;
        let Slot { memory, staging, turns, .. } = &mut self.ring[index];
        if self.frames_late > 0 || !turns.by_host() {
            turns.end_compute(memory.as_mut(), staging.as_mut())?;
        }
        self.in_flight.push_back((index, crossing));
        let handed_over = self.drain(self.frames_late);
        match handed_over {
            Ok(()) => self.ages.finished(index),
            // This frame is given up; those before it are on their way still.
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
        for (index, crossing) in &self.in_flight {
            let span = crossing.native.span();
            let mut bytes = vec![0; span.len()];
            self.ring[*index].memory.read(span.start, &mut bytes)?;
            let to = tight.in_place(&crossing.part)?.native;
            for ((_, to), (_, from)) in rows(&to).zip(rows(&crossing.native)) {
                shown[to].copy_from_slice(&bytes[from.start - span.start..from.end - span.start]);
            }
        }
        Ok(())
    }

    fn frames_late(&self) -> usize {
        self.frames_late
    }

    fn set_frames_late(&mut self, frames: usize) -> Result<()> {
        self.drain(0)?;
        self.frames_late = frames.min(self.most_late);
        self.in_use = slots_for(self.frames_late, self.sync);
        self.next = self.free_after(self.next);
        Ok(())
    }

    fn trim(&mut self) {
        // The surface keeps what it shows alive.
        self.shown = self.shown.filter(|slot| *slot < self.in_use);
        self.ring.truncate(self.in_use);
        self.ages.truncate(self.in_use);
    }

    fn slots(&self) -> usize {
        self.in_use
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
