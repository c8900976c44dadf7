//! Soak test of a long session: frames, resizes, links and displays that come and go, and calls of the drivers that
//! fail, thousands of frames of it (or `PIXELFERRY_FRAMES`). After every fault the whole picture is the last that was
//! finished, and in the end memory, descriptors and GL objects are where they were.

use super::{ResourceUse, choices, on, sides};
use pixelferry::{
    Arg, ComputeBackend, DisplayChoice, HeadlessDisplay, Kernel, Link, LinkCore, LinkOptions, PathId, Policy, Profiles,
    SurfaceDesc, open_headless,
};
use pixelferry_tests::faults::{BackendDouble, DisplayDouble, Fault, FaultKind, FaultStep, Faults};
use pixelferry_tests::{Dice, Need, by_level, number, ramp, ramp_pixel};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

const RSS_SLACK: u64 = 8 << 20;

fn desc(size: u32) -> SurfaceDesc {
    super::desc(48 + 16 * (size % 4), 24)
}

/// Mostly in one of the calls that a frame makes.
fn any_fault(dice: &mut Dice, made: &[FaultStep]) -> Fault {
    let steps = if made.is_empty() || dice.below(8) == 0 { FaultStep::ALL } else { made };
    let kinds = [
        FaultKind::Driver,
        FaultKind::Timeout,
        FaultKind::OutOfMemory,
        FaultKind::Driver,
        FaultKind::Timeout,
        FaultKind::ContextLost,
    ];
    Fault {
        step: *dice.pick(steps),
        nth: 1 + u32::from(dice.below(8) == 0),
        lasting: dice.below(4) == 0,
        kind: *dice.pick(&kinds),
    }
}

/// Open objects of the session. Fields are dropped in this order: a link before its display.
struct Session {
    link: Link,
    screen: HeadlessDisplay,
    /// A frame of the link was finished.
    shows: bool,
}

impl Session {
    fn open(choice: DisplayChoice, backend: &Arc<dyn ComputeBackend>, faults: &Faults, at: (PathId, u32)) -> Self {
        let screen = open_headless(choice).expect("it could be opened before");
        let link = Self::link(&screen, backend, faults, at);
        Self { link, screen, shows: false }
    }

    /// By `path` if that is offered.
    fn link(
        screen: &HeadlessDisplay,
        backend: &Arc<dyn ComputeBackend>,
        faults: &Faults,
        (path, size): (PathId, u32),
    ) -> Link {
        let policy = Policy::default().with_budget(Duration::ZERO).with_profiles(Profiles::Off).with_prefer(path);
        let display = DisplayDouble::over(screen.display(), faults);
        Link::open(Arc::clone(backend), display, desc(size), LinkOptions::new(policy)).unwrap()
    }
}

/// Every pixel on show is of frame `n`.
fn check(link: &mut LinkCore, faults: &Faults, n: u32, when: &str) {
    // After a resize the picture of before stays until the next frame.
    let SurfaceDesc::Image(image) = *link.shown().unwrap().desc() else { unreachable!("it is an image") };
    let shown = faults.paused(|| link.read_back()).unwrap_or_else(|e| panic!("{when}: {e}"));
    for (i, pixel) in shown.chunks_exact(4).enumerate() {
        let (x, y) = (i as u32 % image.extent.width, i as u32 / image.extent.width);
        assert_eq!(pixel, ramp_pixel(x, y, n), "{when}: pixel {x}, {y}");
    }
}

/// Counts of the steps, for the table at the end.
#[derive(Default)]
struct Counts(BTreeMap<&'static str, u32>);

impl Counts {
    fn add(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }
}

struct Soak<'a> {
    choice: DisplayChoice,
    backend: Arc<dyn ComputeBackend>,
    kernel: &'a dyn Kernel,
    faults: Faults,
    counts: Counts,
}

