//! Links, the user's objects: a [`Link`] from one backend to one display for one surface, and the guards of its frames.
//!
//! The borrow checker acts as the lock: [`WriteFrame`] borrows the link mutably and [`ShownFrame`] borrows it
//! immutably. So a frame cannot be drawn while it is computed, nor computed while it is drawn, nor outlive its link.

mod compare;
mod fallback;
mod frame;
mod frame_trace;
mod resize;
mod retired_frame;
mod room;
mod shared_link;
mod show;
mod shown_frame;
mod targets;
mod touch;
mod write_frame;

pub use shared_link::{SharedFrame, SharedLink, StartedFrame};
pub use shown_frame::ShownFrame;
pub use targets::{Detour, ShowOutcome};
pub use write_frame::WriteFrame;

use crate::audit::Auditor;
use crate::compute::{ComputeBackend, Target};
use crate::describe::audit_report::AuditReport;
use crate::describe::error::{Error, Result};
use crate::describe::geometry::Region;
use crate::describe::surface::SurfaceDesc;
use crate::describe::words::counted;
use crate::devices::timeline::{FrameTag, step};
use crate::display::{AnyThread, AnyThreadDisplay, Display, OneThread, SurfacePart, is_same};
use crate::path::{FrameLayout, OpenedPath, PathId, SharingPath, blank};
use crate::select::report::ProbeReport;
use crate::select::{LiveTrials, Policy, Selection, open_path};
use retired_frame::RetiredFrame;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};
use std::sync::Arc;
use targets::Targets;
use touch::Touch;

/// Options of [`Link::open`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LinkOptions {
    /// Policy for the selection of the path.
    pub policy: Policy,
}

impl LinkOptions {
    /// The default options with this policy.
    pub fn new(policy: Policy) -> Self {
        Self { policy }
    }
}

/// A verified path for frames of one surface, from a backend to a display.
///
/// Threads: a link stays on the thread that opened it, because OpenGL's contexts do. A link to another kind of display may
/// move: [`Link::for_any_thread`]. The calls for frames are those of [`LinkCore`].
///
/// ```
/// use cpu_fallback::*;
/// use interop_core::*;
///
/// let (backend, display) = (std::sync::Arc::new(CpuBackend::new()?), MemoryDisplay::new());
/// let desc = SurfaceDesc::image(2, 1, PixelFormat::R8);
/// let mut link = Link::open(backend, display, desc, LinkOptions::default())?;
/// assert!(matches!(link.shown(), Err(Error::NothingShown)));
/// link.frame(|next| next.write(&[10, 20]))?;
/// assert_eq!(link.read_back()?, [10, 20]);
/// # Ok::<(), Error>(())
/// ```
pub struct Link<T = OneThread> {
    core: LinkCore,
    threads: PhantomData<T>,
}

/// The part of a [`Link`] that is the same on all threads: everything that follows its opening.
pub struct LinkCore {
    backend: Arc<dyn ComputeBackend>,
    display: Arc<dyn Display>,
    options: LinkOptions,
    layout: FrameLayout,
    path: OpenedPath,
    id: PathId,
    report: ProbeReport,
    /// The largest surface for which the current path was verified.
    proved: SurfaceDesc,
    /// The surface for which the path's memory was made: the current one, or a larger one.
    made_for: SurfaceDesc,
    /// True where a frame of the user (not only a verification pattern) is in `path`'s surface.
    finished: bool,
    /// After a resize or a change of path: the holder of the shown frame, until the next frame is finished.
    retired: Option<RetiredFrame>,
    /// Paths that failed, with the reason.
    demoted: Vec<(PathId, String)>,
    /// Error of the path, if it failed; the next frame uses another path.
    broken: Option<Error>,
    /// True where the path holds a frame that was dropped after the hand-over; the next frame must not keep its pixels.
    unclean: bool,
    /// True where it was resized to 0x0.
    paused: bool,
    /// Paths that are still to be compared.
    live_trials: LiveTrials,
    touch: Touch,
    auditor: Auditor,
    /// Targets of frames that kernels write directly.
    targets: Targets,
    /// True where the newest frame is only in its target.
    in_target: bool,
    /// Identifies this link in a trace.
    number: u32,
    /// Number of frames that were begun.
    frames: u64,
    /// The frame that was finished last.
    newest: Option<FrameTag>,
}

