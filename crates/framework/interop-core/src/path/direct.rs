//! Direct paths: the compute API opens the display's own textures or buffers, and kernels write what the draw reads.
//!
//! Two of them take turns, so that a discarded or failed frame never touches the shown one. An engine's object has no
//! second one.

use super::contract::{SharingPath, not_begun};
use super::layout::{FrameLayout, FrameTransfer};
use super::pairing::{Direction, Pairing};
use super::unwritten::{Ages, Clear, Reader, clear};
use crate::compute::{ComputeBackend, ComputeMemory, MemoryDriver, Target};
use crate::describe::error::{Error, Result};
use crate::describe::surface::SurfaceDesc;
use crate::devices::capability::{HandleType, SyncKind};
use crate::devices::timeline::step;
use crate::display::{Display, Surface, SurfacePart};
use std::mem::{replace, swap};
use std::ops::Range;
use std::sync::Arc;

const SLOTS: usize = 2;

struct Slot {
    memory: Box<dyn ComputeMemory>,
    surface: Surface,
    display: Arc<dyn Display>,
    /// True while kernels may use it, until it is given back.
    acquired: bool,
}

impl Slot {
    fn open(pairing: &Pairing<'_>, handle: HandleType) -> Result<Self> {
        let surface = pairing.display.create_surface(pairing.desc)?;
        let mut memory = pairing.backend.import_surface(&surface.export(handle)?, pairing.desc)?;
        if pairing.sync == Some(SyncKind::SharedEvent) {
            memory.set_sync(SyncKind::SharedEvent)?;
        }
        Ok(Self { memory, surface, display: Arc::clone(pairing.display), acquired: false })
    }

    /// Drops the registration before its object, and only while the display's context is current.
    fn put(&mut self, memory: Box<dyn ComputeMemory>) {
        self.display.drop_in_context(Box::new(replace(&mut self.memory, memory)));
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.put(Box::new(AbsentMemory));
    }
}

/// The path on which kernels write the display's own textures or buffers.
pub struct DirectPath {
    layout: FrameLayout,
    backend: Arc<dyn ComputeBackend>,
    ring: Vec<Slot>,
    ages: Ages,
    shown: usize,
    current: Option<FrameTransfer>,
    sync: SyncKind,
    /// Handle type with which the compute API opens the objects.
    handle: HandleType,
    /// Direction, where the surface is an engine's object.
    object: Option<Direction>,
    /// Linear copy of such a texture, for kernels that read it.
    linear: Option<Box<dyn ComputeMemory>>,
}

impl DirectPath {
    pub(super) fn open(pairing: &Pairing<'_>, handle: HandleType) -> Result<Self> {
        let made = pairing.ring_of(SLOTS).min(pairing.pieces_at_once.max(1));
        let ring = (0..made).map(|_| Slot::open(pairing, handle)).collect::<Result<Vec<_>>>()?;
        let backend = Arc::clone(pairing.backend);
        let sync = pairing.sync.unwrap_or(SyncKind::Implicit);
        let layout = pairing.layout().unpadded();
        let reader = if pairing.object.is_some() { Reader::UploadsBesideAnother } else { Reader::InPlaceAndDraws };
        let ages = Ages::new(&layout, reader, SLOTS)?;
        let linear = match (pairing.object, pairing.desc) {
            (Some(Direction::Take), SurfaceDesc::Image(_)) => Some(backend.allocate(ring[0].memory.len())?),
            _ => None,
        };
        let object = pairing.object;
        Ok(Self { layout, backend, ring, ages, shown: 0, current: None, sync, handle, object, linear })
    }

    fn next(&self) -> usize {
        (self.shown + 1) % self.ring.len()
    }

    /// Opens another engine's object of the same kind, and leaves the previous one in its place.
    pub(super) fn exchange(&mut self, object: &mut Surface) -> Result<()> {
        let mut memory = self.backend.import_surface(&object.export(self.handle)?, self.layout.desc())?;
        // Some drivers reject an object only when it is used.
        memory.acquire().and_then(|()| memory.release())?;
        let slot = &mut self.ring[self.shown];
        slot.put(memory);
        (slot.acquired, self.current) = (false, None);
        swap(&mut slot.surface, object);
        Ok(())
    }

    /// Returns the memory of the frame that was begun last, for kernels that read it.
    pub(super) fn memory(&self) -> &dyn ComputeMemory {
        self.linear.as_ref().unwrap_or(&self.ring[self.next()].memory).as_ref()
    }

    /// Begins the compute side's turn with an object.
    fn acquire(&mut self, slot: usize) -> Result<()> {
        // A panic or another context may have left a turn open.
        self.give_back(slot)?;
        let Slot { memory, surface, display, acquired } = &mut self.ring[slot];
        if self.object.is_some() {
            // The engine may have replaced its object; the display reports that.
            surface.export(self.handle)?;
        }
        if self.sync == SyncKind::Finish {
            display.finish()?;
        }
        let _step = step!("acquire");
        memory.acquire()?;
        *acquired = true;
        Ok(())
    }

