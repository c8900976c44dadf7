//! Memory blocks that other processes share.

use super::display_state::DisplayState;
use super::piece::Piece;
use crate::wire::message::PieceKind;
use crate::wire::pages::{self, WriteRight};
use interop_core::display::{Reach, StagingDriver};
use interop_core::{Display, HandleType, Result, SharedHandle, Staging, StagingKind};
use std::sync::Arc;

/// A block in plain memory or of the device, with its piece.
pub(crate) struct StreamStaging {
    state: Arc<DisplayState>,
    pub inner: Staging,
    /// `None` for a block that is only copied from.
    pub piece: Option<Arc<Piece>>,
}

interop_core::owned!(StreamStaging: DisplayState, "staging block", |block| &block.state);

impl StreamStaging {
    pub(crate) fn new(state: &Arc<DisplayState>, kind: StagingKind, bytes: usize) -> Result<(Self, Reach)> {
        let memory = state.memory.as_ref() as &dyn Display;
        let (inner, piece) = match kind {
            StagingKind::Persistent => {
                let (descriptor, mapping) = pages::create("pixelferry frame", bytes, WriteRight::Maker)?;
                let inner = memory.create_staging(StagingKind::Imported(mapping.into_block()), bytes)?;
                (inner, Some(Piece::new(&state.hub, PieceKind::Host, bytes, descriptor)?))
            }
            StagingKind::Exported => {
                let inner = state.device()?.create_staging(StagingKind::Exported, bytes)?;
                let memory = inner.export(HandleType::OPAQUE)?.duplicate_memory()?;
                let kind = PieceKind::Device { dedicated: memory.is_dedicated(), allocation: memory.bytes() };
                (inner, Some(Piece::new(&state.hub, kind, bytes, memory.into_handle())?))
            }
            other => (memory.create_staging(other, bytes)?, None),
        };
        let reach = match inner.host_block() {
            Some(block) => Reach::Address(block),
            None if piece.is_some() => Reach::Never,
            None => Reach::EachFill,
        };
        Ok((Self { state: Arc::clone(state), inner, piece: piece.map(Arc::new) }, reach))
    }
}

/// Subscribers themselves mark what they read, and reads of this process end before a call returns. So the device's display
/// gets no work for a piece: its GPU would change from the kernels' driver to the display's and back in each frame, which
/// takes longer than a large frame.
impl StagingDriver for StreamStaging {
    fn fence(&mut self, _: bool) -> Result<()> {
        self.state.hub.check_process()?;
        if self.piece.is_some() { Ok(()) } else { self.inner.fence() }
    }

    fn wait(&mut self) -> Result<()> {
        self.state.hub.check_process()?;
        if self.piece.is_some() { Ok(()) } else { self.inner.wait() }
    }

    fn claim(&mut self) -> Result<bool> {
        self.state.hub.check_process()?;
        Ok(self.piece.as_ref().is_none_or(|piece| piece.claim()))
    }

    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.state.hub.check_process()?;
        self.inner.map_write(f)
    }

    fn export(&self, handle: HandleType) -> Result<Option<SharedHandle>> {
        self.state.hub.check_process()?;
        self.inner.export(handle).map(Some)
    }
}
