//! What the user holds: a [`Link`] from one backend to one display for one surface, and the guards of its frames.
//!
//! The borrow checker is the lock: [`WriteFrame`] borrows the link mutably, [`ShownFrame`] borrows it, so a frame
//! cannot be drawn while it is being computed, nor computed while it is drawn, nor outlive its link.

mod compare;
mod fallback;
mod shown_frame;
mod touch;
mod traced;
mod write_frame;

pub use shown_frame::ShownFrame;
pub use write_frame::WriteFrame;

use crate::compute::ComputeBackend;
use crate::describe::error::{Error, Result};
use crate::describe::geometry::{Extent, Region};
use crate::describe::surface::SurfaceDesc;
use crate::devices::timeline::{FrameTag, step};
use crate::display::{Display, Part};
use crate::path::{FrameLayout, OpenedPath, PathId, SharingPath, blank};
use crate::select::report::ProbeReport;
use crate::select::{Keep, Meanwhile, Policy, Selection, Standing, Way, open_path, open_without};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use touch::Touch;

/// Options of [`Link::open`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LinkOptions {
    /// How the path is chosen.
    pub policy: Policy,
}

impl LinkOptions {
    /// The default but for the policy.
    pub fn new(policy: Policy) -> Self {
        Self { policy }
    }
}

/// A verified way for frames of one surface from a backend to a display.
///
/// Threads: stays on the display's thread (it is not `Send`).
pub struct Link {
    backend: Arc<dyn ComputeBackend>,
    display: Rc<dyn Display>,
    options: LinkOptions,
    layout: FrameLayout,
    path: OpenedPath,
    id: PathId,
    report: ProbeReport,
    /// A frame of the user's (not only a verification pattern) is in `path`'s surface.
    finished: bool,
    /// After a resize or a change of path: the path whose last frame is still shown until the first of the new size is finished.
    retired: Option<(FrameLayout, PathId, OpenedPath)>,
    /// Paths that were left, and why.
    demoted: Vec<(PathId, String)>,
    /// The path failed; the next frame is by another.
    broken: Option<Error>,
    /// The path holds a frame that was given up after it was handed over; the next one must not keep it.
    unclean: bool,
    /// It was resized to 0x0.
    paused: bool,
    /// Paths that are still to be compared.
    meanwhile: Meanwhile,
    touch: Touch,
    /// Tells this link from others in a trace.
    number: u32,
    /// Frames begun so far.
    frames: u64,
    /// The frame finished last.
    newest: Option<FrameTag>,
}

impl Link {
    /// Finds and proves a path; see [`crate::select`].
    ///
    /// # Errors
    /// [`Error::InvalidInput`] and [`Error::Unsupported`] for sizes that cannot be, [`Error::NoPath`] where no path
    /// works or a forced one does not. What the [environment](crate::select::environment) asks for stands above the
    /// policy.
    pub fn open(
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
        desc: SurfaceDesc,
        options: LinkOptions,
    ) -> Result<Self> {
        let options = LinkOptions { policy: options.policy.overridden()? };
        let Selection { path, id, report, meanwhile } = open_path(&backend, &display, &desc, &options.policy)?;
        let layout = FrameLayout::new(&desc, display.caps());
        let touch = Touch::new(&options.policy.clock);
        Ok(Self {
            backend,
            display,
            options,
            layout,
            path,
            id,
            report,
            finished: false,
            retired: None,
            demoted: Vec::new(),
            broken: None,
            unclean: false,
            paused: false,
            meanwhile,
            touch,
            number: traced::next_link(),
            frames: 0,
            newest: None,
        })
    }

    /// The side that writes.
    pub fn backend(&self) -> &Arc<dyn ComputeBackend> {
        &self.backend
    }

    /// The side that shows.
    pub fn display(&self) -> &Rc<dyn Display> {
        &self.display
    }

    /// What the next frame will be.
    pub fn desc(&self) -> &SurfaceDesc {
        self.layout.desc()
    }

    /// The path in use.
    pub fn path(&self) -> PathId {
        self.id
    }

    /// What was found out about every path.
    pub fn report(&self) -> &ProbeReport {
        &self.report
    }

    /// How many frames the one shown is behind the one finished last (see [`crate::Mode`]).
    pub fn frames_behind(&self) -> usize {
        self.path.frames_behind()
    }

    /// Shows the frame finished last, waiting for it; does something only in pipelined mode. After a resize or a change of
    /// path that frame is of the path before, until the first on the new one is finished.
    pub fn flush(&mut self) -> Result<()> {
        let _step = step!("flush");
        match &mut self.retired {
            Some((_, _, path)) if !self.finished => path.flush(),
            _ => self.path.flush(),
        }
    }

    /// All of it as text to paste into a bug report: both devices, every path with its state, cost and reason, what was
    /// chosen and why, what failed since, and findings with advice.
    pub fn explain(&self) -> String {
        let mut text = format!("pixelferry {}, {}", env!("CARGO_PKG_VERSION"), self.report);
        text += &format!("  in use: {}, {} frames behind\n", self.id, self.frames_behind());
        for (path, reason) in &self.demoted {
            text += &format!("  left: {path}: {reason}\n");
        }
        text
    }

