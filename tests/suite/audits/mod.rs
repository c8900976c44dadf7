//! Audits of frames: on every path of every pair, right frames are found right, and frames that a fault in front of the
//! drivers spoils are found wrong, with the frame's number and its rows.

use pixelferry::driver::describe::pattern::Pattern;
use pixelferry::{
    Audit, AuditVerdict, ComputeBackend, CpuBackend, Display, DisplayChoice, Error, Extent, ImageAccess, ImageDesc,
    ImageView, Link, LinkOptions, Mode, PathId, PixelFormat, Policy, Profiles, QueueOptions, Result, SurfaceDesc, View,
    open_headless,
};
use pixelferry_tests::faults::{BackendDouble, DisplayDouble, FaultStep, Faults};
use pixelferry_tests::{Need, by_level, displays, need, wait_until};
use std::collections::BTreeSet;
use std::num::NonZero;
use std::ops::Range;
use std::sync::Arc;

/// Rows without padding, on every display.
const WIDTH: u32 = 256;
const HEIGHT: u32 = 300;
const ROW: usize = 4 * WIDTH as usize;

struct AuditRun {
    link: Link,
    faults: Faults,
    nonce: u32,
}

impl AuditRun {
    fn open(
        (backend, display): (&Arc<dyn ComputeBackend>, &Arc<dyn Display>),
        desc: SurfaceDesc,
        (path, mode): (PathId, Mode),
    ) -> Result<Self> {
        let faults = Faults::default();
        let policy = Policy::default()
            .with_force(path)
            .with_mode(mode)
            .with_profiles(Profiles::Off)
            .with_audit(Audit::Every(NonZero::<u32>::MIN));
        let (backend, display) =
            (BackendDouble::over(Arc::clone(backend), &faults), DisplayDouble::over(Arc::clone(display), &faults));
        Ok(Self { link: Link::open(backend, display, desc, LinkOptions::new(policy))?, faults, nonce: 0 })
    }

    fn frame(&mut self) -> Result<()> {
        self.nonce += 1;
        let nonce = self.nonce;
        let backend = Arc::clone(self.link.backend());
        self.link.frame(|next| {
            let target = next.target()?;
            let pattern = Pattern::for_view(&target.view(), nonce);
            backend.write_pattern(target, &pattern)
        })
    }

    /// Waits until every frame is judged whose digests are on their way.
    fn judged(&mut self) {
        let settled = || {
            self.link.display().finish().unwrap();
            self.link.backend().finish().unwrap();
            self.link.audits().under_way == 0
        };
        wait_until("the digests arrive", settled);
    }

    /// Returns the error of a frame that was computed before, if its audit found it wrong.
    fn verdict(&mut self) -> Option<(u64, AuditVerdict)> {
        for _ in 0..4 {
            self.judged();
            match self.frame() {
                Err(Error::WrongFrame { frame, verdict, .. }) => return Some((frame, verdict)),
                Err(error) => panic!("{error}"),
                Ok(()) => {}
            }
        }
        self.judged();
        None
    }
}

/// Each kind of surface: textures, images that the display may read in place, and buffers.
fn surfaces() -> [SurfaceDesc; 3] {
    let image = ImageDesc::new(WIDTH, HEIGHT, PixelFormat::Rgba8);
    let in_place = image.with_access(ImageAccess::Any);
    [SurfaceDesc::Image(image), SurfaceDesc::Image(in_place), SurfaceDesc::buffer((ROW * HEIGHT as usize) as u64)]
}

/// Runs every path, and returns those that were audited.
fn audits(backend: &Arc<dyn ComputeBackend>, name: &str, display: &Arc<dyn Display>) -> BTreeSet<&'static str> {
    let mut audited = BTreeSet::new();
    for (path, desc) in PathId::ALL.into_iter().flat_map(|path| surfaces().map(|desc| (path, desc))) {
        for mode in [Mode::Latency, Mode::FramesBehind(2)] {
            let Ok(mut run) = AuditRun::open((backend, display), desc, (path, mode)) else { continue };
            for _ in 0..20 {
                run.frame().unwrap();
                run.judged();
            }
            let report = run.link.audits().clone();
            let case = format!("{} -> {name}, {path}, {desc}, {mode:?}", backend.device());
            println!("{case}: {report}");
            if let Some(reason) = report.absent {
                // A texture that kernels may not use is copied for them.
                assert!(!reason.contains("kernels cannot store"), "{case}: {reason}");
                continue;
            }
            assert_eq!(run.verdict(), None, "{case}");
            let report = run.link.audits();
            assert!(report.wrong == 0 && report.right > 6, "{case}: {report}");
            assert!(run.link.explain().contains("audit: right in"), "{}", run.link.explain());
            spoiled(&mut run, path, &case);
            audited.insert(path.name());
        }
    }
    audited
}

