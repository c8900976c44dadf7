//! The choice by measurement, on doubles whose calls can be made slow: what is slow is not chosen, what was measured is
//! remembered, and what is remembered is proved again.

use pixelferry::{
    Display, ImageAccess, ImageDesc, Link, LinkCore, LinkOptions, Mode, PathId, PixelFormat, Policy, Profiles,
    SurfaceDesc, Unwritten,
    report::{PathReport, PathState},
};
use pixelferry_tests::Folder;
use pixelferry_tests::sharing::{Fault, FaultStep, Faults, backend, display, display_in_a_queue_of_its_own};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// By the clock of the doubles: nothing else takes any time.
const SLOW: Duration = Duration::from_millis(3);
/// Enough for every path.
const BUDGET: Duration = Duration::from_secs(600);

fn policy(folder: &Path) -> Policy {
    Policy::default().with_budget(BUDGET).with_profiles(Profiles::Folder(folder.to_owned()))
}

fn desc() -> SurfaceDesc {
    SurfaceDesc::Image(ImageDesc::new(24, 10, PixelFormat::Rgba8).with_access(ImageAccess::Any))
}

fn open(faults: &Faults, policy: Policy) -> Link {
    open_by(faults, policy, Unwritten::Overwrite)
}

fn open_by(faults: &Faults, policy: Policy, unwritten: Unwritten) -> Link {
    open_to(display(faults), faults, policy, unwritten)
}

fn open_to(display: Arc<dyn Display>, faults: &Faults, policy: Policy, unwritten: Unwritten) -> Link {
    let policy = policy.with_clock(faults.clock());
    Link::open(backend(faults), display, desc().with_unwritten(unwritten), LinkOptions::new(policy)).unwrap()
}

/// Number of paths that were timed.
fn timed(link: &LinkCore) -> usize {
    link.report().paths.iter().filter(|row| !row.measured.is_empty()).count()
}

/// Slows everything but one way of getting the pixels across.
fn slow_all_but(faults: &Faults, quick: FaultStep) {
    // What kernels write is shown by direct and in-queue-texture, so there it is the end of the compute side's turn.
    for step in
        [FaultStep::Upload, FaultStep::UploadStaged, FaultStep::ReadInPlace, FaultStep::Release, FaultStep::Submit]
    {
        if step != quick {
            faults.slow(step, SLOW);
        }
    }
}

#[test]
fn what_is_slow_is_not_chosen() {
    let folder = Folder::new("calibration-slow");
    let faults = Faults::default();
    slow_all_but(&faults, FaultStep::Upload);
    let link = open(&faults, policy(&folder.0));
    // The one path with neither a release nor a staging block.
    assert_eq!(link.path(), PathId::HOST_ROUND_TRIP, "{}", link.report());
    assert_eq!(timed(&link), PathId::ALL.len(), "{}", link.report());

    let faults = Faults::default();
    faults.slow(FaultStep::Upload, SLOW);
    faults.slow(FaultStep::UploadStaged, SLOW);
    let link = open(&faults, policy(&folder.0).with_profiles(Profiles::Off));
    let uploads = [
        PathId::EXTERNAL_UPLOAD,
        PathId::EXPORTED_UPLOAD,
        PathId::HOST_VISIBLE_UPLOAD,
        PathId::PINNED_UPLOAD,
        PathId::PBO_PERSISTENT,
        PathId::PBO_ORPHAN,
        PathId::HOST_ROUND_TRIP,
    ];
    assert!(!uploads.contains(&link.path()), "{}", link.report());
}

