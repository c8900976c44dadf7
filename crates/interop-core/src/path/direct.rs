//! The display's own textures or buffers, opened by the compute API: kernels write what the draw reads.
//!
//! Two of them take turns, so that a frame given up, or one that failed, never touches the one on show.

use super::contract::{SharingPath, not_begun};
use super::layout::{Crossing, FrameLayout};
use super::pairing::Pairing;
use super::unwritten::{Ages, Clear, Reader, clear};
use crate::compute::{ComputeBackend, ComputeMemory, Target};
use crate::describe::error::Result;
use crate::describe::surface::SurfaceDesc;
use crate::devices::capability::{HandleType, SyncKind};
use crate::devices::timeline::step;
use crate::display::{Display, Part, Surface};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

const SLOTS: usize = 2;

struct Slot {
    /// `None` only while the slot is dropped.
    memory: Option<Box<dyn ComputeMemory>>,
    surface: Surface,
    display: Rc<dyn Display>,
}

impl Slot {
    fn open(pairing: &Pairing<'_>) -> Result<Self> {
        let surface = pairing.display.create_surface(pairing.desc)?;
        let handle = surface.export(HandleType::GlObject)?;
        let mut memory = pairing.backend.import_surface(&handle, pairing.desc)?;
        if pairing.sync == Some(SyncKind::SharedEvent) {
            memory.set_sync(SyncKind::SharedEvent)?;
        }
        Ok(Self { memory: Some(memory), surface, display: Rc::clone(pairing.display) })
    }

    fn memory(&mut self) -> Result<&mut dyn ComputeMemory> {
        match &mut self.memory {
            Some(memory) => Ok(memory.as_mut()),
            None => Err(not_begun()),
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // The registration goes before the object it names, and only where the display's context can be reached.
        if let Some(memory) = self.memory.take() {
            self.display.drop_in_context(Box::new(memory));
        }
    }
}

/// The path on which kernels write the display's own textures or buffers.
pub struct Direct {
    layout: FrameLayout,
    backend: Arc<dyn ComputeBackend>,
    ring: Vec<Slot>,
    ages: Ages,
    shown: usize,
    current: Option<Crossing>,
    sync: SyncKind,
}

impl Direct {
    pub(super) fn open(pairing: &Pairing<'_>) -> Result<Self> {
        let made = SLOTS.min(pairing.pieces_at_once.max(1));
        let ring = (0..made).map(|_| Slot::open(pairing)).collect::<Result<Vec<_>>>()?;
        let backend = Arc::clone(pairing.backend);
        let sync = pairing.sync.unwrap_or(SyncKind::Implicit);
        let layout = pairing.layout().unpadded();
        let reader = match pairing.desc {
            SurfaceDesc::Image(_) => Reader::InPlaceAndDraws,
            SurfaceDesc::Buffer(_) => Reader::InPlace,
        };
        let ages = Ages::new(&layout, reader, SLOTS)?;
        Ok(Self { layout, backend, ring, ages, shown: 0, current: None, sync })
    }

    fn next(&self) -> usize {
        (self.shown + 1) % self.ring.len()
    }

    /// Brings the object that is written next up to date, as the display left the one on show.
    fn copy_forward(&mut self, from: usize, range: Range<usize>) -> Result<()> {
        let _step = step!("copy forward");
        let next = self.next();
        let [from, to] = self.ring.get_disjoint_mut([from, next]).map_err(|_| not_begun())?;
        let from = from.memory()?;
        from.acquire()?;
        let copied = self.backend.copy(from, to.memory()?, range);
        from.release().and(copied)?;
        self.ages.renewed(next);
        Ok(())
    }

    fn prepare(&mut self, crossing: Crossing) -> Result<()> {
        let plan = self.ages.begin(self.next(), &crossing);
        self.current = Some(crossing);
        if let Some((from, range)) = plan.copy {
            self.copy_forward(from, range)?;
        }
        let backend = Arc::clone(&self.backend);
        match plan.clear {
            Clear::Nothing => {}
            Clear::Part => clear(backend.as_ref(), self.target()?)?,
            Clear::Whole => {
                let (next, whole) = (self.next(), self.layout.whole()?);
                self.ages.touched(next);
                clear(backend.as_ref(), Target::new(self.ring[next].memory()?, whole)?)?;
                self.ages.cleared(next);
            }
        }
        Ok(())
    }

    pub(super) fn missing_pieces(&self) -> usize {
        SLOTS - self.ring.len()
    }

    pub(super) fn lacks_piece(&self) -> bool {
        // The first frame is for the first.
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

impl SharingPath for Direct {
    fn begin(&mut self, part: &Part) -> Result<()> {
        let crossing = self.layout.in_place(part)?;
        if self.current.is_some() {
            self.cancel();
        }
        let next = self.next();
        if self.sync == SyncKind::Finish {
            self.ring[next].display.finish()?;
        }
        let acquiring = step!("acquire");
        self.ring[next].memory()?.acquire()?;
        drop(acquiring);
        let prepared = self.prepare(crossing);
        if prepared.is_err() {
            self.cancel();
        }
        prepared
    }

    fn target(&mut self) -> Result<Target<'_>> {
        let view = self.current.as_ref().ok_or_else(not_begun)?.kernel;
        let next = self.next();
        self.ages.touched(next);
        Target::new(self.ring[next].memory()?, view)
    }

    fn finish(&mut self) -> Result<()> {
        self.current.take().ok_or_else(not_begun)?;
        let next = self.next();
        let _step = step!("release");
        self.ring[next].memory()?.release()?;
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
        let next = self.next();
        if let Err(error) = self.ring[next].memory().and_then(|m| m.release()) {
            tracing::warn!(%error, "a frame that was given up could not be handed back");
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
