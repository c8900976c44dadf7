//! Other sizes: in the memory that the path has, or in new memory with room for the next.
//!
//! A window that is dragged changes its size at every frame. So memory is made and proved for a larger surface than was asked
//! for, and sizes inside it are views of that memory: what carries its bytes was proved for all of them. Images whose order only
//! drivers know have no views and are made again for each size. Of a path that was proved once, memory that is made for another size
//! is compared in a few rows, one piece when the size changes and the others as frames need them.

use super::Link;
use super::retired::Retired;
use super::room::{covering, grown};
use crate::describe::error::{Error, Result};
use crate::describe::geometry::Extent;
use crate::describe::surface::SurfaceDesc;
use crate::devices::timeline::{stage, step};
use crate::path::{FrameLayout, OpenedPath, SharingPath, blank};
use crate::select::{Compared, Keep, Policy, Standing, Way, open_way, open_without};

impl Link {
    /// Changes the size (or format). The frame shown stays until the first of the new size is finished, which begins from
    /// zero, whatever the surface's rule for unwritten pixels; where only that rule changes, the picture is kept. The path
    /// is kept if it still works at the new size, else chosen again. After an error everything is as before.
    ///
    /// Sizes for which the link has room cost no proof by pixels, and most paths allocate for them at most a texture of the
    /// display's. A larger size makes memory with room for a quarter more on each side, of which a few rows are compared.
    /// [`Link::resize_within`] makes room beforehand. The display's API may have another name for what is shown at each size.
    ///
    /// An image of 0x0, which a minimised window has, pauses the link: [`Link::frame`] and its like do nothing, and the picture
    /// stays. The next size without a zero side ends that; the old one is there at once.
    ///
    /// # Errors
    /// The errors of [`Link::open`], where 0x0 is an error, too.
    pub fn resize(&mut self, desc: SurfaceDesc) -> Result<()> {
        self.resize_to(desc, None)
    }

    /// Changes the size as [`Link::resize`] does, and makes room for `most`: no size up to that needs a whole proof from then
    /// on, while the path stays. Memory is for `most` then, however small the surface is; open the link again to give it back.
    /// Where there is no memory for that, a warning says so, and each size that is larger than before makes its own.
    ///
    /// Only the size of `most` counts. A window's is that of its screen.
    ///
    /// # Errors
    /// The errors of [`Link::open`], for both sizes.
    pub fn resize_within(&mut self, most: SurfaceDesc, now: SurfaceDesc) -> Result<()> {
        self.resize_to(now, Some(most))
    }

    /// True where it was resized to 0x0.
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
        if self.in_target {
            // Frames before the newest are not to be seen again.
            (self.finished, self.retired) = (false, None);
        }
        let left = self.leave_broken(&mut None);
        if let Err(error) = &left {
            tracing::debug!(%error, "no other path works: the one that failed is proved again");
        }
        if left.is_err() || !self.stay(&desc, most) {
            self.choose_for(&desc)?;
            if most.is_some() && !has_room(self) && !self.stay(&desc, most) {
                tracing::warn!("there is no room for the larger size: each that is larger than before makes its own");
            }
        }
        self.meanwhile.restart(&self.options.policy.clock);
        self.report.later.left = self.meanwhile.left().iter().map(Way::to_string).collect();
        Ok(())
    }

    /// Goes on by the same way, where that takes the new size.
    fn stay(&mut self, desc: &SurfaceDesc, most: Option<SurfaceDesc>) -> bool {
        self.try_to_stay(desc, most).unwrap_or_else(|error| {
            tracing::debug!(%error, path = %self.id, "the path does not take the new size as it is");
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
                self.retired = Some(Retired::of_surface(before, self.id, surface, frame));
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
        // While a window is dragged nobody waits for more.
        let compared = if most.is_some() { Compared::All } else { Compared::FewRows };
        // A surface of the new size begins from zero, whatever the proof left in the memory.
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

    /// A second path by the way in use, which holds zero, with the first of its pieces alone where they are made one by one: a window
    /// that is dragged is at each size for a frame or two.
    fn open_again(&self, desc: &SurfaceDesc) -> Result<OpenedPath> {
        let mut path = self.open_proved(desc, Compared::FewRows)?;
        let pairing = self.options.policy.pairing(&self.backend, &self.display, desc).with_one_piece();
        if !path.forget(&pairing)? {
            blank(&mut path, self.backend.as_ref(), &pairing.layout())?;
        }
        Ok(path)
    }

    /// A second path by the way in use, which holds what its proof wrote; with one piece where only a few rows are compared.
    fn open_proved(&self, desc: &SurfaceDesc, compared: Compared) -> Result<OpenedPath> {
        let policy = &self.options.policy;
        let pairing = policy.pairing(&self.backend, &self.display, desc);
        let now = if compared == Compared::FewRows { pairing.with_one_piece() } else { pairing };
        open_way(&now, policy, self.way(), self.path.frames_behind(), compared)
    }

    /// Before a frame: has the piece of memory made that the frame is for, with `all` those of later frames, too.
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

    /// Chooses a path, that in use if it works.
    fn choose_for(&mut self, desc: &SurfaceDesc) -> Result<()> {
        let policy = Policy { prefer: Some(self.id), ..self.options.policy.clone() };
        let keep = Keep { id: self.id, sync: self.path.sync(), frames_behind: self.path.frames_behind() };
        let standing = Standing { demoted: &self.demoted, keep: Some(keep), ..Standing::default() };
        let selection = open_without(&self.backend, &self.display, desc, &policy, &standing)?;
        self.take(selection, desc);
        Ok(())
    }
}
