//! Paths that do not work are refused with a reason, and paths that fail are left without losing the frame.

use super::trouble::{Does, Trouble};
use super::{at_once, open, paths, show, state};
use interop_core::{Error, PathReport, PathState, Paths, SyncKind};

fn with(trouble: &Trouble) -> Paths {
    paths().with(trouble.path("troubled")).unwrap()
}

#[test]
fn a_path_that_lies_is_refused_by_its_pixels() {
    let trouble = Trouble::default();
    trouble.set(Does::Lies);
    let mut link = open(at_once(with(&trouble))).unwrap();
    let PathState::Rejected { reason } = state(link.report(), "troubled") else { panic!("{}", link.report()) };
    assert!(reason.contains("wrong pixels"), "{reason}");
    // Among those offered it was the first, before the one in use.
    let offered = |row: &&PathReport| !matches!(row.state, PathState::NotOffered { .. });
    assert_eq!(link.report().paths.iter().find(offered).unwrap().id.name(), "troubled");
    assert_eq!(link.path().name(), "host-round-trip");
    show(&mut link, 5).unwrap();
    let id = with(&trouble).named("troubled").unwrap();
    let forced = open(at_once(with(&trouble)).with_force(id)).err().unwrap().to_string();
    assert!(forced.contains("troubled was requested") && forced.contains("page-flip"), "{forced}");
}

#[test]
fn a_path_that_fails_is_left_and_the_frame_is_shown_by_the_next() {
    for does in [Does::Fails, Does::PanicsInFinish, Does::PanicsInTarget, Does::PanicsInBegin] {
        let trouble = Trouble::default();
        let mut link = open(at_once(with(&trouble))).unwrap();
        assert_eq!(link.path().name(), "troubled", "{}", link.report());
        show(&mut link, 1).unwrap();
        trouble.set(does);
        show(&mut link, 2).unwrap();
        assert_eq!(link.path().name(), "host-round-trip");
        let [(left, reason)] = link.demoted() else { panic!("{:?}", link.demoted()) };
        assert!(left.name() == "troubled" && reason.contains("on purpose"), "{left}: {reason}");
        assert!(link.explain().contains("left: troubled"), "{}", link.explain());
        assert!(matches!(state(link.report(), "troubled"), PathState::Demoted { .. }));
        trouble.set(Does::Well);
        link.recalibrate().unwrap();
        assert_eq!(link.path().name(), "troubled", "it is tried again when that is asked for");
        show(&mut link, 3).unwrap();
    }
}

#[test]
fn a_region_after_a_failure_keeps_what_was_shown() {
    for does in [Does::Fails, Does::PanicsInFinish] {
        let trouble = Trouble::default();
        let mut link = open(at_once(with(&trouble))).unwrap();
        show(&mut link, 1).unwrap();
        trouble.set(does);
        let region = interop_core::Region::new(3, 2, 4, 5);
        link.frame_region(region, |frame| frame.write(&[9; 4 * 5 * 4])).unwrap();
        assert_ne!(link.path().name(), "troubled");
        let shown = link.read_back().unwrap();
        let of_region = |i: usize| (3..7).contains(&(i / 4 % 24)) && (2..7).contains(&(i / 4 / 24));
        for (i, byte) in shown.iter().enumerate() {
            assert_eq!(*byte, if of_region(i) { 9 } else { 1 }, "byte {i}");
        }
    }
}

#[test]
fn a_path_of_another_program_cannot_be_asked_for() {
    let id = paths().named("page-flip").unwrap();
    for policy in [at_once(Paths::default()).with_force(id), at_once(Paths::default()).with_prefer(id)] {
        let error = open(policy).err().unwrap();
        let Error::InvalidInput { problem, .. } = &error else { panic!("{error}") };
        assert!(problem.contains("unknown path 'page-flip'") && problem.contains("host-round-trip"), "{problem}");
    }
}

#[test]
fn a_way_of_taking_turns_that_it_lacks_is_a_reason() {
    let policy = at_once(paths()).with_sync(SyncKind::HostFence);
    let link = open(policy).unwrap();
    let PathState::NotOffered { reason } = state(link.report(), "page-flip") else { panic!("{}", link.report()) };
    assert!(reason.contains("host fence was requested") && reason.contains("finish"), "{reason}");
    assert_eq!(link.path().name(), "pbo-persistent");
}