impl Link {
    /// Selects and verifies a path; see [`crate::select`].
    ///
    /// # Errors
    /// [`Error::InvalidInput`] and [`Error::Unsupported`] for invalid or unsupported sizes; [`Error::NoPath`] where no
    /// path works, or a forced one does not. Settings of the [environment](crate::select::environment) override the
    /// policy.
    pub fn open(
        backend: Arc<dyn ComputeBackend>,
        display: Arc<dyn Display>,
        desc: SurfaceDesc,
        options: LinkOptions,
    ) -> Result<Self> {
        let options = LinkOptions { policy: options.policy.overridden()? };
        let Selection { path, id, report, live_trials } = open_path(&backend, &display, &desc, &options.policy)?;
        let layout = FrameLayout::new(&desc, display.caps());
        let touch = Touch::new(&options.policy.clock);
        let auditor = Auditor::new(options.policy.audit, &options.policy.clock);
        let core = LinkCore {
            backend,
            display,
            options,
            layout,
            path,
            id,
            report,
            proved: desc,
            made_for: desc,
            finished: false,
            retired: None,
            demoted: Vec::new(),
            broken: None,
            unclean: false,
            paused: false,
            live_trials,
            touch,
            auditor,
            targets: Targets::new()?,
            in_target: false,
            number: frame_trace::next_link(),
            frames: 0,
            newest: None,
        };
        Ok(Self { core, threads: PhantomData })
    }

    /// Lets the link move to other threads, and be used by one at a time.
    ///
    /// ```
    /// use cpu_fallback::*;
    /// use interop_core::*;
    ///
    /// let (backend, display) = (std::sync::Arc::new(CpuBackend::new()?), MemoryDisplay::new());
    /// let desc = SurfaceDesc::image(2, 1, PixelFormat::R8);
    /// let link = Link::open(backend, display.clone(), desc, LinkOptions::default())?;
    /// let mut link = link.for_any_thread(&display).expect("the link's own display");
    /// std::thread::spawn(move || link.frame(|next| next.write(&[10, 20]))).join().unwrap()?;
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// The link, unchanged, where `display` is not its display.
    pub fn for_any_thread<D: AnyThreadDisplay>(self, display: &Arc<D>) -> Result<Link<AnyThread>, Box<Self>> {
        match is_same(self.display(), display) {
            true => Ok(Link { core: self.core, threads: PhantomData }),
            false => Err(Box::new(self)),
        }
    }
}

impl<T> Deref for Link<T> {
    type Target = LinkCore;

    fn deref(&self) -> &LinkCore {
        &self.core
    }
}

impl<T> DerefMut for Link<T> {
    fn deref_mut(&mut self) -> &mut LinkCore {
        &mut self.core
    }
}

crate::debug_as!(Link<T>, |this| path = &this.id, desc = this.desc());

impl LinkCore {
    /// Returns the backend, which computes frames.
    pub fn backend(&self) -> &Arc<dyn ComputeBackend> {
        &self.backend
    }

    /// Returns the display, which shows frames.
    pub fn display(&self) -> &Arc<dyn Display> {
        &self.display
    }

    /// Returns the description of the next frame.
    pub fn desc(&self) -> &SurfaceDesc {
        self.layout.desc()
    }

    /// Returns the current path.
    pub fn path(&self) -> PathId {
        self.id
    }

    /// Returns the findings about every path, and what audits have found up to the last frame.
    pub fn report(&self) -> &ProbeReport {
        &self.report
    }

    /// Judges the audited frames whose digests have arrived, and returns what the audits have found so far. Does not
    /// wait. Each frame does this, too. After a wrong frame, the next frame leaves the path.
    pub fn audits(&mut self) -> &AuditReport {
        self.settle_audits();
        &self.report.audits
    }

    pub(crate) fn settle_audits(&mut self) {
        let found = self.auditor.settle();
        if self.report.audits != *self.auditor.report() {
            self.report.audits.clone_from(self.auditor.report());
        }
        let Some((frame, verdict)) = found else { return };
        let path = self.id;
        tracing::warn!(%path, frame, %verdict, "an audit found a wrong frame");
        self.broken.get_or_insert(Error::WrongFrame { path, frame, verdict });
    }

    /// Number of frames between the one finished last and the one shown (see [`crate::Mode`]).
    pub fn frames_behind(&self) -> usize {
        self.path.frames_behind()
    }

    /// Waits for the last finished frame and shows it. Does something only in pipelined mode. After a resize or a
    /// change of path, that frame belongs to the previous path until the first frame of the new one is finished.
    pub fn flush(&mut self) -> Result<()> {
        let _step = step!("flush");
        match &mut self.retired {
            Some(retired) if !self.finished => retired.flush(),
            _ => self.path.flush(),
        }
    }

    /// Returns everything as text for a bug report: both devices, every path with its state, cost and reason, the
    /// selection and its reason, later failures, and findings with advice.
    pub fn explain(&self) -> String {
        let mut text = format!("pixelferry {}, {}", env!("CARGO_PKG_VERSION"), self.report);
        text += &format!("  in use: {}, {} behind\n", self.id, counted(self.frames_behind(), "frame"));
        for (path, reason) in &self.demoted {
            text += &format!("  left: {path}: {reason}\n");
        }
        text + &format!("  audit: {}\n", self.auditor.report())
    }