/// By the clock of the doubles: the round trip is the quickest once its first frames are over, as the first of a driver are.
#[test]
fn a_path_whose_first_frames_are_slow_is_ranked_by_its_later_ones() {
    let open = |budget| {
        let faults = Faults::default();
        for step in [FaultStep::UploadStaged, FaultStep::ReadInPlace, FaultStep::Release] {
            faults.slow(step, SLOW);
        }
        faults.slow(FaultStep::Submit, SLOW / 2);
        faults.slow(FaultStep::Upload, SLOW / 3);
        faults.slow_at_first(FaultStep::Upload, 6 * SLOW, 10);
        let clock = faults.clock();
        let policy = Policy::default().with_budget(budget).with_profiles(Profiles::Off).with_clock(clock.clone());
        let begun = clock.now();
        (open(&faults, policy), clock.now() - begun)
    };
    let (link, _) = open(BUDGET);
    assert_eq!(link.path(), PathId::HOST_ROUND_TRIP, "{}", link.report());
    // Whatever the time: it is kept to but for a frame, and who was still getting quicker is not given up.
    for ms in (60..=600).step_by(20) {
        let budget = Duration::from_millis(ms);
        let (link, took) = open(budget);
        assert!(took <= budget + SLOW, "{took:?} of {budget:?}: {}", link.report());
        let left = &link.report().later.left;
        let kept = link.path() == PathId::HOST_ROUND_TRIP || left.iter().any(|way| way == "host-round-trip");
        assert!(kept, "{budget:?}: {}", link.report());
    }
}

/// The copy of the frame before is made by the compute side, on paths with several pieces of memory.
#[test]
fn paths_are_timed_with_what_keeps_unwritten_pixels() {
    let folder = Folder::new("calibration-keep");
    let faults = Faults::default();
    faults.slow(FaultStep::Copy, SLOW);
    let link = open_by(&faults, policy(&folder.0), Unwritten::Keep);
    let with_one_piece = [PathId::PBO_PERSISTENT, PathId::PBO_ORPHAN, PathId::HOST_ROUND_TRIP];
    assert!(with_one_piece.contains(&link.path()), "{}", link.report());
    let copied = faults.calls(FaultStep::Copy);
    assert!(copied > 0);
    for row in link.report().paths.iter().filter(|row| !with_one_piece.contains(&row.id)) {
        assert!(row.median_us().is_some_and(|us| us >= SLOW.as_secs_f64() * 1e6), "{}", link.report());
    }
    // Measurements for one rule say nothing of another.
    let link = open_by(&faults, policy(&folder.0), Unwritten::Overwrite);
    assert_eq!((timed(&link), folder.files()), (PathId::ALL.len(), 2), "{}", link.report());
    assert_eq!(faults.calls(FaultStep::Copy), copied, "nothing is kept");
    assert!(link.report().to_string().contains("unwritten pixels: overwrite"), "{}", link.report());
    let again = open_by(&faults, policy(&folder.0), Unwritten::Keep);
    assert!(timed(&again) == 0 && with_one_piece.contains(&again.path()), "{}", again.report());
}

#[test]
fn what_loses_is_timed_and_not_proved() {
    let faults = Faults::default();
    slow_all_but(&faults, FaultStep::Upload);
    let link = open(&faults, policy(Path::new("")).with_profiles(Profiles::Off));
    let slower = |row: &&PathReport| row.state == PathState::Slower;
    assert_eq!(link.path(), PathId::HOST_ROUND_TRIP, "{}", link.report());
    // Proved were the first that works and the winner.
    assert_eq!(link.report().paths.iter().filter(slower).count(), PathId::ALL.len() - 2, "{}", link.report());
    let read = faults.calls(FaultStep::ReadBack);
    assert!(read < 10, "{read} pictures were compared");
}

#[test]
fn what_is_quick_because_it_does_nothing_is_not_chosen() {
    let faults = Faults::default();
    slow_all_but(&faults, FaultStep::Upload);
    faults.lie(FaultStep::Upload);
    let mut link = open(&faults, policy(Path::new("")).with_profiles(Profiles::Off));
    let round_trip = link.report().paths.iter().find(|row| row.id == PathId::HOST_ROUND_TRIP).unwrap();
    assert!(matches!(round_trip.state, PathState::Rejected { .. }), "{}", link.report());
    link.frame(|frame| frame.write(&[9; 24 * 10 * 4])).unwrap();
    assert_eq!(link.read_back().unwrap(), [9; 24 * 10 * 4], "{}", link.report());
}

