//! Rows of a cell: floors, each path by name, and the path that the library chooses automatically.

use crate::bench::grid::{LATE, Mode, Spot};
use crate::bench::record::{RowInfo, RowKind, SkippedItem};
use crate::bench::row_names::{AUTOMATIC, DRAW, KERNEL, MEMCPY, NOTHING_SHARED, UNSYNCHRONISED};
use pixelferry::driver::{PathSpec, Paths, Staging, StagingKind};
use pixelferry::{
    Arg, ComputeBackend, ComputeMemory, Display, ImageAccess, ImageDesc, Kernel, Link, LinkCore, LinkOptions, PathId,
    Policy, Profiles, Result, Support, SurfaceDesc, Target, Trials, Unwritten, report::PathState,
};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The two sides and the picture of one cell.
pub(crate) struct Stage<'a> {
    pub backend: &'a Arc<dyn ComputeBackend>,
    pub display: &'a Arc<dyn Display>,
    pub kernel: &'a dyn Kernel,
    pub spot: Spot,
}

/// Sides that a sample waits for at its end.
#[derive(Clone, Copy)]
pub(crate) struct Ends {
    pub compute: bool,
    pub display: bool,
}

/// A row that is ready to be measured.
pub(crate) struct Subject<'a> {
    pub info: RowInfo,
    pub ends: Ends,
    /// Runs one frame without waiting for its end.
    pub frame: Box<dyn FnMut(u32) -> Result<()> + 'a>,
}

/// The rows of a cell, and those that did not open.
#[derive(Default)]
pub(crate) struct Rows<'a> {
    pub subjects: Vec<Subject<'a>>,
    pub skipped: Vec<SkippedItem>,
}

impl<'a> Rows<'a> {
    /// Opens all rows. Every link proves its path by pixels when it opens, so no row can measure wrong pixels.
    pub fn open(stage: &'a Stage<'a>) -> Self {
        let mut rows = Self::default();
        // The automatic link comes first, as in a program whose only link it is, when nothing is warm yet.
        let automatic = stage.open(stage.policy(None, stage.automatic_mode())).map(|(mut link, opened)| {
            let first = link.path();
            link.compare_paths(stage.later());
            (link, opened, first)
        });
        rows.floors(stage);
        for spec in Paths::default().iter() {
            let not_offered = automatic.as_ref().ok().and_then(|(link, ..)| not_offered(link, spec.id));
            match not_offered {
                Some(reason) => rows.skip(spec.id.name(), reason),
                None => rows.path(stage, spec),
            }
        }
        match automatic {
            Ok((link, opened, first)) => {
                let changed = Some(first.to_string()).filter(|_| first != link.path());
                rows.link(stage, AUTOMATIC.into(), RowKind::Automatic, link, opened);
                if let Some(row) = rows.subjects.last_mut() {
                    row.info.started_with = changed;
                }
            }
            Err(error) => rows.skip(AUTOMATIC, error),
        }
        rows
    }

    pub fn skip(&mut self, what: &str, reason: impl ToString) {
        self.skipped.push(SkippedItem { what: what.into(), reason: reason.to_string() });
    }

    fn push(&mut self, info: RowInfo, ends: Ends, frame: impl FnMut(u32) -> Result<()> + 'a) {
        self.subjects.push(Subject { info, ends, frame: Box::new(frame) });
    }

    fn floors(&mut self, stage: &'a Stage<'a>) {
        let Ok(bytes) = stage.desc().byte_len() else { return };
        let (from, mut to) = (vec![1_u8; bytes], vec![0_u8; bytes]);
        self.push(floor(MEMCPY), Ends { compute: false, display: false }, move |_| {
            to.copy_from_slice(std::hint::black_box(&from));
            std::hint::black_box(&mut to);
            Ok(())
        });
        let memory = match stage.backend.allocate(bytes) {
            Ok(memory) => Rc::new(RefCell::new(memory)),
            Err(error) => {
                return [KERNEL, DRAW, NOTHING_SHARED, UNSYNCHRONISED].iter().for_each(|row| self.skip(row, &error));
            }
        };
        let own = Rc::clone(&memory);
        self.push(floor(KERNEL), Ends { compute: true, display: false }, move |n| stage.launch_alone(&own, n));
        let still = match Still::open(stage) {
            Ok(still) => Rc::new(still),
            Err(error) => return [DRAW, NOTHING_SHARED, UNSYNCHRONISED].iter().for_each(|row| self.skip(row, &error)),
        };
        let shown = Rc::clone(&still);
        self.push(floor(DRAW), Ends { compute: false, display: true }, move |_| shown.draw(stage));
        let (own, shown) = (Rc::clone(&memory), Rc::clone(&still));
        self.push(floor(NOTHING_SHARED), Ends { compute: false, display: true }, move |n| {
            stage.launch_alone(&own, n)?;
            stage.backend.finish()?;
            shown.draw(stage)
        });
        self.push(floor(UNSYNCHRONISED), Ends { compute: true, display: true }, move |n| {
            stage.launch_alone(&memory, n)?;
            still.draw(stage)
        });
    }

