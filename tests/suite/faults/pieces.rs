//! Pieces of memory that a path makes one by one after a resize, as frames need them.

use super::rig::{Rig, image, paint, policy};
use pixelferry::{Extent, Mode, PathId, Region, SurfaceDesc, SyncKind, Unwritten};
use pixelferry_tests::sharing::{Fault, FaultKind, FaultStep, Faults};
use std::sync::Arc;

const SMALL: Extent = Extent::new(24, 10);
const SMALLER: Extent = Extent::new(12, 7);

/// Each path whose memory has one size, the call that makes a piece, and the pieces of a ring that shows frames so late.
const RINGS: [(PathId, FaultStep, usize, usize); 5] = [
    (PathId::DIRECT, FaultStep::CreateSurface, 0, 2),
    (PathId::EXTERNAL_TEXTURE, FaultStep::AllocateSharedImage, 0, 3),
    (PathId::EXTERNAL_TEXTURE, FaultStep::AllocateSharedImage, 2, 5),
    (PathId::EXPORTED_TEXTURE, FaultStep::ImportSurface, 0, 3),
    (PathId::EXPORTED_TEXTURE, FaultStep::ImportSurface, 2, 5),
];

fn surface(extent: Extent, rule: Unwritten) -> SurfaceDesc {
    SurfaceDesc::Image(image(extent.width, extent.height).with_unwritten(rule))
}

fn picture(extent: Extent, n: u32) -> Vec<u8> {
    let mut picture = vec![0; 4 * extent.pixels() as usize];
    paint(&mut picture, extent, Region::new(0, 0, extent.width, extent.height), n);
    picture
}

fn mode(late: usize) -> Mode {
    if late == 0 { Mode::Latency } else { Mode::FramesBehind(late) }
}

#[test]
fn a_resize_makes_one_piece_and_frames_make_the_others() {
    for ((path, step, late, pieces), rule) in RINGS.into_iter().flat_map(|ring| Unwritten::ALL.map(|rule| (ring, rule)))
    {
        let what = format!("{path}, {late} frames behind, {rule}");
        let rig = Rig::new();
        let mut link = rig.open(surface(SMALL, rule), policy(mode(late), None).with_force(path)).unwrap();
        link.frame(|frame| rig.compute(frame, 1)).unwrap();
        link.flush().unwrap();
        let made = |link: &mut pixelferry::LinkCore, n| {
            let before = rig.faults.calls(step);
            link.frame(|frame| rig.compute(frame, n)).unwrap();
            rig.faults.calls(step) - before
        };
        for round in 0..3 {
            let before = rig.faults.calls(step);
            link.resize(surface(SMALLER, rule)).unwrap();
            assert_eq!(rig.faults.calls(step) - before, 1, "{what}: a resize");
            let before = if round == 0 { 1 } else { 30 };
            assert_eq!(rig.shown(&mut link).unwrap(), picture(SMALL, before), "{what}: what was shown is shown");
            assert_eq!(made(&mut link, 10), 0, "{what}: the first frame");
            assert_eq!(rig.shown(&mut link).unwrap(), picture(SMALLER, 10), "{what}: the first frame");
            let later: Vec<u32> = (11..=20).map(|n| made(&mut link, n)).collect();
            assert_eq!(later[..pieces - 1].iter().sum::<u32>(), pieces as u32 - 1, "{what}, {round}: {later:?}");
            assert!(later[pieces - 1..].iter().all(|made| *made == 0), "{what}, {round}: {later:?}");
            link.flush().unwrap();
            assert_eq!(rig.shown(&mut link).unwrap(), picture(SMALLER, 20), "{what}");
            link.resize(surface(SMALL, rule)).unwrap();
            link.frame(|frame| rig.compute(frame, 30)).unwrap();
            assert_eq!(rig.shown(&mut link).unwrap(), picture(SMALL, 30), "{what}");
        }
        assert_eq!(rig.faults.violations(), Vec::<String>::new(), "{what}");
        drop(link);
        assert!(rig.faults.live().is_empty(), "{what}: {:?}", rig.faults.live());
    }
}