    /// Starts a frame of the whole surface. What it leaves unwritten is by the surface's rule, see [`crate::Unwritten`].
    /// Waits until the display has left the memory it gets.
    ///
    /// # Errors
    /// [`Error::Paused`]; what the backend, the display or the path reported.
    pub fn acquire(&mut self) -> Result<WriteFrame<'_>> {
        self.acquire_part(self.layout.full())
    }

    /// Starts a frame of `region` only, rows counted in the surface's order. All other pixels stay as the display has
    /// them; what the frame leaves unwritten inside the region is by the surface's rule.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an empty region, one outside the surface, or a buffer surface.
    pub fn acquire_region(&mut self, region: Region) -> Result<WriteFrame<'_>> {
        self.acquire_part(Part::Image(region))
    }

    /// Starts a frame of `bytes` of a buffer surface only. The others stay; what the frame leaves unwritten among these is
    /// by the surface's rule.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an empty range, one outside the buffer, or an image surface.
    pub fn acquire_bytes(&mut self, bytes: Range<usize>) -> Result<WriteFrame<'_>> {
        self.acquire_part(Part::Buffer(bytes))
    }

    /// The newest finished frame, for drawing.
    ///
    /// # Errors
    /// [`Error::NothingShown`] before the first frame was finished.
    pub fn shown(&self) -> Result<ShownFrame<'_>> {
        let (path, id) = match &self.retired {
            _ if self.finished => (&self.path, self.id),
            Some((_, id, path)) => (path, *id),
            None => return Err(Error::NothingShown),
        };
        Ok(ShownFrame::new(path.surface(), id, path.shown_frame().or(self.newest), self.touched()))
    }

    /// Changes the size (or format). The frame shown stays until the first of the new size is finished, which begins from
    /// zero, whatever the surface's rule for unwritten pixels; where only that rule changes, the picture is kept. The path
    /// is kept if it still works at the new size, else chosen anew. After an error everything is as before.
    ///
    /// An image of 0x0, which a minimised window has, pauses the link: [`Link::frame`] and its like do nothing, and the picture
    /// stays. The next size that is none ends that; the old one is there at once.
    ///
    /// # Errors
    /// The errors of [`Link::open`], where 0x0 is an error, too.
    pub fn resize(&mut self, desc: SurfaceDesc) -> Result<()> {
        self.paused = match desc {
            SurfaceDesc::Image(image) if image.extent == Extent::new(0, 0) => true,
            _ => {
                self.resize_to(desc)?;
                false
            }
        };
        Ok(())
    }

    /// Whether it was resized to 0x0.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    fn resize_to(&mut self, desc: SurfaceDesc) -> Result<()> {
        if desc == *self.layout.desc() {
            return Ok(());
        }
        if let Err(error) = self.leave_broken(&mut None) {
            tracing::debug!(%error, "no other path works: the one that failed is proved again");
        }
        let policy = Policy { prefer: Some(self.id), ..self.options.policy.clone() };
        let keep = Keep { id: self.id, sync: self.path.sync(), frames_behind: self.path.frames_behind() };
        let standing = Standing { demoted: &self.demoted, keep: Some(keep), ..Standing::default() };
        let selection = open_without(&self.backend, &self.display, &desc, &policy, &standing)?;
        self.take(selection, &desc);
        self.meanwhile.restart(&self.options.policy.clock);
        self.report.later.left = self.meanwhile.left().iter().map(Way::to_string).collect();
        Ok(())
    }

    /// Makes the link as it was when it was opened: nothing is shown, and every pixel is zero.
    ///
    /// # Errors
    /// What the backend or display reported; nothing is shown then, either, and the next frame may find the path broken.
    pub fn clear(&mut self) -> Result<()> {
        (self.finished, self.retired, self.newest) = (false, None, None);
        self.unclean = true;
        blank(&mut self.path, self.backend.as_ref(), &self.layout)?;
        self.unclean = false;
        Ok(())
    }

    /// Paths that were left because they failed, and why, oldest first.
    pub fn demoted(&self) -> &[(PathId, String)] {
        &self.demoted
    }

    /// The shown frame as the display shows it: tight rows in the surface's order. Slow; for saving and testing.
    pub fn read_back(&mut self) -> Result<Vec<u8>> {
        let (layout, path) = match &mut self.retired {
            _ if self.finished => (&self.layout, &mut self.path),
            Some((layout, _, path)) => (&*layout, path),
            None => return Err(Error::NothingShown),
        };
        let bytes = path.surface_mut().read_back(&layout.full())?;
        Ok(layout.to_surface_rows(bytes))
    }

    pub(crate) fn finish_frame(&mut self) -> Result<()> {
        let _step = step!("finish");
        let mut done = self.path.finish();
        if done.is_ok() && !self.finished {
            // Until the pipeline is full, verification's pictures would come out of it.
            done = self.path.flush();
            self.unclean = done.is_err();
        }
        if let Err(error) = done {
            if self.may_demote(&error) {
                self.broken = Some(error.clone());
            }
            return Err(error);
        }
        self.finished = true;
        self.retired = None;
        self.newest = FrameTag::current();
        drop(self.touched());
        Ok(())
    }

    pub(crate) fn opened(&mut self) -> (&mut OpenedPath, &dyn ComputeBackend) {
        (&mut self.path, self.backend.as_ref())
    }
}
