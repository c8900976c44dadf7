//! Frames into an engine's own object, and out of it, while calls fail.

use super::rig::{Rig, paint};
use pixelferry::driver::SurfacePart;
use pixelferry::{Arg, Extent, Intake, Outlet, PathId, PixelFormat, Region, Result, SurfaceDesc};
use pixelferry_tests::sharing::{Fault, FaultKind, FaultStep, Faults};
use std::sync::Arc;
use std::time::Duration;

const SURFACE: SurfaceDesc = SurfaceDesc::image(24, 10, PixelFormat::Rgba8);

fn outlet(rig: &Rig) -> Outlet {
    let target = rig.display.create_surface(&SURFACE).unwrap();
    Outlet::open(Arc::clone(&rig.backend), Arc::clone(&rig.display), target).unwrap()
}

/// Opens by a path that copies. Where kernels reach the object itself, no call is that path's alone: if one fails, all paths do.
fn by_copies<T>(rig: &Rig, open: impl FnOnce() -> T) -> T {
    rig.faults.arm(Fault::lasting(FaultStep::ImportSurface));
    let opened = open();
    rig.faults.disarm();
    opened
}

fn frame(rig: &Rig, outlet: &mut Outlet, n: u32) -> Result<()> {
    outlet.frame(|frame| frame.launch(rig.kernel.as_ref(), &[Arg::U32(n)]))
}

fn check(rig: &Rig, outlet: &mut Outlet, n: u32) {
    let mut expected = vec![0; 24 * 10 * 4];
    paint(&mut expected, Extent::new(24, 10), Region::new(0, 0, 24, 10), n);
    let found = rig.faults.paused(|| outlet.surface().read_back(&SurfacePart::full(&SURFACE))).unwrap();
    assert!(found == expected, "{}, frame {n}", outlet.path());
}

fn works(outlet: &Outlet) -> usize {
    outlet.rows().iter().filter(|row| row.found.is_ok()).count()
}

#[test]
fn a_target_that_fails_in_each_frame_costs_few_searches() {
    let rig = Rig::new();
    let mut outlet = outlet(&rig);
    frame(&rig, &mut outlet, 1).unwrap();
    let (path, paths) = (outlet.path(), works(&outlet));
    assert!(paths > 1, "{:?}", outlet.rows());
    // The context is lost with the first of these calls that a frame makes.
    let loses = [FaultStep::Upload, FaultStep::UploadStaged, FaultStep::Export, FaultStep::MapStaging]
        .into_iter()
        .find(|step| {
            rig.faults.arm(Fault { kind: FaultKind::ContextLost, ..Fault::lasting(*step) });
            frame(&rig, &mut outlet, 2).is_err()
        });
    assert!(loses.is_some(), "{path}: nothing that it calls fails");
    let before = rig.faults.calls(FaultStep::CreateSurface);
    for n in 0..300 {
        let error = frame(&rig, &mut outlet, n).unwrap_err();
        assert!(Faults::injected(&error), "{error}");
    }
    // After 1, 2, 4 ... 64, 64 and 64 frames.
    let searched = (rig.faults.calls(FaultStep::CreateSurface) - before) as usize;
    assert!((paths - 1..=9 * (paths - 1)).contains(&searched), "{searched} of {paths} paths");
    rig.faults.disarm();
    frame(&rig, &mut outlet, 3).unwrap();
    check(&rig, &mut outlet, 3);
    assert_eq!((outlet.path(), works(&outlet)), (path, paths), "it was not the paths' fault");
}

#[test]
fn a_path_that_fails_is_left_and_the_frame_done_again() {
    for step in [
        FaultStep::UploadStaged,
        FaultStep::Release,
        FaultStep::Acquire,
        FaultStep::Wait,
        FaultStep::MapStaging,
        FaultStep::Upload,
    ] {
        let rig = Rig::new();
        let mut outlet = by_copies(&rig, || outlet(&rig));
        let before = outlet.path();
        rig.faults.arm(Fault::lasting(step));
        match frame(&rig, &mut outlet, 7) {
            Ok(()) => {
                check(&rig, &mut outlet, 7);
                assert_eq!(rig.faults.fired() > 0, outlet.path() != before, "{step:?}");
            }
            Err(error) => assert!(Faults::injected(&error) && outlet.path() == before, "{error}"),
        }
        rig.faults.disarm();
        frame(&rig, &mut outlet, 8).unwrap();
        check(&rig, &mut outlet, 8);
        assert_eq!(rig.faults.violations(), Vec::<String>::new(), "{step:?}");
    }
    // Each of the two calls is made by paths that never make the other.
    for (slow, fails) in [(FaultStep::Upload, FaultStep::UploadStaged), (FaultStep::UploadStaged, FaultStep::Upload)] {
        let rig = Rig::new();
        rig.faults.slow(slow, Duration::from_millis(3));
        let mut outlet = by_copies(&rig, || outlet(&rig));
        let before = outlet.path();
        assert_eq!(before == PathId::HOST_ROUND_TRIP, fails == FaultStep::Upload, "{before}");
        rig.faults.arm(Fault::lasting(fails));
        frame(&rig, &mut outlet, 9).unwrap();
        assert_eq!(outlet.path() == PathId::HOST_ROUND_TRIP, slow == FaultStep::Upload, "{}", outlet.path());
        check(&rig, &mut outlet, 9);
    }
}

#[test]
fn a_source_that_fails_is_taken_by_another_path() {
    let rig = Rig::new();
    let mut source = rig.display.create_surface(&SURFACE).unwrap();
    let bytes: Vec<u8> = (0..24 * 10 * 4).map(|at| (at * 7) as u8).collect();
    let view = pixelferry::driver::conformance::tight(&SURFACE).unwrap();
    source.upload(&SurfacePart::full(&SURFACE), &bytes, &view).unwrap();
    let open = || Intake::open(Arc::clone(&rig.backend), Arc::clone(&rig.display), source).unwrap();
    let mut intake = by_copies(&rig, open);
    let mut left = 0;
    let of_the_display = [FaultStep::Download, FaultStep::Wait, FaultStep::Export, FaultStep::ReadBack];
    // By the last two the host writes what it has read.
    let of_the_device =
        [FaultStep::Acquire, FaultStep::Release, FaultStep::Copy, FaultStep::Write, FaultStep::MapWrite];
    for step in of_the_display.into_iter().chain(of_the_device) {
        let before = intake.path();
        rig.faults.arm(Fault::lasting(step));
        let taken = intake.take().map(drop);
        let fired = rig.faults.fired() > 0;
        rig.faults.disarm();
        assert_eq!(fired && taken.is_ok(), intake.path() != before, "{step:?}, {before}: {taken:?}");
        left += usize::from(intake.path() != before);
        assert!(intake.take().unwrap().read().unwrap() == bytes, "{step:?}, {}", intake.path());
    }
    assert!(left > 0, "no step made it leave {}", intake.path());
    let before = intake.path();
    // Nothing of the display's works any more, whatever is called first.
    let lost = [FaultStep::ReadBack, FaultStep::Download, FaultStep::Export].into_iter().find(|step| {
        rig.faults.arm(Fault { kind: FaultKind::ContextLost, ..Fault::lasting(*step) });
        intake.take().is_err()
    });
    assert!(lost.is_some(), "{before}: nothing that it calls fails");
    rig.faults.disarm();
    assert!(intake.take().unwrap().read().unwrap() == bytes);
    assert_eq!(intake.path(), before, "it was not the paths' fault");
}