/// A way that was proved begins with one piece when it is opened again, and after a failure with all of them.
#[test]
fn what_was_proved_is_opened_with_one_piece() {
    let in_latency = RINGS.into_iter().filter(|(_, _, late, _)| *late == 0);
    for ((path, step, _, pieces), rule) in in_latency.flat_map(|ring| Unwritten::ALL.map(|rule| (ring, rule))) {
        let what = format!("{path}, {rule}");
        let rig = Rig::new();
        let display = Arc::clone(&rig.display);
        let open = |extent| {
            let before = rig.faults.calls(step);
            let link = rig.open_on(&display, surface(extent, rule), policy(Mode::Latency, None).with_force(path));
            (link.unwrap(), rig.faults.calls(step) - before)
        };
        drop(open(SMALL));
        for extent in [SMALL, SMALLER] {
            let (mut link, made) = open(extent);
            assert_eq!(made, 1, "{what}: no larger than what was proved");
            assert!(link.shown().is_err(), "{what}: nothing is shown yet");
            link.frame(|_| Ok(())).unwrap();
            assert_eq!(rig.shown(&mut link).unwrap(), vec![0; 4 * extent.pixels() as usize], "{what}: from zero");
            for n in 1..=8 {
                link.frame(|frame| rig.compute(frame, n)).unwrap();
                assert_eq!(rig.shown(&mut link).unwrap(), picture(extent, n), "{what}: frame {n}");
            }
            assert_eq!(rig.faults.violations(), Vec::<String>::new(), "{what}");
        }
        assert_eq!(open(Extent::new(SMALL.width + 1, SMALL.height)).1 as usize, pieces, "{what}: wider");
        if path != PathId::DIRECT {
            let before = rig.faults.calls(step);
            let other = policy(Mode::Latency, Some(SyncKind::BinarySemaphore)).with_force(path);
            drop(rig.open_on(&display, surface(SMALL, rule), other).unwrap());
            assert_eq!((rig.faults.calls(step) - before) as usize, pieces, "{what}: by a semaphore");
        }
        let (mut link, _) = open(SMALL);
        rig.faults.arm(Fault { step: FaultStep::Acquire, nth: 1, lasting: true, kind: FaultKind::Driver });
        // Another path does the frame, or none.
        let _ = link.frame(|frame| rig.compute(frame, 1));
        rig.faults.disarm();
        drop(link);
        let (_, made) = open(SMALL);
        assert_eq!(made as usize, pieces, "{what}: after a failure");
    }
}

/// Nothing that a proof wrote is seen, whichever piece a part is written into.
#[test]
fn parts_begin_from_zero_in_each_piece() {
    for ((path, _, late, _), rule) in RINGS.into_iter().flat_map(|ring| Unwritten::ALL.map(|rule| (ring, rule))) {
        let rig = Rig::new();
        let mut link = rig.open(surface(SMALL, rule), policy(mode(late), None).with_force(path)).unwrap();
        link.frame(|frame| rig.compute(frame, 1)).unwrap();
        link.resize(surface(SMALLER, rule)).unwrap();
        let mut expected = vec![0; 4 * SMALLER.pixels() as usize];
        for n in 0..7 {
            if n % 2 == 1 {
                // One that is given up leaves nothing.
                let mut frame = link.acquire().unwrap();
                rig.compute(&mut frame, 99).unwrap();
            }
            let part = Region::new(0, n, 12, 1);
            link.frame_region(part, |frame| rig.compute(frame, 40 + n)).unwrap();
            paint(&mut expected, SMALLER, part, 40 + n);
            link.flush().unwrap();
            assert_eq!(rig.shown(&mut link).unwrap(), expected, "{path}, {late}, {rule}: part {n}");
        }
        if link.clear().is_ok() {
            link.frame_region(Region::new(0, 0, 1, 1), |frame| rig.compute(frame, 1)).unwrap();
            let mut expected = vec![0; 4 * SMALLER.pixels() as usize];
            paint(&mut expected, SMALLER, Region::new(0, 0, 1, 1), 1);
            link.flush().unwrap();
            assert_eq!(rig.shown(&mut link).unwrap(), expected, "{path}, {late}, {rule}: after a clear");
        }
    }
}

#[test]
fn a_piece_that_cannot_be_made_fails_its_frame_alone() {
    for (path, step, late, _) in RINGS {
        let rig = Rig::new();
        let mut link = rig.open(surface(SMALL, Unwritten::Keep), policy(mode(late), None).with_force(path)).unwrap();
        link.resize(surface(SMALLER, Unwritten::Keep)).unwrap();
        link.frame(|frame| rig.compute(frame, 1)).unwrap();
        rig.faults.arm(Fault { step, nth: 1, lasting: false, kind: FaultKind::Driver });
        let error = link.frame(|frame| rig.compute(frame, 2)).unwrap_err();
        assert!(Faults::injected(&error), "{path}: {error}");
        assert_eq!(rig.shown(&mut link).unwrap(), picture(SMALLER, 1), "{path}");
        rig.faults.disarm();
        link.frame(|frame| rig.compute(frame, 3)).unwrap();
        link.flush().unwrap();
        assert_eq!(rig.shown(&mut link).unwrap(), picture(SMALLER, 3), "{path}");
    }
}
