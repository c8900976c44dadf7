//! Fallback beyond the matrix: forced paths, kernels that fail, the manual flow, and the way back.

use super::rig::{Log, Rig, image, paint, policy};
use pixelferry::{Arg, Error, Extent, Link, LinkCore, Mode, PathId, Region, SurfaceDesc, report::PathState};
use pixelferry_tests::sharing::{Fault, FaultKind, FaultStep, Faults};

const SURFACE: SurfaceDesc = SurfaceDesc::Image(image(24, 10));
const WHOLE: Region = Region::new(0, 0, 24, 10);
const FIRST: PathId = PathId::PINNED_UPLOAD;

fn picture(n: u32) -> Vec<u8> {
    let mut picture = vec![0; 24 * 10 * 4];
    paint(&mut picture, Extent::new(24, 10), WHOLE, n);
    picture
}

fn open(rig: &Rig) -> Link {
    rig.open(SURFACE, policy(Mode::Latency, None).with_prefer(FIRST)).unwrap()
}

fn frame(rig: &Rig, link: &mut LinkCore, n: u32) -> pixelferry::Result<()> {
    link.frame(|frame| rig.compute(frame, n))
}

/// By `acquire` and `finish`.
fn by_hand(rig: &Rig, link: &mut LinkCore, n: u32) -> pixelferry::Result<()> {
    let mut frame = link.acquire()?;
    rig.compute(&mut frame, n)?;
    frame.finish()
}

#[test]
fn a_forced_path_is_never_left() {
    for path in PathId::ALL {
        let rig = Rig::new();
        let mut link = rig.open(SURFACE, policy(Mode::Latency, None).with_force(path)).unwrap();
        frame(&rig, &mut link, 1).unwrap();
        for step in [
            FaultStep::Launch,
            FaultStep::Upload,
            FaultStep::UploadStaged,
            FaultStep::ReadInPlace,
            FaultStep::Release,
            FaultStep::MapRead,
        ] {
            rig.faults.arm(Fault::once(step));
            let done = frame(&rig, &mut link, 2);
            assert_eq!(done.is_err(), rig.faults.fired() > 0, "{path}, {step:?}: {done:?}");
            if let Err(error) = done {
                assert!(Faults::injected(&error) && matches!(error, Error::Driver(_)), "{path}, {step:?}: {error}");
                assert_eq!(rig.shown(&mut link).unwrap(), picture(1), "{path}, {step:?}: the frame before is shown");
            }
            rig.faults.disarm();
            frame(&rig, &mut link, 1).unwrap();
            assert_eq!(rig.shown(&mut link).unwrap(), picture(1), "{path}, {step:?}: the frame after");
        }
        assert_eq!((link.path(), link.demoted().len()), (path, 0));
        assert_eq!(rig.faults.violations(), Vec::<String>::new(), "{path}");
    }
}

#[test]
fn a_frame_that_no_path_does_gives_its_first_error_and_the_path_of_before() {
    let (rig, log) = (Rig::new(), Log::default());
    for user_frames in [0, 1] {
        let mut link = open(&rig);
        for n in 0..user_frames {
            frame(&rig, &mut link, n).unwrap();
        }
        let mut tries = 0i64;
        rig.faults.arm(Fault::lasting(FaultStep::Launch));
        let error = tracing::subscriber::with_default(log.clone(), || {
            link.frame(|frame| {
                tries += 1;
                rig.compute(frame, 7).map_err(|e| match e {
                    Error::Driver(mut driver) => {
                        driver.code = tries;
                        Error::Driver(driver)
                    }
                    other => other,
                })
            })
        });
        rig.faults.disarm();
        let Err(Error::Driver(error)) = error else { panic!("{error:?}") };
        assert_eq!((error.code, tries), (1, PathId::ALL.len() as i64), "the first of all errors");
        assert_eq!((link.path(), link.demoted().len()), (FIRST, 0));
        let chosen = link.report().chosen().map(|row| row.id);
        assert_eq!(chosen, Some(FIRST));
        match user_frames {
            0 => assert!(matches!(link.shown(), Err(Error::NothingShown))),
            _ => assert_eq!(rig.shown(&mut link).unwrap(), picture(0)),
        }
        frame(&rig, &mut link, 8).unwrap();
        assert_eq!((rig.shown(&mut link).unwrap(), link.path()), (picture(8), FIRST));
    }
    assert!(rig.faults.live().is_empty(), "{:?}", rig.faults.live());
}