    fn path(&mut self, stage: &'a Stage<'a>, spec: &PathSpec) {
        let path = spec.id;
        let measured = pixelferry::Mode::Throughput { most: stage.spot.most_behind() };
        let ways = match (stage.spot.mode, spec.pipelined) {
            (Mode::Throughput, true) => vec![
                (format!("{path}, {LATE} frames behind"), pixelferry::Mode::FramesBehind(LATE)),
                (format!("{path}, lateness measured"), measured),
            ],
            _ => vec![(path.to_string(), pixelferry::Mode::Latency)],
        };
        for (name, mode) in ways {
            match stage.open(stage.policy(Some(path), mode)) {
                Ok((link, opened)) => self.link(stage, name, RowKind::Path, link, opened),
                Err(error) => self.skip(&name, error),
            }
        }
    }

    fn link(&mut self, stage: &'a Stage<'a>, row: String, kind: RowKind, mut link: Link, opened: Duration) {
        let (sync, why) = match link.report().chosen().map(|p| &p.state) {
            Some(PathState::Chosen { sync, why }) => (Some(sync.to_string()), Some(why.clone())),
            _ => (None, None),
        };
        let info = RowInfo {
            row,
            kind,
            path: Some(link.path().to_string()),
            sync,
            frames_behind: link.frames_behind(),
            opened_ms: Some((opened.as_secs_f64() * 1e4).round() / 10.0),
            why,
            started_with: None,
        };
        // In a throughput run of a late path, the last kernels may still run when the last frame was drawn.
        let ends = Ends { compute: stage.spot.mode == Mode::Throughput, display: true };
        self.push(info, ends, move |n| {
            let mut frame = link.acquire()?;
            frame.launch(stage.kernel, &[Arg::U32(n)])?;
            frame.finish()?;
            stage.draw(&link)
        });
    }
}

fn floor(row: &str) -> RowInfo {
    let (path, sync, opened_ms, why, started_with) = (None, None, None, None, None);
    RowInfo { row: row.into(), kind: RowKind::Floor, path, sync, frames_behind: 0, opened_ms, why, started_with }
}

fn not_offered(link: &LinkCore, path: PathId) -> Option<String> {
    match &link.report().paths.iter().find(|p| p.id == path)?.state {
        PathState::NotOffered { reason } => Some(reason.clone()),
        _ => None,
    }
}

/// A finished frame that is drawn repeatedly.
struct Still {
    link: Link,
    /// Fenced after each draw, as paths do. Otherwise a driver may skip draws that a later draw covers (llvmpipe does).
    fence: Option<RefCell<Staging>>,
}

impl Still {
    fn open(stage: &Stage<'_>) -> Result<Self> {
        let (mut link, _) = stage.open(stage.policy(Some(PathId::HOST_ROUND_TRIP), pixelferry::Mode::Latency))?;
        let mut frame = link.acquire()?;
        frame.launch(stage.kernel, &[Arg::U32(0)])?;
        frame.finish()?;
        let fence = match stage.display.caps().persistent_staging {
            Support::Yes => Some(RefCell::new(stage.display.create_staging(StagingKind::Persistent, 64)?)),
            Support::No(_) => None,
        };
        Ok(Self { link, fence })
    }

    fn draw(&self, stage: &Stage<'_>) -> Result<()> {
        stage.draw(&self.link)?;
        self.fence.as_ref().map_or(Ok(()), |block| block.borrow_mut().fence())
    }
}

impl Stage<'_> {
    /// Asks for display only, so that every path can take part.
    fn desc(&self) -> SurfaceDesc {
        let extent = self.spot.size.extent;
        let image = ImageDesc::new(extent.width, extent.height, self.spot.format);
        SurfaceDesc::Image(image.with_access(ImageAccess::Any).with_unwritten(Unwritten::Overwrite))
    }

    fn automatic_mode(&self) -> pixelferry::Mode {
        match self.spot.mode {
            Mode::Latency => pixelferry::Mode::Latency,
            Mode::Throughput => pixelferry::Mode::Throughput { most: self.spot.most_behind() },
        }
    }

    /// Returns the default policy without memory of earlier runs; with `force`, that path.
    fn policy(&self, force: Option<PathId>, mode: pixelferry::Mode) -> Policy {
        let (profiles, trials) = (Profiles::Off, Trials::Asked);
        let defaults = Policy::default().with_mode(mode).with_profiles(profiles).with_trials(trials);
        match force {
            None => defaults,
            Some(_) => defaults.with_force(force).with_budget(Duration::ZERO),
        }
    }

    /// Time in which a program compares paths after its start, according to the policy; here it is spent at once.
    fn later(&self) -> Duration {
        match Trials::default() {
            Trials::Spread { share, within } => within.mul_f64(share),
            _ => Duration::ZERO,
        }
    }

    fn open(&self, policy: Policy) -> Result<(Link, Duration)> {
        let (backend, display) = (Arc::clone(self.backend), Arc::clone(self.display));
        let start = Instant::now();
        let link = Link::open(backend, display, self.desc(), LinkOptions::new(policy))?;
        Ok((link, start.elapsed()))
    }

    fn draw(&self, link: &LinkCore) -> Result<()> {
        self.display.draw_offscreen(link.shown()?.surface())
    }

    fn launch_alone(&self, memory: &RefCell<Box<dyn ComputeMemory>>, n: u32) -> Result<()> {
        let mut memory = memory.borrow_mut();
        let target = Target::image(memory.as_mut(), self.spot.size.extent, self.spot.format)?;
        self.backend.launch(self.kernel, target, &[Arg::U32(n)])
    }

    pub fn wait(&self, ends: Ends) -> Result<()> {
        if ends.compute {
            self.backend.finish()?;
        }
        if ends.display {
            self.display.finish()?;
        }
        Ok(())
    }
}
