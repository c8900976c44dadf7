//! Surfaces of a stream.

use super::display_state::DisplayState;
use super::piece::Piece;
use super::staging::StreamStaging;
use crate::wire::message::PieceKind;
use interop_core::describe::PlainMutex;
use interop_core::devices::maker_object::{own, own_mut};
use interop_core::display::{Content, InPlaceDriver, StoredDriver, SurfaceDriver};
use interop_core::{Display, Error, Result, Staging, Surface, SurfaceDesc, SurfacePart, View};
use std::sync::Arc;

/// Content of a surface.
pub(crate) struct SurfaceContent {
    /// A surface of the display in plain memory, or of the device's display.
    pub inner: Surface,
    /// The piece that it reads in place, and the frame's layout in it.
    pub piece: Option<(Arc<Piece>, View)>,
}

/// A surface, in the display that owns its piece.
pub(crate) struct StreamSurface {
    state: Arc<DisplayState>,
    desc: SurfaceDesc,
    /// `None` before the first frame of a surface that shows in place.
    pub shown: PlainMutex<Option<SurfaceContent>>,
}

interop_core::owned!(StreamSurface: DisplayState, "surface", |surface| &surface.state);

impl StreamSurface {
    pub(crate) fn stored(state: &Arc<DisplayState>, desc: &SurfaceDesc) -> Result<Self> {
        let inner = (state.memory.as_ref() as &dyn Display).create_surface(desc)?;
        let shown = PlainMutex::new(Some(SurfaceContent { inner, piece: None }));
        Ok(Self { state: Arc::clone(state), desc: *desc, shown })
    }

    pub(crate) fn in_place(state: &Arc<DisplayState>, desc: &SurfaceDesc) -> Self {
        Self { state: Arc::clone(state), desc: *desc, shown: PlainMutex::new(None) }
    }

    /// Reads its content as tight rows.
    pub(crate) fn read(&self, part: &SurfacePart) -> Result<Vec<u8>> {
        self.state.hub.check_process()?;
        self.shown.lock().as_mut().ok_or(Error::NothingShown)?.inner.read_back(part)
    }
}

impl<C: Content> SurfaceDriver<C> for StreamSurface {
    fn read_back(&mut self, at: &C::At) -> Result<Vec<u8>> {
        self.read(&C::part(at))
    }
}

impl<C: Content> StoredDriver<C> for StreamSurface {
    fn upload(&mut self, at: &C::At, bytes: &[u8], view: &C::View) -> Result<()> {
        self.state.hub.check_process()?;
        let shown = self.shown.get_mut().as_mut().ok_or(Error::NothingShown)?;
        shown.inner.upload(&C::part(at), bytes, &C::view(view))
    }

    fn upload_staged(&mut self, at: &C::At, staging: &mut Staging, view: &C::View) -> Result<()> {
        self.state.hub.check_process()?;
        let staging = own_mut::<StreamStaging>(staging.driver_mut(), &self.state)?;
        let shown = self.shown.get_mut().as_mut().ok_or(Error::NothingShown)?;
        shown.inner.upload_staged(&C::part(at), &mut staging.inner, &C::view(view))
    }
}

impl<C: Content> InPlaceDriver<C> for StreamSurface {
    fn show(&mut self, staging: &Staging, view: &C::View) -> Result<()> {
        self.state.hub.check_process()?;
        let staging = own::<StreamStaging>(staging.driver(), &self.state)?;
        let piece = staging.piece.as_ref().ok_or_else(|| Error::refused("the block does not belong to the stream"))?;
        let view = C::view(view);
        let before = self.shown.get_mut().take();
        let is_alike = |shown: &SurfaceContent| shown.piece.as_ref().is_some_and(|(other, _)| other.kind == piece.kind);
        let mut inner = match before.filter(is_alike) {
            Some(shown) => shown.inner,
            None => {
                let display = match piece.kind {
                    PieceKind::Host => self.state.memory.as_ref(),
                    PieceKind::Device { .. } => self.state.device()?,
                };
                display.create_in_place_surface(&self.desc)?
            }
        };
        inner.read_in_place(&staging.inner, &view)?;
        *self.shown.get_mut() = Some(SurfaceContent { inner, piece: Some((Arc::clone(piece), view)) });
        Ok(())
    }
}