#[test]
fn errors_of_the_caller_change_nothing() {
    let rig = Rig::new();
    let mut link = open(&rig);
    frame(&rig, &mut link, 1).unwrap();
    let allocated = rig.faults.calls(FaultStep::CreateSurface);
    let mut tries = 0;
    let error = link.frame(|frame| {
        tries += 1;
        frame.launch(rig.kernel.as_ref(), &[Arg::F32(1.0)])
    });
    assert!(matches!(error, Err(Error::InvalidInput { .. })), "{error:?}");
    assert!(link.frame_region(Region::new(20, 0, 5, 1), |_| Ok(())).is_err());
    assert!(link.frame_bytes(0..4, |_| Ok(())).is_err());
    assert_eq!((tries, link.path(), link.demoted().len()), (1, FIRST, 0));
    assert_eq!(rig.faults.calls(FaultStep::CreateSurface), allocated);
    assert_eq!(rig.shown(&mut link).unwrap(), picture(1));
}

#[test]
fn a_flush_shows_what_was_on_its_way_by_a_path_that_was_left() {
    let rig = Rig::new();
    let mut link = rig.open(SURFACE, policy(Mode::FramesBehind(2), None).with_prefer(FIRST)).unwrap();
    for n in 1..6 {
        frame(&rig, &mut link, n).unwrap();
    }
    assert_eq!((link.frames_behind(), link.read_back().unwrap()), (2, picture(3)));
    rig.faults.arm(Fault::once(FaultStep::Acquire));
    link.frame(|_| Err(Error::invalid("the test", "given up"))).unwrap_err();
    assert_eq!(rig.faults.fired(), 1);
    assert_ne!(link.path(), FIRST);
    link.flush().unwrap();
    assert_eq!(link.read_back().unwrap(), picture(5), "the frame finished last");
    frame(&rig, &mut link, 6).unwrap();
    assert_eq!(rig.shown(&mut link).unwrap(), picture(6));
}

#[test]
fn a_flush_shows_what_was_on_its_way_before_a_resize() {
    let rig = Rig::new();
    let mut link = rig.open(SURFACE, policy(Mode::FramesBehind(2), None)).unwrap();
    for n in 1..6 {
        frame(&rig, &mut link, n).unwrap();
    }
    link.resize(SurfaceDesc::Image(image(8, 8))).unwrap();
    link.flush().unwrap();
    assert_eq!(link.read_back().unwrap(), picture(5));
}

#[test]
fn nothing_is_kept_of_a_first_frame_that_could_not_be_shown() {
    let rig = Rig::new();
    let mut link = rig.open(SURFACE, policy(Mode::FramesBehind(2), None).with_force(FIRST)).unwrap();
    rig.faults.arm(Fault::once(FaultStep::UploadStaged));
    frame(&rig, &mut link, 1).unwrap_err();
    assert_eq!(rig.faults.fired(), 1);
    assert!(matches!(link.shown(), Err(Error::NothingShown)));
    let part = Region::new(0, 0, 24, 1);
    link.frame_region(part, |frame| rig.compute(frame, 2)).unwrap();
    link.flush().unwrap();
    let mut expected = vec![0; 24 * 10 * 4];
    paint(&mut expected, Extent::new(24, 10), part, 2);
    assert_eq!(link.read_back().unwrap(), expected);
}

#[test]
fn by_acquire_and_finish_the_error_comes_once() {
    let rig = Rig::new();
    let mut link = open(&rig);
    by_hand(&rig, &mut link, 1).unwrap();
    rig.faults.arm(Fault::lasting(FaultStep::UploadStaged));
    let error = by_hand(&rig, &mut link, 2).unwrap_err();
    assert!(Faults::injected(&error), "{error}");
    assert_eq!((rig.shown(&mut link).unwrap(), link.path()), (picture(1), FIRST));
    for n in 3..6 {
        by_hand(&rig, &mut link, n).unwrap();
        assert_eq!(rig.shown(&mut link).unwrap(), picture(n));
    }
    assert_ne!(link.path(), FIRST);
    assert_eq!(link.demoted().iter().map(|(id, _)| *id).collect::<Vec<_>>(), [FIRST]);
    assert!(link.demoted()[0].1.contains("upload staged"), "{}", link.demoted()[0].1);
}