fn spoiled(run: &mut AuditRun, path: PathId, case: &str) {
    let is_buffer = matches!(run.link.desc(), SurfaceDesc::Buffer(_));
    let in_place = run.faults.calls(FaultStep::ReadInPlace) > 0;
    let lie = match path {
        _ if in_place => Some((FaultStep::ReadInPlace, 0)),
        PathId::HOST_ROUND_TRIP => Some((FaultStep::Upload, 0)),
        // Kernels wrote the display's own texture.
        PathId::DIRECT | PathId::IN_QUEUE_TEXTURE => None,
        // Without a second queue, the display brings the kernels' digest to the host, too.
        _ => Some((FaultStep::UploadStaged, u32::from(run.link.backend().queue(QueueOptions::default()).is_err()))),
    };
    // In each, one frame is spoiled.
    for round in 0..by_level(2, 5, 20) {
        // A right frame comes before each fault.
        run.frame().unwrap();
        run.judged();
        // The display stays with the frame before.
        if let Some((lie, others)) = lie {
            run.faults.lie_once(lie, others);
            run.frame().unwrap();
            match run.verdict() {
                Some((_, AuditVerdict::Stale { by: 1 })) => {}
                other => panic!("{case}, stale, round {round}: {other:?}"),
            }
        }
        // Another program changes a pixel, or a band, after the kernels.
        let row = round * 13 % HEIGHT;
        let one = row as usize * ROW + 4 * (round as usize % WIDTH as usize);
        let rows = row..(row + 20).min(HEIGHT);
        if path == PathId::DIRECT || path.name().starts_with("in-queue") || path == PathId::HOST_ROUND_TRIP {
            // No memory is handed over.
            continue;
        }
        for (bytes, rows) in [(one..one + 4, row..row + 1), (rows.start as usize * ROW..rows.end as usize * ROW, rows)]
        {
            run.frame().unwrap();
            run.judged();
            run.faults.tamper(bytes);
            run.frame().unwrap();
            let verdict = run.verdict();
            match verdict {
                Some((_, AuditVerdict::Wrong { rows: found })) => {
                    let rows = if is_buffer { rows_of_buffer(&rows) } else { rows };
                    assert!(covers(&found, &rows), "{case}: {found:?}, {rows:?}");
                }
                other => panic!("{case}, rows {rows:?}, round {round}: {other:?}"),
            }
        }
    }
}

/// A buffer has rows of 4096 bytes.
fn rows_of_buffer(rows: &Range<u32>) -> Range<u32> {
    let rows_in_one = 4096 / ROW as u32;
    rows.start / rows_in_one..rows.end.div_ceil(rows_in_one)
}

/// True where the bands that were found are those of the rows, in whichever order the display has its rows.
fn covers(found: &[Range<u32>], rows: &Range<u32>) -> bool {
    let flipped = HEIGHT - rows.end..HEIGHT - rows.start;
    let is = |rows: &Range<u32>| match found {
        [found] => found.start <= rows.start && found.end >= rows.end && found.len() <= rows.len() + 4,
        _ => false,
    };
    is(rows) || is(&flipped)
}

fn check(backend: &Arc<dyn ComputeBackend>) {
    let mut audited = BTreeSet::new();
    for (choice, screen) in displays() {
        audited.extend(audits(backend, &format!("{choice:?}"), &screen.display()));
    }
    assert!(audited.contains(PathId::HOST_ROUND_TRIP.name()), "{audited:?}");
    println!("frames were audited on {audited:?}");
}

pixelferry_tests::on_each_backend!(check, "frames were audited on");

/// Kernels in the display's own queue.
#[test]
fn in_queue() {
    for (choice, screen) in displays() {
        let display = screen.display();
        let Some(backend) = display.backend_in_queue().unwrap() else { continue };
        let backend: Arc<dyn ComputeBackend> = *backend.downcast().unwrap();
        let audited = audits(&backend, &format!("{choice:?}"), &display);
        println!("{choice:?}: {audited:?}");
        assert!(audited.contains(PathId::IN_QUEUE_UPLOAD.name()), "{choice:?}: {audited:?}");
    }
}

/// A device that never answers costs audits, but no frame waits for it.
#[test]
fn no_frame_waits_for_a_device_that_never_answers() {
    for (choice, screen) in displays() {
        let display = screen.display();
        let Some(backend) = display.backend_in_queue().unwrap() else { continue };
        let backend: Arc<dyn ComputeBackend> = *backend.downcast().unwrap();
        let desc = surfaces()[0];
        let mut run = AuditRun::open((&backend, &display), desc, (PathId::HOST_ROUND_TRIP, Mode::Latency)).unwrap();
        run.faults.lie(FaultStep::Poll);
        for _ in 0..30 {
            run.frame().unwrap();
        }
        let report = run.link.audits().clone();
        println!("{choice:?}: {report:?}");
        if backend.queue(QueueOptions::default()).is_err() {
            assert_eq!((report.right, report.wrong, report.absent), (0, 0, None), "{choice:?}");
            assert!(report.skipped > 20 && report.under_way <= 4, "{choice:?}");
        }
        let view = ImageView::packed(Extent::new(WIDTH, HEIGHT), PixelFormat::Rgba8, 1, 0, false).unwrap();
        let (view, mut expected) = (View::Image(view), vec![0; ROW * HEIGHT as usize]);
        Pattern::for_view(&view, run.nonce).write(&view, &mut expected);
        assert!(run.link.read_back().unwrap() == expected, "{choice:?}: the last frame is wrong");
    }
}

/// The backend of a display's audits goes with the display, so that dropping one leaves the next display's context current.
#[test]
fn a_display_that_was_audited_ends_like_any_other() {
    let backend: Arc<dyn ComputeBackend> = pixelferry_tests::on(CpuBackend::new());
    let open = || {
        let screen = need(Need::Egl, open_headless(DisplayChoice::Gl))?;
        let sides = (&backend, &screen.display());
        let run = AuditRun::open(sides, surfaces()[1], (PathId::HOST_VISIBLE_IN_PLACE, Mode::Latency)).unwrap();
        Some((run, screen))
    };
    let Some(mut current) = open() else { return };
    for _ in 0..3 {
        current.0.frame().unwrap();
        current.0.judged();
        assert_eq!(current.0.link.audits().absent, None);
        current = open().unwrap();
        current.0.frame().unwrap();
    }
}