#[test]
fn after_a_failure_the_quickest_of_the_others_is_taken_as_late_as_before() {
    let faults = Faults::default();
    // Staged uploads are quicker than what is released by the compute side, on an idle machine, and slower than the round
    // trip.
    for step in [FaultStep::ReadInPlace, FaultStep::Release, FaultStep::Submit] {
        faults.slow(step, 2 * SLOW);
    }
    faults.slow(FaultStep::UploadStaged, SLOW);
    let mut link = open(&faults, policy(Path::new("")).with_profiles(Profiles::Off));
    assert_eq!(link.path(), PathId::HOST_ROUND_TRIP, "{}", link.report());
    faults.arm(Fault::lasting(FaultStep::Upload));
    link.frame(|frame| frame.write(&[9; 24 * 10 * 4])).unwrap();
    let others = link.report().paths.iter().filter(|row| row.id != PathId::HOST_ROUND_TRIP);
    let quickest = others.filter_map(PathReport::median_us).min_by(f64::total_cmp);
    assert_eq!(link.report().chosen().and_then(PathReport::median_us), quickest, "{}", link.report());
    assert!(link.explain().contains("measured before"), "{}", link.explain());

    // No budget: as late as is allowed, and so after the failure.
    let faults = Faults::default();
    let mode = Mode::Throughput { most: 2 };
    let policy = Policy::default().with_mode(mode).with_budget(Duration::ZERO).with_prefer(PathId::EXTERNAL_IN_PLACE);
    let mut link = open(&faults, policy);
    assert_eq!((link.path(), link.frames_behind()), (PathId::EXTERNAL_IN_PLACE, 2), "{}", link.report());
    faults.arm(Fault::lasting(FaultStep::ReadInPlace));
    link.frame(|frame| frame.write(&[9; 24 * 10 * 4])).unwrap();
    assert_ne!(link.path(), PathId::EXTERNAL_IN_PLACE);
    assert_eq!(link.frames_behind(), 2, "{}", link.explain());
    faults.disarm();
}

#[test]
fn a_budget_of_zero_keeps_the_static_order_and_measures_nothing() {
    let folder = Folder::new("calibration-zero");
    let faults = Faults::default();
    slow_all_but(&faults, FaultStep::Upload);
    let link = open(&faults, policy(&folder.0).with_budget(Duration::ZERO));
    assert_eq!((link.path(), timed(&link)), (PathId::DIRECT, 0), "{}", link.report());
    assert_eq!((faults.calls(FaultStep::DrawOffscreen), folder.files()), (0, 0));
}

#[test]
fn the_second_start_only_proves() {
    let folder = Folder::new("calibration-second");
    let faults = Faults::default();
    slow_all_but(&faults, FaultStep::Upload);
    assert_eq!(open(&faults, policy(&folder.0)).path(), PathId::HOST_ROUND_TRIP);
    assert_eq!(folder.files(), 1);
    let (measured, proofs) = (faults.calls(FaultStep::DrawOffscreen), faults.calls(FaultStep::ReadBack));
    assert!(measured > 0);
    let link = open(&faults, policy(&folder.0));
    assert_eq!((link.path(), timed(&link)), (PathId::HOST_ROUND_TRIP, 0), "{}", link.report());
    assert_eq!(faults.calls(FaultStep::DrawOffscreen), measured, "it was timed again");
    let proofs = faults.calls(FaultStep::ReadBack) - proofs;
    assert!((1..10).contains(&proofs), "{proofs} pictures were compared");
    // Another mode is another question.
    open(&faults, policy(&folder.0).with_mode(Mode::FramesBehind(1)));
    assert!(faults.calls(FaultStep::DrawOffscreen) > measured);
    assert_eq!(folder.files(), 2);
}

#[test]
fn a_profile_whose_path_works_no_longer_is_measured_again() {
    let folder = Folder::new("calibration-stale");
    let faults = Faults::default();
    slow_all_but(&faults, FaultStep::Upload);
    assert_eq!(open(&faults, policy(&folder.0)).path(), PathId::HOST_ROUND_TRIP);
    let measured = faults.calls(FaultStep::DrawOffscreen);
    faults.arm(Fault::lasting(FaultStep::Upload));
    let link = open(&faults, policy(&folder.0));
    assert!(faults.calls(FaultStep::DrawOffscreen) > measured);
    assert_ne!(link.path(), PathId::HOST_ROUND_TRIP);
    let state = link.report().paths.iter().find(|row| row.id == PathId::HOST_ROUND_TRIP).map(|row| row.state.clone());
    assert!(matches!(state, Some(PathState::Rejected { .. })), "{state:?}");
    // And that is what is remembered from now on.
    let measured = faults.calls(FaultStep::DrawOffscreen);
    let chosen = link.path();
    assert_eq!(open(&faults, policy(&folder.0)).path(), chosen);
    assert_eq!(faults.calls(FaultStep::DrawOffscreen), measured);
}

