//! Resizing: in the existing memory of the path, or in new memory with room for the next sizes.
//!
//! While the user drags a window its size changes with every frame. Memory is therefore made and verified for a larger
//! surface than requested, and smaller sizes are views of it, which that verification covers. Images whose layout only
//! drivers know have no views and are made again for each size. When a verified path makes memory for another size,
//! only a few rows are compared: of one slot when the size changes, and of the others as frames need them.

use super::LinkCore;
use super::retired_frame::RetiredFrame;
use super::room::{covering, grown};
use crate::describe::error::{Error, Result};
use crate::describe::geometry::Extent;
use crate::describe::surface::SurfaceDesc;
use crate::devices::timeline::{stage, step};
use crate::path::{FrameLayout, OpenedPath, SharingPath, blank};
use crate::select::{CurrentPath, PathHistory, PathVariant, Policy, ProofExtent, open_except, open_variant};

impl LinkCore {
    /// Changes the size (or format). The shown frame stays until the first one of the new size is finished. That frame
    /// starts from zero, whatever the surface's rule for unwritten pixels; where only the rule changes, the picture is
    /// kept. The current path is kept if it works at the new size, otherwise another is selected. After an error
    /// nothing has changed.
    ///
    /// Sizes for which the link has room need no verification, and most paths allocate at most a texture of the display
    /// for them. For a larger size, memory is made with room for a quarter more on each side, and a few rows of it are
    /// compared. [`Link::resize_within`](LinkCore::resize_within) makes room in advance. The display's API object of the shown frame may differ
    /// for each size.
    ///
    /// An image of 0x0, the size of a minimised window, pauses the link: [`Link::frame`](LinkCore::frame) and similar calls do nothing,
    /// and the picture stays. The next size without a zero side ends the pause; the previous size is available at once.
    ///
    /// # Errors
    /// The errors of [`Link::open`](super::Link::open); a 0x0 surface is only an error there.
    pub fn resize(&mut self, desc: SurfaceDesc) -> Result<()> {
        self.resize_to(desc, None)
    }

    /// Changes the size like [`Link::resize`](LinkCore::resize), and makes room for `most`: from then on, no size up to that needs a full
    /// verification while the path stays. The memory has the size of `most`, however small the surface is; open the
    /// link again to free it. Where the memory is not available, a warning is logged, and each size that is larger than
    /// all before makes its own.
    ///
    /// Only the size of `most` matters. For a window, use the size of its screen.
    ///
    /// # Errors
    /// The errors of [`Link::open`](super::Link::open), for both sizes.
    pub fn resize_within(&mut self, most: SurfaceDesc, now: SurfaceDesc) -> Result<()> {
        self.resize_to(now, Some(most))
    }

