//! Paths that are compared while the program runs: by the clock of doubles, and once by real drivers.

use pixelferry::Trials;
use pixelferry::driver::select::report::Outcome;
use pixelferry::{
    Arg, BackendChoice, DisplayChoice, ImageAccess, ImageDesc, Link, LinkBuilder, LinkCore, LinkOptions, Mode, PathId,
    PixelFormat, Policy, Profiles, SurfaceDesc,
};
use pixelferry_tests::sharing::{Fault, FaultStep, Faults, backend, display};
use pixelferry_tests::{Need, need, ramp, ramp_pixel};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);
/// Too little to time anything at the start.
const SHORT: Duration = Duration::from_millis(20);
const BYTES: usize = 24 * 10 * 4;

fn desc(height: u32) -> SurfaceDesc {
    SurfaceDesc::Image(ImageDesc::new(24, height, PixelFormat::Rgba8).with_access(ImageAccess::Any))
}

/// Doubles on which the round trip is quickest, and every path takes a while to be made.
fn faults() -> Faults {
    let faults = Faults::default();
    for step in [FaultStep::UploadStaged, FaultStep::ReadInPlace, FaultStep::Release] {
        faults.slow(step, 3 * MS);
    }
    for step in [FaultStep::Upload, FaultStep::CreateSurface, FaultStep::CreateInPlaceSurface] {
        faults.slow(step, MS);
    }
    faults.slow(FaultStep::ReadBack, 6 * MS);
    faults
}

fn policy(faults: &Faults) -> Policy {
    // As by default, but as long as it takes: the doubles have more paths than a machine.
    let trials = Trials::Spread { share: 0.02, within: Duration::from_secs(1 << 20) };
    Policy::default().with_budget(SHORT).with_profiles(Profiles::Off).with_trials(trials).with_clock(faults.clock())
}

fn open(faults: &Faults, policy: Policy) -> Link {
    Link::open(backend(faults), display(faults), desc(10), LinkOptions::new(policy)).unwrap()
}

/// A frame, and `wait` after it; what is on show is this frame and no other.
fn frame(faults: &Faults, link: &mut LinkCore, n: u32, wait: Duration) {
    link.frame(|frame| frame.write(&[n as u8; BYTES])).unwrap();
    drop(link.shown().unwrap());
    assert_eq!(faults.paused(|| link.read_back().unwrap()), [n as u8; BYTES], "frame {n}: {}", link.explain());
    faults.pass(wait);
}

/// Runs until nothing is left, at most so many frames; returns how many.
fn run(faults: &Faults, link: &mut LinkCore, most: u32, wait: Duration) -> u32 {
    for n in 0..most {
        frame(faults, link, n, wait);
        if link.report().later.left.is_empty() {
            return n;
        }
    }
    panic!("not done after {most} frames: {}", link.explain());
}

#[test]
fn what_the_start_had_no_time_for_is_made_up_for_between_frames() {
    let faults = faults();
    let mut link = open(&faults, policy(&faults));
    let first = link.path();
    assert_ne!(first, PathId::HOST_ROUND_TRIP, "the start has found it already: {}", link.report());
    let left = link.report().later.left.clone();
    assert!(left.contains(&"host-round-trip".to_owned()), "{left:?}");
    assert!(link.explain().contains("to be compared while the program runs"), "{}", link.explain());
    let frames = run(&faults, &mut link, 100_000, Duration::ZERO);
    assert!(frames > 100, "it was done in {frames} frames, at once");
    assert_eq!(link.path(), PathId::HOST_ROUND_TRIP, "{}", link.explain());
    let later = link.report().later.clone();
    // And each that was in use and was left, once more.
    let changes = later.comparisons.iter().filter(|c| c.outcome == Outcome::Quicker).count();
    assert_eq!(later.comparisons.len(), left.len() + changes, "{later:?}");
    let first = later.comparisons.iter().find(|c| c.path == first && c.variant == first.name());
    assert!(first.is_some_and(|c| c.outcome == Outcome::Slower), "{later:?}");
    assert!(later.comparisons.iter().any(|c| c.outcome == Outcome::Quicker && c.path == PathId::HOST_ROUND_TRIP));
    assert!(later.comparisons.iter().filter(|c| c.outcome == Outcome::Slower).count() > 5, "{later:?}");
    // One step may take longer than those before it; what it took too much is waited for.
    assert!(later.spent.as_secs_f64() <= 0.02 * later.running.as_secs_f64() + 0.012, "{later:?}");
    let text = link.explain();
    assert!(text.contains("faster than") && text.contains("of the time of") && text.contains(": taken"), "{text}");
    assert_eq!(faults.violations(), Vec::<String>::new());
    drop(link);
    assert!(faults.live().is_empty(), "{:?}", faults.live());
}