impl Soak<'_> {
    fn frame(&self, link: &mut LinkCore, n: u32) -> pixelferry::Result<()> {
        link.frame(|frame| frame.launch(self.kernel, &[Arg::U32(n)]))
    }

    /// A frame in which a call fails, and what a program does then.
    fn faulty_frame(&mut self, session: &mut Session, dice: &mut Dice, made: &[FaultStep], (n, size): (u32, u32)) {
        let fault = any_fault(dice, made);
        let when = format!("frame {n}, {fault:?}, by {}", session.link.path());
        self.faults.arm(fault);
        let result = self.frame(&mut session.link, n);
        let (fired, path) = (self.faults.fired() > 0, session.link.path());
        self.faults.disarm();
        match result {
            Ok(()) => {
                check(&mut session.link, &self.faults, n, &when);
                self.counts.add(match (fired, session.link.demoted().iter().any(|(id, _)| *id != path)) {
                    (false, _) => "faults in calls that were not made",
                    (true, true) => "faults: the frame went by another path, now or before",
                    (true, false) => "faults: the frame went all the same",
                });
            }
            Err(error) => {
                assert!(Faults::injected(&error), "{when}: {error}");
                if fault.kind == FaultKind::ContextLost {
                    // All is gone: a program makes it anew.
                    *session =
                        Session::open(self.choice, &self.backend, &self.faults, (*dice.pick(&PathId::ALL), size));
                    self.counts.add("faults: lost, made anew");
                } else if session.shows {
                    check(&mut session.link, &self.faults, n - 1, &when);
                    self.counts.add("faults: an error, the frame before stays");
                } else {
                    assert!(matches!(session.link.shown(), Err(pixelferry::Error::NothingShown)), "{when}");
                    self.counts.add("faults: an error in the first frame");
                }
                // The next one goes.
                self.frame(&mut session.link, n).unwrap_or_else(|e| panic!("after {when}: {e}"));
                check(&mut session.link, &self.faults, n, &when);
            }
        }
    }

    fn run(&mut self) {
        let frames = number("PIXELFERRY_FRAMES", by_level(1_100, 10_000, 100_000));
        let (mut dice, mut size) = (Dice(1), 0);
        let mut session = Session::open(self.choice, &self.backend, &self.faults, (*dice.pick(&PathId::ALL), size));
        let (mut before, mut made) = (None, Vec::new());
        for n in 0..frames {
            if n % 31 == 30 {
                size += 1;
                session.link.resize(desc(size)).unwrap();
                self.counts.add("resizes");
            }
            if n % 17 == 16 {
                self.faulty_frame(&mut session, &mut dice, &made, (n, size));
            } else {
                let calls = || FaultStep::ALL.iter().map(|step| self.faults.calls(*step)).collect::<Vec<_>>();
                let before = calls();
                self.frame(&mut session.link, n).unwrap_or_else(|e| panic!("frame {n}: {e}"));
                let counts = FaultStep::ALL.iter().zip(before.iter().zip(calls()));
                made = counts.filter(|(_, (before, after))| **before < *after).map(|(step, _)| *step).collect();
            }
            session.shows = true;
            if n % 13 == 12 {
                check(&mut session.link, &self.faults, n, &format!("frame {n}"));
            }
            if n % 211 == 210 {
                session.link.recalibrate().unwrap();
                self.counts.add("recalibrations");
            }
            if n % 61 == 60 {
                session.link =
                    Session::link(&session.screen, &self.backend, &self.faults, (*dice.pick(&PathId::ALL), size));
                session.shows = false;
                self.counts.add("links opened");
            }
            if n % 1_009 == 1_008 {
                drop(session);
                session = Session::open(self.choice, &self.backend, &self.faults, (*dice.pick(&PathId::ALL), size));
                self.counts.add("displays opened");
            }
            // Both at the same size, each in a display of its own.
            if n == frames / 2 || n == frames - 1 {
                drop(session);
                assert!(self.faults.live().is_empty(), "alive: {:?}", self.faults.live());
                size = 0;
                session = Session::open(self.choice, &self.backend, &self.faults, (PathId::HOST_ROUND_TRIP, size));
                self.frame(&mut session.link, n).unwrap();
                session.shows = true;
                check(&mut session.link, &self.faults, n, "measured");
                let now = ResourceUse::now(Some(&session.screen));
                if let Some(before) = before.replace(now) {
                    now.judge(before, RSS_SLACK, "soak");
                }
            }
        }
        assert_eq!(self.faults.violations(), Vec::<String>::new());
        println!("SOAKED: {frames} frames on {}, {:?}", session.screen.display().device(), self.counts.0);
    }
}

#[test]
#[ignore = "run by the tests below, in a process of its own"]
fn child() {
    let Some((backend, _)) = sides() else { return };
    let faults = Faults::default();
    let backend: Arc<dyn ComputeBackend> = BackendDouble::over(backend, &faults);
    let kernel = backend.build(&ramp()).unwrap();
    Soak { choice: choices().1, backend, kernel: kernel.as_ref(), faults, counts: Counts::default() }.run();
    println!("FLAT");
}

pixelferry_tests::tests! {
    threads_to_opengl => on("soak::child", "threads", None, "gl");
    threads_to_wgpu => on("soak::child", "threads", None, "wgpu");
    opencl_to_opengl => on("soak::child", "opencl", Some(Need::Pocl), "gl");
    opencl_to_wgpu => on("soak::child", "opencl", Some(Need::Pocl), "wgpu");
}
