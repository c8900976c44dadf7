//! A frame in the compute device's own memory, for paths that read the bytes out of it.

use super::contract::not_begun;
use super::layout::{FrameLayout, FrameTransfer};
use super::pairing::Pairing;
use super::unwritten::{Ages, Clear, clear};
use crate::compute::{ComputeBackend, ComputeMemory, Target};
use crate::describe::error::Result;
use crate::describe::pattern::lay_out;
use crate::describe::view::View;
use crate::devices::borrows::Holder;
use crate::devices::timeline::step;
use crate::display::{Staging, Surface, SurfacePart};
use std::sync::Arc;

/// A frame in the compute device's own memory, under the rule for unwritten pixels; for mechanisms that read the bytes
/// out of it. A frame is [`begin`](Self::begin), work on the [`target`](Self::target), [`end`](Self::end), the
/// hand-over, and [`finished`](Self::finished).
pub struct Canvas {
    layout: FrameLayout,
    /// Size of the memory in bytes.
    room: usize,
    backend: Arc<dyn ComputeBackend>,
    memory: Box<dyn ComputeMemory>,
    ages: Ages,
    current: Option<FrameTransfer>,
}

/// The path has only this slot.
const PIECE: usize = 0;

impl Canvas {
    /// Allocates the memory.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn open(pairing: &Pairing<'_>) -> Result<Self> {
        let layout = pairing.layout();
        let room = layout.frame_bytes()?;
        let memory = pairing.backend.allocate(room)?;
        let ages = Ages::new(&layout, pairing.uploads(), 1)?;
        Ok(Self { layout, room, backend: Arc::clone(pairing.backend), memory, ages, current: None })
    }

    /// Changes the size of the frames; the first one of the new size starts from zero. Returns false where the memory
    /// is too small.
    ///
    /// # Errors
    /// Those of an invalid size.
    pub fn resize(&mut self, pairing: &Pairing<'_>) -> Result<bool> {
        let layout = pairing.layout();
        if layout.frame_bytes()? > self.room {
            return Ok(false);
        }
        (self.ages, self.layout, self.current) = (self.ages.resized(&layout)?, layout, None);
        Ok(true)
    }

    /// Begins a frame for `surface` that replaces `part` (rows in the surface's order).
    ///
    /// # Errors
    /// Those of the two sides; [`crate::Error::InvalidInput`] for a part outside the surface.
    pub fn begin(&mut self, part: &SurfacePart, surface: &mut Surface) -> Result<()> {
        self.begin_by(part, surface, None)
    }

    /// Like [`Canvas::begin`], with a block that the display may copy into.
    pub(super) fn begin_by(
        &mut self,
        part: &SurfacePart,
        surface: &mut Surface,
        staging: Option<&mut Staging>,
    ) -> Result<()> {
        self.current = None;
        let transfer = self.layout.in_place(part)?;
        let plan = self.ages.begin(PIECE, &transfer);
        if plan.copy.is_some() {
            // A discarded frame has written here, so only the display has the frame before it.
            self.fetch(surface, &self.layout.in_place(&self.layout.full())?, staging)?;
            self.ages.renewed(PIECE);
        } else if plan.fetch {
            self.fetch(surface, &transfer, staging)?;
        }
        match plan.clear {
            Clear::Nothing => {}
            Clear::Part => self.clear(transfer.kernel)?,
            Clear::Whole => {
                self.clear(self.layout.whole()?)?;
                self.ages.cleared(PIECE);
            }
        }
        self.current = Some(transfer);
        Ok(())
    }

    fn clear(&mut self, view: View) -> Result<()> {
        self.ages.touched(PIECE);
        clear(self.backend.as_ref(), Target::new(self.memory.as_mut(), view)?)
    }

    /// Copies content of the surface into the memory, through the block where that has an address.
    fn fetch(&mut self, surface: &mut Surface, from: &FrameTransfer, staging: Option<&mut Staging>) -> Result<()> {
        let _step = step!("fetch back");
        let span = from.native.span();
        if let Some((staging, block)) = staging.and_then(|staging| staging.host_block().map(|block| (staging, block))) {
            surface.download(&from.part, staging, &from.native)?;
            staging.wait()?;
            let bytes = block.read(span.clone(), Holder::Staging)?;
            return self.memory.write(span.start, &bytes);
        }
        let shown = surface.read_back(&from.part)?;
        self.memory.map_write(span, &mut |bytes| {
            lay_out(&shown, &from.native.from_its_start(), bytes);
            Ok(())
        })
    }

    /// Returns the memory, for kernels that read it.
    pub(super) fn memory(&self) -> &dyn ComputeMemory {
        self.memory.as_ref()
    }

    /// Returns the target that kernels write.
    ///
    /// # Errors
    /// [`crate::Error::InvalidInput`] where no frame has been begun.
    pub fn target(&mut self) -> Result<Target<'_>> {
        let transfer = self.current.as_ref().ok_or_else(not_begun)?;
        self.ages.touched(PIECE);
        Target::new(self.memory.as_mut(), transfer.kernel)
    }

    /// Ends the frame and returns the memory and the bytes to read. The frame counts once [`Canvas::finished`] reports
    /// that the display has it.
    ///
    /// # Errors
    /// [`crate::Error::InvalidInput`] where no frame has been begun.
    pub fn end(&mut self) -> Result<(&mut dyn ComputeMemory, FrameTransfer)> {
        let transfer = self.current.take().ok_or_else(not_begun)?;
        Ok((self.memory.as_mut(), transfer))
    }

    /// Records that the display has the frame.
    pub fn finished(&mut self) {
        self.ages.finished(PIECE);
    }

    /// Discards the frame.
    pub fn cancel(&mut self) {
        self.current = None;
    }
}
