//! Choices of the library, the reasons, and the reports.

use super::{at_once, board, desc, open, paths, show, state, worker};
use cpu_fallback::{CpuBackend, MemoryDisplay};
use interop_core::path::{OpenedPath, Pairing};
use interop_core::select::probe;
use interop_core::{
    ComputeBackend, Display, FrameTag, Link, LinkOptions, Mode, PathId, PathKind, PathState, Paths, Policy, Profiles,
    SharingPath as _, SurfacePart,
};
use pixelferry_tests::Folder;
use pixelferry_tests::plugged::{Board, own_pages};
use std::sync::Arc;
use std::time::Duration;

/// More than any path takes on a loaded machine but by the wire.
const WIRE: Duration = Duration::from_millis(5);

#[test]
fn the_quickest_is_chosen_remembered_and_named() {
    let folder = Folder::new("plugged");
    let display: Arc<dyn Display> = Board::new(WIRE);
    let policy = Policy::default()
        .with_paths(paths())
        .with_budget(Duration::from_secs(600))
        .with_profiles(Profiles::Folder(folder.0.clone()));
    let link = |policy: &Policy| {
        let options = LinkOptions::new(policy.clone());
        Link::open(worker(), Arc::clone(&display), desc(), options).unwrap()
    };
    let mut first = link(&policy);
    assert_eq!(first.path().name(), "page-flip", "{}", first.report());
    let row = first.report().chosen().unwrap();
    assert!(row.median_us().unwrap() < WIRE.as_secs_f64() * 1e6 && row.kind == PathKind::Plugged);
    // The others were timed beside it, the program's own and ours.
    for other in ["changed-rows", "host-round-trip", "pbo-persistent"] {
        let row = first.report().paths.iter().find(|row| row.id.name() == other).unwrap();
        assert!(row.median_us().is_some_and(|us| us > WIRE.as_secs_f64() * 1e6), "{}", first.report());
    }
    let told = first.explain();
    assert!(
        told.contains("in use: page-flip") && told.contains("worker one thread") && told.contains("board two pages")
    );
    show(&mut first, 7).unwrap();

    let again = link(&policy);
    assert_eq!(again.path(), first.path());
    let why = state(again.report(), "page-flip").detail();
    assert!(why.contains("measured before"), "{why}");
    // A program without these paths finds nothing of theirs, and leaves the other's file as it is.
    let without = link(&policy.clone().with_paths(Paths::default()));
    assert!(without.report().paths.iter().all(|row| row.kind != PathKind::Plugged), "{}", without.report());
    assert!(state(link(&policy).report(), "page-flip").detail().contains("measured before"));
}

#[test]
fn rank_follows_from_what_a_path_says_of_itself() {
    // By cost page-flip copies once and waits, as host-round-trip does; changed-rows copies twice.
    let mut link = open(at_once(paths())).unwrap();
    let order: Vec<_> = link.report().paths.iter().map(|row| row.id.name()).collect();
    let place = |name: &str| order.iter().position(|other| *other == name).unwrap();
    assert!(place("host-round-trip") < place("page-flip") && place("page-flip") < place("pbo-persistent"), "{order:?}");
    assert!(place("pbo-persistent") < place("changed-rows"), "{order:?}");
    assert_eq!(link.path().name(), "host-round-trip");
    show(&mut link, 3).unwrap();
}

#[test]
fn frames_behind_are_for_paths_that_say_so() {
    let late = open(at_once(paths()).with_mode(Mode::FramesBehind(2))).unwrap();
    assert_eq!(late.frames_behind(), 0, "{}", late.report());
    let paths = Paths::default().with(own_pages()).unwrap();
    let own = paths.named("own-pages").unwrap();
    let open = |mode| {
        let policy = at_once(paths.clone()).with_mode(mode).with_force(own);
        let backend = Arc::new(CpuBackend::new().unwrap());
        Link::open(backend, MemoryDisplay::new(), desc(), LinkOptions::new(policy)).unwrap()
    };
    let mut link = open(Mode::FramesBehind(2));
    assert_eq!((link.path(), link.frames_behind()), (own, 2));
    let mut frame = |value: u8| {
        link.frame(|frame| frame.write(&[value; 24 * 10 * 4])).unwrap();
        link.read_back().unwrap()[0]
    };
    assert_eq!([1, 2, 3, 4, 5].map(&mut frame), [1, 1, 1, 2, 3]);
    link.flush().unwrap();
    assert_eq!(link.read_back().unwrap(), [5; 24 * 10 * 4]);
    assert_eq!(open(Mode::Throughput { most: 2 }).frames_behind(), 2, "as late as allowed where nothing is measured");
}