    /// True where the link was resized to 0x0.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    fn resize_to(&mut self, desc: SurfaceDesc, most: Option<SurfaceDesc>) -> Result<()> {
        self.paused = match desc {
            SurfaceDesc::Image(image) if image.extent == Extent::new(0, 0) => true,
            _ => {
                self.change_size(desc, most)?;
                false
            }
        };
        Ok(())
    }

    fn change_size(&mut self, desc: SurfaceDesc, most: Option<SurfaceDesc>) -> Result<()> {
        let device = self.display.device().to_string();
        let named = |error: Error| error.of("Link::resize");
        desc.check(&device, self.display.caps()).map_err(named)?;
        let most = most.map(|most| covering(&desc, &most)).transpose()?;
        if let Some(most) = most {
            most.check(&device, self.display.caps()).map_err(named)?;
        }
        let has_room = |link: &Self| most.unwrap_or(desc).is_inside(&link.proved);
        if desc == *self.layout.desc() && has_room(self) {
            return Ok(());
        }
        let _stage = stage!("resize");
        self.targets.forget();
        self.auditor.forget();
        if self.in_target {
            // Frames before the newest must not appear again.
            (self.finished, self.retired) = (false, None);
        }
        let left = self.leave_broken(&mut None);
        if let Err(error) = &left {
            tracing::debug!(%error, "no other path works; verifying the failed one again");
        }
        if left.is_err() || !self.stay(&desc, most) {
            self.choose_for(&desc)?;
            if most.is_some() && !has_room(self) && !self.stay(&desc, most) {
                tracing::warn!(
                    "no memory for the requested maximum; each size that is larger than before allocates its own"
                );
            }
        }
        self.live_trials.restart(&self.options.policy.clock);
        self.report.later.left = self.live_trials.left().iter().map(PathVariant::to_string).collect();
        Ok(())
    }

    /// Continues with the same path and synchronisation, if that supports the new size.
    fn stay(&mut self, desc: &SurfaceDesc, most: Option<SurfaceDesc>) -> bool {
        self.try_to_stay(desc, most).unwrap_or_else(|error| {
            tracing::debug!(%error, path = %self.id, "the path does not support the new size");
            false
        })
    }

    fn try_to_stay(&mut self, desc: &SurfaceDesc, most: Option<SurfaceDesc>) -> Result<bool> {
        let needs = most.unwrap_or(*desc);
        let pairing = self.options.policy.pairing(&self.backend, &self.display, desc);
        if needs.is_inside(&self.proved) {
            let Some(surface) = self.path.resize(&pairing)? else {
                let path = self.open_again(desc)?;
                self.go_on(path, desc, self.proved, *desc);
                return Ok(true);
            };
            let frame = self.path.shown_frame().or(self.newest);
            let before = std::mem::replace(&mut self.layout, FrameLayout::new(desc, self.display.caps()));
            if std::mem::take(&mut self.finished) {
                self.retired = Some(RetiredFrame::of_surface(before, self.id, surface, frame));
            }
            self.report.surface = *desc;
            self.unclean = false;
            return Ok(true);
        }
        let alike = desc.covering(&self.proved).filter(|both| self.proved.is_inside(both));
        let Some(both) = alike else { return Ok(false) };
        if most.is_none() && !self.path.has_views() {
            let path = self.open_again(desc)?;
            self.go_on(path, desc, both, *desc);
            return Ok(true);
        }
        let larger = most.unwrap_or_else(|| grown(desc, &self.proved, self.display.caps()));
        // While the user drags a window, a full comparison would take too long.
        let compared = if most.is_some() { ProofExtent::All } else { ProofExtent::FewRows };
        // A surface of the new size starts from zero, whatever the proof left in the memory.
        let mut path = self.open_proved(&larger, compared)?;
        let mut made_for = larger;
        if path.resize(&pairing)?.is_none() {
            drop(path);
            path = self.open_again(desc)?;
            made_for = *desc;
        }
        self.go_on(path, desc, larger, made_for);
        Ok(true)
    }

    /// Opens the current candidate a second time, with zeroed memory. Where slots are made one by one, only the first
    /// is made: while the user drags a window, each size lasts a frame or two.
    fn open_again(&self, desc: &SurfaceDesc) -> Result<OpenedPath> {
        let mut path = self.open_proved(desc, ProofExtent::FewRows)?;
        let pairing = self.options.policy.pairing(&self.backend, &self.display, desc).with_one_piece();
        if !path.forget(&pairing)? {
            blank(&mut path, self.backend.as_ref(), &pairing.layout())?;
        }
        Ok(path)
    }

    /// Opens the current candidate a second time, with the pattern of its proof in memory; with one slot where only a
    /// few rows are compared.
    fn open_proved(&self, desc: &SurfaceDesc, compared: ProofExtent) -> Result<OpenedPath> {
        let policy = &self.options.policy;
        let pairing = policy.pairing(&self.backend, &self.display, desc);
        let now = if compared == ProofExtent::FewRows { pairing.with_one_piece() } else { pairing };
        open_variant(&now, policy, self.variant(), self.path.frames_behind(), compared)
    }

    /// Before a frame: makes the slot that the frame needs and, with `all`, those of later frames.
    pub(super) fn make_pieces(&mut self, all: bool) -> Result<()> {
        while self.path.lacks_piece()? || (all && self.path.missing_pieces() > 0) {
            let _step = step!("another piece");
            let other = self.open_again(&self.made_for)?;
            self.path.take_pieces(other)?;
        }
        Ok(())
    }

    fn go_on(&mut self, path: OpenedPath, desc: &SurfaceDesc, proved: SurfaceDesc, made_for: SurfaceDesc) {
        self.replace(path, self.id, desc);
        self.report.surface = *desc;
        (self.proved, self.made_for) = (proved, made_for);
    }

    /// Selects a path, preferring the current one if it works.
    fn choose_for(&mut self, desc: &SurfaceDesc) -> Result<()> {
        let policy = Policy { prefer: Some(self.id), ..self.options.policy.clone() };
        let keep = CurrentPath { id: self.id, sync: self.path.sync(), frames_behind: self.path.frames_behind() };
        let history = PathHistory { demoted: &self.demoted, keep: Some(keep), ..PathHistory::default() };
        let selection = open_except(&self.backend, &self.display, desc, &policy, &history)?;
        self.take(selection, desc);
        Ok(())
    }
}