    /// Starts a frame of the whole surface. The surface's rule determines the pixels that it leaves unwritten, see
    /// [`crate::Unwritten`]. Waits until the display no longer uses the frame's memory.
    ///
    /// # Errors
    /// [`Error::Paused`]; errors of the backend, the display or the path.
    pub fn acquire(&mut self) -> Result<WriteFrame<'_>> {
        self.acquire_part(self.layout.full())
    }

    /// Starts a frame of `region` only, with rows counted in the surface's order. All other pixels stay as the display
    /// has them. The surface's rule determines pixels inside the region that the frame leaves unwritten.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an empty region, one outside the surface, or a buffer surface.
    pub fn acquire_region(&mut self, region: Region) -> Result<WriteFrame<'_>> {
        self.acquire_part(SurfacePart::Image(region))
    }

    /// Starts a frame of `bytes` of a buffer surface only. All other bytes stay. The surface's rule determines bytes in
    /// this range that the frame leaves unwritten.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an empty range, one outside the buffer, or an image surface.
    pub fn acquire_bytes(&mut self, bytes: Range<usize>) -> Result<WriteFrame<'_>> {
        self.acquire_part(SurfacePart::Buffer(bytes))
    }

    /// Returns the newest finished frame, for drawing.
    ///
    /// # Errors
    /// [`Error::NothingShown`] before the first frame is finished; [`Error::InTarget`] after a frame that
    /// [`Link::show`](LinkCore::show) wrote directly into its target.
    pub fn shown(&self) -> Result<ShownFrame<'_>> {
        let (surface, id, frame) = match &self.retired {
            _ if self.in_target => return Err(Error::InTarget),
            _ if self.finished => (self.path.surface(), self.id, self.path.shown_frame()),
            Some(retired) => (retired.surface(), retired.id(), retired.shown_frame()),
            None => return Err(Error::NothingShown),
        };
        Ok(ShownFrame::new(surface, id, frame.or(self.newest), self.touched()))
    }

    /// Resets the link to its state after opening: it shows nothing, and every pixel is zero.
    ///
    /// # Errors
    /// Errors of the backend or display; then it shows nothing either, and the next frame may replace the path.
    pub fn clear(&mut self) -> Result<()> {
        (self.finished, self.retired, self.newest, self.in_target) = (false, None, None, false);
        self.auditor.forget();
        self.unclean = true;
        self.make_pieces(true)?;
        blank(&mut self.path, self.backend.as_ref(), &self.layout)?;
        self.unclean = false;
        Ok(())
    }

    /// Returns the paths that failed, with the reason, oldest first.
    pub fn demoted(&self) -> &[(PathId, String)] {
        &self.demoted
    }

    /// Reads the shown frame as the display shows it: tight rows in the surface's order. This is slow; use it for
    /// saving and testing.
    ///
    /// # Errors
    /// Those of [`Link::shown`](LinkCore::shown) and of the display.
    pub fn read_back(&mut self) -> Result<Vec<u8>> {
        match &mut self.retired {
            _ if self.in_target => Err(Error::InTarget),
            _ if self.finished => {
                let bytes = self.path.surface_mut().read_back(&self.layout.full())?;
                Ok(self.layout.to_surface_rows(bytes))
            }
            Some(retired) => retired.read_back(),
            None => Err(Error::NothingShown),
        }
    }

    pub(crate) fn finish_frame(&mut self, part: &SurfacePart) -> Result<()> {
        let _step = step!("finish");
        let (sides, frame) = ((&self.backend, &self.display), self.frames);
        self.auditor.before_hand_over(sides, &mut self.path, (&self.layout, part), frame);
        let mut done = self.path.finish();
        if done.is_ok() && !self.finished {
            // Until the pipeline is full, it would return patterns of the verification.
            done = self.path.flush();
            self.unclean = done.is_err();
        }
        if let Err(error) = done {
            if self.may_demote(&error) {
                self.broken = Some(error.clone());
            }
            return Err(error);
        }
        (self.finished, self.in_target) = (true, false);
        self.retired = None;
        self.newest = FrameTag::current();
        self.auditor.after_hand_over(&self.display, &mut self.path, &self.layout, self.frames);
        drop(self.touched());
        Ok(())
    }

    /// True where the shown frame may change when a frame begins, because the path may be replaced.
    pub(crate) fn may_show_before_a_frame(&self) -> bool {
        self.unclean || self.broken.is_some() || !self.live_trials.is_over()
    }

    /// True while a frame is open that kernels write directly into a target.
    fn is_straight(&mut self) -> bool {
        self.targets.writes().is_some()
    }

    /// Returns the memory that kernels of the open frame write.
    pub(crate) fn next_target(&mut self) -> Result<(Target<'_>, &dyn ComputeBackend)> {
        let target = self.targets.writes().unwrap_or_else(|| self.path.target())?;
        Ok((target, self.backend.as_ref()))
    }
}