/// The mechanism of both is the same, so what the one says through its box the other says, too.
#[test]
fn all_that_a_path_says_of_itself_comes_through() {
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let display: Arc<dyn Display> = MemoryDisplay::new();
    let (desc, sync) = (desc(), None);
    let pairing = Pairing::new(&backend, &display, &desc).with_frames_behind(2).with_sync(sync);
    let paths = Paths::default().with(own_pages()).unwrap();
    let open = |name| paths.get(paths.named(name).unwrap()).unwrap().open(&pairing).unwrap();
    let (mut own, mut ours) = (open("own-pages"), open("pinned-upload"));
    let mut saw = Vec::new();
    let mut step = |act: &dyn Fn(&mut OpenedPath, u64)| {
        let says = [&mut own, &mut ours].map(|path| {
            let tag = FrameTag::new(1, saw.len() as u64, PathId::DIRECT, 0);
            let _tagged = FrameTag::enter(Some(tag));
            act(path, tag.frame);
            let mut unshown = vec![0; 24 * 10 * 4];
            path.overlay_unshown(&mut unshown).unwrap();
            (path.frames_behind(), path.slots(), path.slot(), path.shown_frame(), path.sync(), unshown)
        });
        assert_eq!(says[0], says[1], "after step {}", saw.len());
        saw.push(says[0].clone());
    };
    let frame = |path: &mut OpenedPath, number: u64| {
        path.begin(&SurfacePart::full(&desc)).unwrap();
        let (memory, view) = path.target().unwrap().into_parts();
        memory.write(view.span().start, &[number as u8 + 1; 24 * 10 * 4]).unwrap();
        path.finish().unwrap();
    };
    for _ in 0..4 {
        step(&frame);
    }
    step(&|path, _| path.flush().unwrap());
    step(&|path, _| path.set_frames_behind(1).unwrap());
    step(&|path, _| path.trim());
    step(&frame);
    step(&|path, _| {
        path.begin(&SurfacePart::full(&desc)).unwrap();
        path.cancel();
    });
    step(&frame);
    assert_eq!((saw[3].0, saw[5].0), (2, 1));
    assert!(saw[3].1 > saw[6].1 && saw[3].3.is_some() && saw[0].5 != saw[4].5, "nothing was compared");
}

#[test]
fn one_can_be_forced_and_preferred() {
    for name in ["changed-rows", "page-flip"] {
        let id = paths().named(name).unwrap();
        let mut forced = open(at_once(paths()).with_force(id)).unwrap();
        assert_eq!(forced.path(), id);
        show(&mut forced, 9).unwrap();
        let preferred = open(at_once(paths()).with_prefer(id)).unwrap();
        assert_eq!(preferred.path(), id, "{}", preferred.report());
    }
}

#[test]
fn a_resize_keeps_it() {
    let id = paths().named("changed-rows").unwrap();
    let mut link = open(at_once(paths()).with_prefer(id)).unwrap();
    link.resize(interop_core::SurfaceDesc::image(5, 3, interop_core::PixelFormat::R8)).unwrap();
    assert_eq!(link.path(), id);
    link.recalibrate().unwrap();
    assert_eq!(link.path(), id);
}

#[test]
fn reports_name_it_for_people_and_programs() {
    let report = probe(&worker(), &board(), &desc(), &at_once(paths()).with_budget(Duration::ZERO)).unwrap();
    assert!(matches!(state(&report, "page-flip"), PathState::Verified { .. }), "{report}");
    let text = report.to_string();
    assert!(text.contains("page-flip") && text.contains("changed-rows"), "{text}");
    let json = serde_json::to_value(&report).unwrap();
    let row = json["paths"].as_array().unwrap().iter().find(|row| row["id"] == "page-flip").unwrap();
    assert_eq!((row["kind"].as_str(), row["state"].as_str()), (Some("Plugged"), Some("verified")));
    assert!(row["mechanism"].as_str().unwrap().contains("page"));
    assert_eq!((json["compute"]["api"].as_str(), json["display"]["api"].as_str()), (Some("worker"), Some("board")));
    // Elsewhere it says why not.
    let memory: Arc<dyn Display> = MemoryDisplay::new();
    let elsewhere = probe(&worker(), &memory, &desc(), &at_once(paths())).unwrap();
    let PathState::NotOffered { reason } = state(&elsewhere, "page-flip") else { panic!("{elsewhere}") };
    assert_eq!(reason, "display: it has no pages to flip");
}

#[test]
fn the_probe_of_the_machine_tries_what_is_added_with_all_that_is_there() {
    let report = pixelferry::probe_with(&desc(), at_once(paths()), &[worker()], &[board()]).unwrap();
    let json = serde_json::to_value(&report).unwrap();
    assert!(json["backends"].as_array().unwrap().iter().any(|b| b["api"] == "worker" && b["status"] == "available"));
    assert!(json["displays"].as_array().unwrap().iter().any(|d| d["kind"] == "plugged"));
    let works = |compute: &str, display: &str, path: &str| {
        let of = |p: &&interop_core::ProbeReport| {
            p.compute.api.to_string() == compute && p.display.api.to_string() == display
        };
        state(report.pairings.iter().find(of).unwrap(), path).works()
    };
    assert!(works("worker", "CPU", "changed-rows") && works("CPU", "board", "page-flip"), "{json}");
    assert!(works("worker", "board", "page-flip") && works("CPU", "CPU", "changed-rows"), "{json}");
}
