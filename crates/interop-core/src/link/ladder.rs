//! A path that fails in the middle of the stream is left for the next one that works, and the frame is done again there.
//!
//! What was shown stays on show until then. A frame made by [`Link::frame`] is redone at once; one made by
//! [`Link::acquire`] and `finish` gives its error, and the next `acquire` is by another path.

use super::{Link, WriteFrame};
use crate::display::Part;
use crate::error::{Error, Result};
use crate::geometry::Region;
use crate::path::{FrameLayout, SharingPath};
use crate::select::{Policy, Selection, open_path, open_without};
use crate::surface::SurfaceDesc;
use std::ops::Range;
use std::time::Duration;

impl Error {
    /// Whether another path may fare better: a driver, a limit or wrong pixels, not the caller's values or kernels.
    fn is_of_the_path(&self) -> bool {
        matches!(self, Self::Driver(_) | Self::Unsupported { .. } | Self::Unavailable { .. } | Self::Rejected { .. })
    }
}

impl Link {
    /// Computes and shows one frame that replaces the whole surface. If the path fails, `compute` is called again for a
    /// frame on the next one that works: it should do the same each time.
    ///
    /// # Errors
    /// Those of `compute` that are not the path's, and those of a path that was forced; where no path is left, the
    /// first error.
    pub fn frame(&mut self, compute: impl FnMut(&mut WriteFrame<'_>) -> Result<()>) -> Result<()> {
        self.frame_part(self.layout.full(), compute)
    }

    /// The same for a part of an image, see [`Link::acquire_region`].
    pub fn frame_region(
        &mut self,
        region: Region,
        compute: impl FnMut(&mut WriteFrame<'_>) -> Result<()>,
    ) -> Result<()> {
        self.frame_part(Part::Image(region), compute)
    }

    /// The same for a part of a buffer, see [`Link::acquire_bytes`].
    pub fn frame_bytes(
        &mut self,
        bytes: Range<usize>,
        compute: impl FnMut(&mut WriteFrame<'_>) -> Result<()>,
    ) -> Result<()> {
        self.frame_part(Part::Buffer(bytes), compute)
    }

    fn frame_part(&mut self, part: Part, mut compute: impl FnMut(&mut WriteFrame<'_>) -> Result<()>) -> Result<()> {
        part.check_inside(self.layout.desc(), "frame")?;
        let rungs = self.demoted.len();
        loop {
            let done = self.acquire_part(part.clone()).and_then(|mut frame| {
                compute(&mut frame)?;
                frame.finish()
            });
            let Err(error) = done else { return Ok(()) };
            self.broken = None;
            if !self.may_demote(&error) {
                return Err(error);
            }
            if let Err(nothing_left) = self.demote(&error) {
                tracing::warn!(%nothing_left, "no path does this frame: it is not the path's fault");
                self.climb(rungs);
                return Err(error);
            }
        }
    }

    pub(super) fn may_demote(&self, error: &Error) -> bool {
        error.is_of_the_path() && self.options.policy.force.is_none()
    }

    /// Leaves the path in use for the next that works.
    pub(super) fn demote(&mut self, error: &Error) -> Result<()> {
        let (from, reason) = (self.id, error.to_string());
        self.demoted.push((from, reason.clone()));
        let policy = Policy { prefer: None, budget: Duration::ZERO, ..self.options.policy.clone() };
        let selection = open_without(&self.backend, &self.display, self.layout.desc(), &policy, &self.demoted)?;
        tracing::warn!(%from, to = %selection.id, %reason, "a path failed and was left");
        let desc = *self.layout.desc();
        self.take(selection, &desc);
        Ok(())
    }

    /// Forgets demotions that turned out not to be the paths' fault.
    fn climb(&mut self, rungs: usize) {
        self.demoted.truncate(rungs);
        let policy = Policy { budget: Duration::ZERO, ..self.options.policy.clone() };
        match open_without(&self.backend, &self.display, self.layout.desc(), &policy, &self.demoted) {
            Ok(selection) => {
                let desc = *self.layout.desc();
                self.take(selection, &desc);
            }
            // The last rung is still there.
            Err(error) => tracing::warn!(%error, "the path of before cannot be opened again"),
        }
    }

    /// Goes on with another path; what is shown stays until its first frame.
    pub(super) fn take(&mut self, selection: Selection, desc: &SurfaceDesc) {
        let layout = FrameLayout::new(desc, self.display.caps());
        let path = std::mem::replace(&mut self.path, selection.path);
        let layout = std::mem::replace(&mut self.layout, layout);
        if std::mem::take(&mut self.finished) {
            self.retired = Some((layout, self.id, path));
        }
        self.id = selection.id;
        self.report = selection.report;
        self.broken = None;
    }

    /// Tries and times all paths again, those that were left among them, and goes on with the best.
    ///
    /// # Errors
    /// As of [`Link::open`]; then everything is as before.
    pub fn recalibrate(&mut self) -> Result<()> {
        crate::select::forget(&self.backend, &self.display, self.layout.desc(), &self.options.policy);
        let selection = open_path(&self.backend, &self.display, self.layout.desc(), &self.options.policy)?;
        self.demoted.clear();
        let desc = *self.layout.desc();
        self.take(selection, &desc);
        Ok(())
    }

    /// Around a first part on a new path: what is on show, else zero.
    pub(super) fn fill_around(&mut self) -> Result<()> {
        let shown = match &mut self.retired {
            Some((layout, _, path)) if layout.desc() == self.layout.desc() => {
                let bytes = path.surface_mut().read_back(&layout.full())?;
                Some(layout.to_surface_rows(bytes))
            }
            _ => None,
        };
        let part = self.layout.full();
        self.path.begin(&part)?;
        let mut frame = WriteFrame::new(self, part);
        match shown {
            Some(bytes) => frame.write(&bytes)?,
            None => frame.fill_zero()?,
        }
        frame.hand_over()
    }
}