#[test]
fn a_resize_after_a_failed_finish_is_by_another_path() {
    let rig = Rig::new();
    let mut link = open(&rig);
    by_hand(&rig, &mut link, 1).unwrap();
    rig.faults.arm(Fault::once(FaultStep::UploadStaged));
    by_hand(&rig, &mut link, 2).unwrap_err();
    link.resize(SurfaceDesc::Image(image(12, 5))).unwrap();
    assert_ne!(link.path(), FIRST);
    assert_eq!(link.demoted().len(), 1);
    assert_eq!(rig.shown(&mut link).unwrap(), picture(1));
}

#[test]
fn where_nothing_works_each_acquire_says_so_and_the_first_that_can_goes_on() {
    let rig = Rig::new();
    let mut link = open(&rig);
    by_hand(&rig, &mut link, 1).unwrap();
    rig.faults.arm(Fault { kind: FaultKind::ContextLost, ..Fault::once(FaultStep::UploadStaged) });
    for n in 2..6 {
        let error = by_hand(&rig, &mut link, n).unwrap_err();
        assert!(Faults::injected(&error), "{error}");
        assert_eq!((rig.shown(&mut link).unwrap(), link.path()), (picture(1), FIRST));
        assert!(link.demoted().len() <= 1, "{:?}", link.demoted());
    }
    rig.faults.disarm();
    // The error of the last finish is still to be answered: by any path.
    by_hand(&rig, &mut link, 6).unwrap();
    assert_eq!(rig.shown(&mut link).unwrap(), picture(6));
}

#[test]
fn recalibration_climbs_back_when_the_fault_is_gone() {
    let rig = Rig::new();
    let mut link = open(&rig);
    frame(&rig, &mut link, 1).unwrap();
    rig.faults.arm(Fault::lasting(FaultStep::UploadStaged));
    frame(&rig, &mut link, 2).unwrap();
    assert_ne!(link.path(), FIRST);
    // Not yet: the path is still among those that do not work, and no longer among those that were left.
    link.recalibrate().unwrap();
    assert_ne!(link.path(), FIRST);
    let state = link.report().paths.iter().find(|row| row.id == FIRST).map(|row| row.state.clone());
    assert!(matches!(state, Some(PathState::Rejected { .. })), "{state:?}");
    assert_eq!(rig.shown(&mut link).unwrap(), picture(2));
    rig.faults.disarm();
    link.recalibrate().unwrap();
    assert_eq!((link.path(), link.demoted().len()), (FIRST, 0));
    assert_eq!(rig.shown(&mut link).unwrap(), picture(2), "until the first frame of the path");
    frame(&rig, &mut link, 3).unwrap();
    assert_eq!(rig.shown(&mut link).unwrap(), picture(3));
}

#[test]
fn recalibration_that_fails_changes_nothing() {
    let rig = Rig::new();
    let mut link = open(&rig);
    frame(&rig, &mut link, 1).unwrap();
    rig.faults.arm(Fault::lasting(FaultStep::WritePattern));
    let error = link.recalibrate().unwrap_err();
    assert!(matches!(error, Error::NoPath { .. }) && Faults::injected(&error), "{error}");
    assert_eq!((link.path(), rig.shown(&mut link).unwrap()), (FIRST, picture(1)));
    frame(&rig, &mut link, 2).unwrap();
    assert_eq!((link.path(), rig.shown(&mut link).unwrap()), (FIRST, picture(2)));
}

#[test]
fn what_cannot_be_read_is_not_blamed_on_the_next_path() {
    let rig = Rig::new();
    let mut link = open(&rig);
    frame(&rig, &mut link, 1).unwrap();
    rig.faults.arm(Fault::once(FaultStep::UploadStaged));
    by_hand(&rig, &mut link, 2).unwrap_err();
    // Another path opens, then the picture on show cannot be read for what lies around a region.
    let proofs = rig.faults.calls(FaultStep::ReadBack);
    let before = link.acquire().map(drop);
    before.unwrap();
    assert!(rig.faults.calls(FaultStep::ReadBack) > proofs);
    let (path, demoted) = (link.path(), link.demoted().len());
    rig.faults.arm(Fault::lasting(FaultStep::ReadBack));
    let error = link.frame_region(Region::new(1, 1, 3, 3), |frame| rig.compute(frame, 3)).unwrap_err();
    assert!(Faults::injected(&error), "{error}");
    assert_eq!((link.path(), link.demoted().len()), (path, demoted));
    assert_eq!(rig.shown(&mut link).unwrap(), picture(1));
    frame(&rig, &mut link, 4).unwrap();
    assert_eq!((link.path(), rig.shown(&mut link).unwrap()), (path, picture(4)));
}