/// On a machine whose frames vary by far more than two paths differ by.
#[test]
fn a_path_that_is_little_quicker_is_found_as_long_as_there_is_time() {
    let (seeds, mut found) = (0..12, 0);
    for seed in seeds.clone() {
        let faults = faults();
        faults.slow(FaultStep::UploadStaged, 1050 * MS / 1000);
        for step in [FaultStep::ReadInPlace, FaultStep::Release, FaultStep::ReleaseInQueue] {
            faults.slow(step, 5 * MS);
        }
        faults.vary(0.2, seed);
        let mut link = open(&faults, policy(&faults));
        link.compare_paths(5000 * MS);
        found += usize::from(link.path() == PathId::HOST_ROUND_TRIP);
    }
    assert!(found + 1 >= seeds.count(), "{found}");
}

#[test]
fn a_program_that_waits_for_the_screen_is_not_made_late() {
    // A path that takes 60 ms to open has no room between two frames: it comes in the second half of the time for
    // comparing.
    for making in [MS, 60 * MS] {
        let faults = faults();
        let mut link = open(&faults, policy(&faults).with_trials(Trials::default()));
        faults.slow(FaultStep::CreateSurface, making);
        faults.slow(FaultStep::CreateInPlaceSurface, making);
        let (clock, due) = (faults.clock(), 30 * MS);
        let (begun, mut late, mut compared) = (clock.now(), [0, 0], [0, 0]);
        while !link.report().later.left.is_empty() && clock.now() < begun + 59 * 1000 * MS {
            let begins = clock.now();
            frame(&faults, &mut link, 7, Duration::ZERO);
            let half = usize::from(begins > begun + 30 * 1000 * MS);
            late[half] += u32::from(clock.now() > begins + due);
            compared[half] = link.report().later.comparisons.len();
            faults.pass((begins + due).saturating_sub(clock.now()));
        }
        if making == MS {
            assert!(late == [0, 0] && compared[0] > 0, "{late:?}, {compared:?}: {}", link.explain());
        } else {
            // The first told how long it takes.
            assert!(late[0] == 1 && compared[0] == 0, "{late:?}, {compared:?}: {}", link.explain());
            assert!(late[1] > 0 && compared[1] > 0, "{late:?}, {compared:?}: {}", link.explain());
        }
    }
}

#[test]
fn who_switches_it_off_has_it_off_and_who_asks_gets_it_at_once() {
    for trials in [Trials::Off, Trials::Asked] {
        let faults = faults();
        let mut link = open(&faults, policy(&faults).with_trials(trials));
        let (first, drawn) = (link.path(), faults.calls(FaultStep::DrawOffscreen));
        for n in 0..300 {
            frame(&faults, &mut link, n, 100 * MS);
        }
        assert_eq!((link.path(), faults.calls(FaultStep::DrawOffscreen)), (first, drawn), "{}", link.explain());
        let left = link.compare_paths(10 * 1000 * MS);
        assert_eq!(left, 0, "{}", link.explain());
        assert_eq!(faults.paused(|| link.read_back().unwrap()), [299_u32 as u8; BYTES], "what is shown stays");
        assert_eq!(link.path() == PathId::HOST_ROUND_TRIP, trials == Trials::Asked, "{}", link.explain());
        frame(&faults, &mut link, 1, MS);
    }
    // A forced path, and one that was taken without measuring, have nothing to compare.
    let faults = faults();
    for policy in [policy(&faults).with_force(PathId::PBO_ORPHAN), policy(&faults).with_budget(Duration::ZERO)] {
        let mut link = open(&faults, policy);
        assert_eq!((link.compare_paths(1000 * MS), link.report().later.comparisons.len()), (0, 0));
    }
}

#[test]
fn a_time_that_is_too_short_for_a_step_is_kept_to() {
    let faults = faults();
    let mut link = open(&faults, policy(&faults));
    let clock = faults.clock();
    let mut asked = 0;
    while link.compare_paths(20 * MS) > 0 && asked < 10_000 {
        let begun = clock.now();
        link.compare_paths(20 * MS);
        // The first proof is not known before.
        assert!(clock.now() - begun <= 30 * MS, "{:?}", clock.now() - begun);
        asked += 1;
    }
    assert_eq!(link.path(), PathId::HOST_ROUND_TRIP, "{}", link.explain());
}