    /// Ends the compute side's turn, if one is open.
    fn give_back(&mut self, slot: usize) -> Result<()> {
        let Slot { memory, acquired, .. } = &mut self.ring[slot];
        if !*acquired {
            return Ok(());
        }
        match self.handle {
            // The queue keeps the order once the work is submitted.
            HandleType::QueueBuffer(_) => memory.submit()?,
            _ => memory.release()?,
        }
        let is_buffer = matches!(self.layout.desc(), SurfaceDesc::Buffer(_));
        if self.object.is_some() && is_buffer && self.handle == HandleType::GlObject {
            // The engine may write the buffer from the host next. NVIDIA's driver orders what its GPU does after the
            // release, but not that: `glBufferSubData` came before the kernel (docs/drivers.md).
            self.backend.finish()?;
        }
        *acquired = false;
        Ok(())
    }

    /// Copies the missing content from the shown object to the one that is written next.
    fn copy_forward(&mut self, from: usize, range: Range<usize>) -> Result<()> {
        let _step = step!("copy forward");
        let next = self.next();
        let [from, to] = self.ring.get_disjoint_mut([from, next]).map_err(|_| not_begun())?;
        from.memory.acquire()?;
        let copied = self.backend.copy(from.memory.as_ref(), to.memory.as_mut(), range);
        from.memory.release().and(copied)?;
        self.ages.renewed(next);
        Ok(())
    }

    fn prepare(&mut self, transfer: FrameTransfer) -> Result<()> {
        let next = self.next();
        let plan = self.ages.begin(next, &transfer);
        self.current = Some(transfer);
        if let Some((from, range)) = plan.copy {
            self.copy_forward(from, range)?;
        }
        if let (true, Some(linear)) = (plan.fetch, &mut self.linear) {
            let object = self.ring[next].memory.as_ref();
            let copied = self.backend.copy(object, linear.as_mut(), 0..object.len());
            return self.give_back(next).and(copied);
        }
        let backend = Arc::clone(&self.backend);
        match plan.clear {
            Clear::Nothing => {}
            Clear::Part => clear(backend.as_ref(), self.target()?)?,
            Clear::Whole => {
                let whole = self.layout.whole()?;
                self.ages.touched(next);
                clear(backend.as_ref(), Target::new(self.ring[next].memory.as_mut(), whole)?)?;
                self.ages.cleared(next);
            }
        }
        Ok(())
    }

    pub(super) fn is_texture(&self) -> bool {
        matches!(self.layout.desc(), SurfaceDesc::Image(_))
    }

    pub(super) fn missing_pieces(&self) -> usize {
        SLOTS - self.ring.len()
    }

    pub(super) fn lacks_piece(&self) -> bool {
        // The first frame uses the first slot.
        self.missing_pieces() > 0 && self.ages.newest().is_some()
    }

    pub(super) fn take_pieces(&mut self, mut other: Self) {
        let missing = self.missing_pieces();
        self.ring.extend(other.ring.drain(..).take(missing));
    }

    pub(super) fn forget(&mut self) -> Result<bool> {
        self.cancel();
        self.ages = self.ages.resized(&self.layout)?;
        self.shown = self.ring.len() - 1;
        Ok(true)
    }
}

impl SharingPath for DirectPath {
    fn begin(&mut self, part: &SurfacePart) -> Result<()> {
        let transfer = self.layout.in_place(part)?;
        if self.current.is_some() {
            self.cancel();
        }
        self.acquire(self.next())?;
        let prepared = self.prepare(transfer);
        if prepared.is_err() {
            self.cancel();
        }
        prepared
    }

    fn target(&mut self) -> Result<Target<'_>> {
        let view = self.current.as_ref().ok_or_else(not_begun)?.kernel;
        let next = self.next();
        self.ages.touched(next);
        Target::new(self.linear.as_mut().unwrap_or(&mut self.ring[next].memory).as_mut(), view)
    }

    fn finish(&mut self) -> Result<()> {
        self.current.take().ok_or_else(not_begun)?;
        let next = self.next();
        let _step = step!("release");
        self.give_back(next)?;
        if self.sync == SyncKind::Finish {
            self.backend.finish()?;
        }
        self.shown = next;
        self.ages.finished(next);
        Ok(())
    }

    fn slots(&self) -> usize {
        self.ring.len()
    }

    fn slot(&self) -> usize {
        self.next()
    }

    fn cancel(&mut self) {
        if self.current.take().is_none() {
            return;
        }
        if let Err(error) = self.give_back(self.next()) {
            tracing::warn!(%error, "could not return a discarded frame to the display");
        }
    }

    fn surface(&self) -> &Surface {
        &self.ring[self.shown].surface
    }

    fn surface_mut(&mut self) -> &mut Surface {
        &mut self.ring[self.shown].surface
    }

    fn sync(&self) -> SyncKind {
        self.sync
    }
}

/// Placeholder for memory that must be dropped after its owner, or that a path does not have.
pub(super) struct AbsentMemory;

impl MemoryDriver for AbsentMemory {
    fn len(&self) -> usize {
        0
    }

    fn read(&mut self, _: usize, _: &mut [u8]) -> Result<()> {
        Err(gone())
    }

    fn write(&mut self, _: usize, _: &[u8]) -> Result<()> {
        Err(gone())
    }

    fn release(&mut self) -> Result<()> {
        Err(gone())
    }
}

fn gone() -> Error {
    Error::refused("the memory was returned to the display")
}