#[test]
fn a_path_that_fails_while_it_is_timed_is_not_chosen() {
    let folder = Folder::new("calibration-timed");
    for nth in [1, 3, 4, 5, 6, 8, 11, 15, 25] {
        let faults = Faults::default();
        slow_all_but(&faults, FaultStep::Upload);
        faults.arm(Fault { nth, ..Fault::lasting(FaultStep::Upload) });
        let mut link = open(&faults, policy(&folder.0).with_profiles(Profiles::Off));
        let row =
            |link: &LinkCore| link.report().paths.iter().find(|r| r.id == PathId::HOST_ROUND_TRIP).cloned().unwrap();
        if faults.fired() > 0 {
            assert_ne!(link.path(), PathId::HOST_ROUND_TRIP, "{nth}: {}", link.report());
            assert!(!row(&link).state.works(), "{nth}: {}", link.report());
        }
        link.frame(|frame| frame.write(&[9; 24 * 10 * 4])).unwrap();
        faults.disarm();
        assert_eq!(link.read_back().unwrap(), [9; 24 * 10 * 4], "{nth}");
    }
}

#[test]
fn lateness_that_fails_to_settle_is_left_to_the_next_path() {
    for nth in [10, 30, 50] {
        let faults = Faults::default();
        faults.arm(Fault { nth, ..Fault::lasting(FaultStep::ReadInPlace) });
        let mode = Mode::Throughput { most: 3 };
        let policy = Policy::default().with_mode(mode).with_budget(BUDGET).with_prefer(PathId::EXTERNAL_IN_PLACE);
        let mut link = open(&faults, policy);
        assert!(faults.fired() > 0, "{nth}: the fault did not come up");
        link.frame(|frame| frame.write(&[9; 24 * 10 * 4])).unwrap();
        faults.disarm();
        link.flush().unwrap();
        assert_eq!(link.read_back().unwrap(), [9; 24 * 10 * 4], "{nth}: {}", link.report());
    }
}

#[test]
fn a_resize_keeps_the_lateness_and_the_way_of_taking_turns() {
    let faults = Faults::default();
    // The host's waits are slow: semaphores win.
    faults.slow(FaultStep::Wait, SLOW);
    faults.slow(FaultStep::Release, SLOW);
    for step in [FaultStep::Upload, FaultStep::UploadStaged] {
        faults.slow(step, SLOW);
    }
    let mode = Mode::Throughput { most: 2 };
    let policy = Policy::default().with_mode(mode).with_budget(BUDGET).with_profiles(Profiles::Off);
    // In one queue nobody waits.
    let display = display_in_a_queue_of_its_own(&faults);
    let mut link = open_to(display, &faults, policy, Unwritten::Overwrite);
    let chosen = |link: &LinkCore| match link.report().chosen().map(|row| row.state.clone()) {
        Some(PathState::Chosen { sync, .. }) => sync,
        other => panic!("{other:?}"),
    };
    let (path, sync, late) = (link.path(), chosen(&link), link.frames_behind());
    assert!(sync.to_string().contains("semaphore"), "{}", link.report());
    let drawn = faults.calls(FaultStep::DrawOffscreen);
    link.resize(SurfaceDesc::Image(ImageDesc::new(31, 7, PixelFormat::Rgba8).with_access(ImageAccess::Any))).unwrap();
    assert_eq!((link.path(), chosen(&link), link.frames_behind()), (path, sync, late), "{}", link.report());
    assert_eq!(faults.calls(FaultStep::DrawOffscreen), drawn, "it was timed again");
}

#[test]
fn two_threads_at_once_leave_one_whole_profile() {
    let folder = Folder::new("calibration-threads");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let faults = Faults::default();
                slow_all_but(&faults, FaultStep::Upload);
                assert_eq!(open(&faults, policy(&folder.0)).path(), PathId::HOST_ROUND_TRIP);
            });
        }
    });
    assert_eq!(folder.files(), 1);
    let faults = Faults::default();
    assert_eq!(open(&faults, policy(&folder.0)).path(), PathId::HOST_ROUND_TRIP);
    assert_eq!(faults.calls(FaultStep::DrawOffscreen), 0, "it was measured again");
}