#[test]
fn what_is_quick_because_it_does_nothing_is_not_taken() {
    let faults = faults();
    faults.lie(FaultStep::Upload);
    let mut link = open(&faults, policy(&faults));
    let first = link.path();
    run(&faults, &mut link, 100_000, Duration::ZERO);
    assert_ne!(link.path(), PathId::HOST_ROUND_TRIP);
    let comparisons = &link.report().later.comparisons;
    let lied = comparisons.iter().find(|c| c.path == PathId::HOST_ROUND_TRIP).unwrap();
    assert!(matches!(&lied.outcome, Outcome::Failed { reason } if reason.contains("wrong pixels")), "{lied}");
    assert!(link.report().paths.iter().any(|row| row.id == first && row.state.works()), "{}", link.report());
}

#[test]
fn what_fails_while_it_is_compared_is_no_matter_of_the_frames() {
    for (step, nth) in [
        (FaultStep::DrawOffscreen, 1),
        (FaultStep::DrawOffscreen, 9),
        (FaultStep::CreateStaging, 1),
        (FaultStep::ReadBack, 1),
    ] {
        let faults = faults();
        let mut link = open(&faults, policy(&faults));
        // The frames make no such calls.
        faults.arm(Fault { nth, ..Fault::lasting(step) });
        run(&faults, &mut link, 100_000, Duration::ZERO);
        assert!(faults.fired() > 0, "{step:?}");
        assert_eq!(link.demoted().len(), 0, "{}", link.explain());
        let failed = |outcome: &Outcome| matches!(outcome, Outcome::Failed { .. });
        assert!(link.report().later.comparisons.iter().any(|c| failed(&c.outcome)), "{}", link.explain());
    }
}

#[test]
fn a_path_that_is_left_and_a_surface_that_changes_end_what_was_begun() {
    let faults = faults();
    let mut link = open(&faults, policy(&faults));
    for n in 0..60 {
        frame(&faults, &mut link, n, 20 * MS);
    }
    assert!(!link.report().later.left.is_empty(), "{}", link.explain());
    link.resize(desc(12)).unwrap();
    link.resize(desc(10)).unwrap();
    run(&faults, &mut link, 100_000, Duration::ZERO);
    assert_eq!(link.path(), PathId::HOST_ROUND_TRIP, "{}", link.explain());

    let mut link = open(&faults, policy(&faults));
    let first = link.path();
    for n in 0..60 {
        frame(&faults, &mut link, n, 20 * MS);
    }
    faults.arm(Fault::lasting(FaultStep::Release));
    frame(&faults, &mut link, 61, MS);
    assert!(faults.fired() > 0 && link.path() != first, "{}", link.explain());
    assert!(link.report().later.left.is_empty(), "{}", link.explain());
    frame(&faults, &mut link, 62, MS);
}

#[test]
fn frames_that_are_late_are_shown_before_the_path_changes() {
    for frames in [1, 3] {
        let faults = faults();
        // Semaphores win.
        faults.slow(FaultStep::Wait, 3 * MS);
        faults.slow(FaultStep::ReadInPlace, MS / 10);
        faults.slow(FaultStep::Release, MS / 10);
        let policy = policy(&faults).with_mode(Mode::FramesBehind(frames));
        let mut link = open(&faults, policy);
        let (mut shown, mut changed) = (0, None);
        for n in 1..200_000_u32 {
            let before = link.path();
            let picture = |n: u32| n.to_le_bytes().repeat(BYTES / 4);
            link.frame(|frame| frame.write(&picture(n))).unwrap();
            changed = changed.or((link.path() != before).then_some(n));
            let now = faults.paused(|| link.read_back().unwrap());
            let now = u32::from_le_bytes(now[..4].try_into().unwrap());
            assert!(now >= shown && now <= n && now + frames as u32 >= n.min(shown + 1), "{n}: {shown} -> {now}");
            shown = now;
            if changed.is_some_and(|change| n > change + 20) {
                break;
            }
        }
        assert!(changed.is_some(), "{}", link.explain());
    }
}

#[test]
fn what_was_compared_is_remembered_and_the_rest_goes_on_in_the_next_start() {
    let folder = std::env::temp_dir().join(format!("pixelferry-meanwhile-{}", std::process::id()));
    let faults = faults();
    let policy = policy(&faults).with_profiles(Profiles::Folder(folder.clone()));
    let (mut starts, mut left) = (0, usize::MAX);
    while left > 0 {
        let mut link = open(&faults, policy.clone());
        let begin = link.report().later.left.len();
        assert!(begin <= left, "start {starts}: {begin} of {left}: {}", link.explain());
        // Each start has time for some.
        for n in 0..400 {
            frame(&faults, &mut link, n, 20 * MS);
        }
        left = link.report().later.left.len();
        starts += 1;
        assert!(starts < 100, "{}", link.explain());
    }
    assert!(starts > 2, "one start was enough");
    let link = open(&faults, policy);
    let _ = std::fs::remove_dir_all(folder);
    assert_eq!((link.path(), link.report().later.left.len()), (PathId::HOST_ROUND_TRIP, 0), "{}", link.explain());
}

#[test]
fn many_links_of_a_thread_spend_no_more_than_one_and_compare_once() {
    let folder = std::env::temp_dir().join(format!("pixelferry-many-links-{}", std::process::id()));
    let faults = faults();
    // Both sides are shared, as those of an engine are.
    let (backend, display) = (backend(&faults), display(&faults));
    let policy = policy(&faults).with_profiles(Profiles::Folder(folder.clone()));
    let open = || Link::open(backend.clone(), display.clone(), desc(10), LinkOptions::new(policy.clone())).unwrap();
    let mut links: Vec<Link> = (0..6).map(|_| open()).collect();
    let least = links[0].report().later.left.len();
    assert!(least > 5 && links.iter().all(|link| link.path() == links[0].path()), "{}", links[0].explain());
    let begun = faults.clock().now();
    let mut frames = 0;
    while links.iter().any(|link| !link.report().later.left.is_empty()) {
        for link in &mut links {
            frame(&faults, link, frames, 20 * MS);
        }
        let spent: Duration = links.iter().map(|link| link.report().later.spent).sum();
        let running = (faults.clock().now() - begun).as_secs_f64();
        assert!(spent.as_secs_f64() <= 0.02 * running + 0.03, "{spent:?} of {running} s");
        frames += 1;
        assert!(frames < 20_000, "{}", links[5].explain());
    }
    let _ = std::fs::remove_dir_all(folder);
    assert!(links.iter().all(|link| link.path() == PathId::HOST_ROUND_TRIP), "{}", links[5].explain());
    let compared: Vec<_> = links.iter().map(|link| link.report().later.comparisons.len()).collect();
    // The others compare only the winner, and once more what they had before.
    assert!(compared[0] >= least && compared[1..].iter().all(|count| *count <= 2), "{compared:?}");
    assert_eq!(faults.violations(), Vec::<String>::new());
}

#[test]
fn real_drivers_show_every_frame_while_paths_are_compared() {
    let (width, height) = (160_u32, 90_u32);
    let desc = ImageDesc::new(width, height, PixelFormat::Rgba8).with_access(ImageAccess::Any);
    let builder = LinkBuilder::new(SurfaceDesc::Image(desc)).backend(BackendChoice::OpenCl).display(DisplayChoice::Gl);
    let Some((backend, screen)) = need(Need::OpenCl, builder.open_sides()) else { return };
    let kernel = backend.build(&ramp()).unwrap();
    // Time for the first path alone; and all of the running time, so that the test is short.
    let trials = Trials::Spread { share: 1.0, within: Duration::from_secs(600) };
    let policy = Policy::default().with_budget(MS).with_profiles(Profiles::Off).with_trials(trials);
    let mut link = Link::open(backend, screen.display(), SurfaceDesc::Image(desc), LinkOptions::new(policy)).unwrap();
    let begin = link.report().later.left.len();
    assert!(begin > 0, "{}", link.report());
    for n in 0..20_000_u32 {
        link.frame(|frame| frame.launch(kernel.as_ref(), &[Arg::U32(n)])).unwrap();
        if n % 16 == 0 {
            let shown = link.read_back().unwrap();
            for (x, y) in [(0, 0), (width - 1, height - 1), (width / 2, height / 3)] {
                let at = ((y * width + x) * 4) as usize;
                assert_eq!(shown[at..at + 4], ramp_pixel(x, y, n), "frame {n} at {x}, {y}: {}", link.explain());
            }
        }
        if link.report().later.left.is_empty() {
            break;
        }
    }
    println!("{}", link.explain());
    assert_eq!(link.report().later.left.len(), 0, "{}", link.explain());
    assert!(link.report().later.comparisons.len() >= begin, "{}", link.explain());
    assert_eq!(link.demoted().len(), 0, "{}", link.explain());
}
