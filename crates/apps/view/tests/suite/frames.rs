//! Arrays that come again and again: pause, steps back and forth, and how much is kept of them.

use crate::suite::{array, drawn, gl, open, point};
use pixelferry_look::Request;
use pixelferry_media::source::SourceError;
use pixelferry_testing::Patience;
use pixelferry_view::{Array, ArrayView, FileContent, ReadError};
use std::io::Cursor;
use std::thread::sleep;
use std::time::Duration;

/// 40 x 30 numbers of one level, ten window pixels for each.
fn level(level: u8) -> Array {
    array(&[30, 40], "uint8", &[level; 1200])
}

fn is_at(view: &ArrayView, frame: &str) -> bool {
    view.title().starts_with(&format!("a ({frame}) - "))
}

#[test]
fn a_pause_keeps_the_frames_and_steps_show_them() {
    let Some((display, target)) = gl() else { return };
    let mut view = open(&display, level(0));
    for n in 1..12 {
        view.put(level(10 * n)).unwrap();
    }
    let shown = |view: &mut ArrayView| drawn(view, &target)(205, 155);
    assert_eq!((shown(&mut view), view.kept()), ([110; 3], 7 * 1200));
    assert!(view.title().starts_with("a - "), "{}", view.title());
    // What is on show is on show in the pause, also after more has come.
    assert!(view.press(' ') && is_at(&view, "frame 8 of 8, paused"), "{}", view.title());
    for n in 12..17 {
        view.put(level(10 * n)).unwrap();
    }
    assert!(is_at(&view, "frame 8 of 8, paused, 5 newer"), "{}", view.title());
    assert_eq!((shown(&mut view), view.kept()), ([110; 3], 8 * 1200));
    for n in (4..11).rev() {
        assert!(view.press(','));
        assert_eq!(shown(&mut view), [10 * n; 3]);
        assert_eq!(point(&mut view, 205.0, 155.0).unwrap(), format!("row 15, column 20: {}", 10 * n));
    }
    assert!(is_at(&view, "frame 1 of 8, paused, 5 newer"), "{}", view.title());
    // There is none before, which is said.
    let pictures = view.pictures();
    assert!(view.press(',') && view.pictures() == pictures && view.press('.') && view.press('.'));
    assert_eq!((shown(&mut view), view.kept()), ([60; 3], 8 * 1200));
    // The newest ends the pause, and has the frames before it.
    assert!(view.press(' ') && view.title().starts_with("a - "), "{}", view.title());
    assert_eq!((shown(&mut view), view.kept()), ([160; 3], 7 * 1200));
    assert!(view.press(',') && is_at(&view, "frame 7 of 8, paused"), "{}", view.title());
    assert_eq!(shown(&mut view), [110; 3]);
    // A step beyond the ring shows what has come.
    view.put(level(170)).unwrap();
    view.put(level(180)).unwrap();
    assert!(view.press('.') && shown(&mut view) == [160; 3] && view.press('.') && shown(&mut view) == [180; 3]);
    assert!(is_at(&view, "frame 8 of 8, paused"), "{}", view.title());
    // The look of all is that of frames that were shown before, and another size is fitted.
    assert!(view.press('e') && view.press(','));
    assert_eq!(shown(&mut view), [(160.0 * 2_f32.sqrt()).round() as u8; 3]);
    assert!(view.press(' '));
    view.put(array(&[3, 4], "uint8", &[7; 12])).unwrap();
    assert_eq!((view.image().width, view.press(','), view.image()), (4, true, pixelferry::Extent::new(40, 30)));
}

#[test]
fn what_is_kept_has_a_bound() {
    let Some((display, target)) = gl() else { return };
    let arrays = ["a", "b", "c"].map(|name| level(50).named(name.into())).into();
    let mut view = ArrayView::open(&display, arrays, Request::default()).unwrap();
    // Two frames and a half in all.
    view.keep(100, 3000);
    for n in 0..20 {
        view.put(level(n).named("a".into())).unwrap();
        view.put(level(100 + n).named("b".into())).unwrap();
        assert!(view.kept() <= 3000, "{}", view.kept());
    }
    assert_eq!(view.kept(), 2400);
    // During a pause one of each name more.
    view.press(' ');
    for n in 0..20 {
        view.put(level(n).named("c".into())).unwrap();
    }
    assert!(view.kept() <= 3600, "{}", view.kept());
    view.press(' ');
    assert!(view.kept() <= 3000, "{}", view.kept());
    // Pictures of 4800 bytes that are not on show have as much room, and are made again.
    let made = |view: &mut ArrayView, key| {
        let before = view.pictures();
        view.press(key);
        (view.pictures() - before, drawn(view, &target)(205, 155)[0])
    };
    assert_eq!(['1', '2', '3', '1'].map(|key| made(&mut view, key)), [(0, 19), (1, 119), (1, 19), (1, 19)]);
    view.keep(1, 1 << 20);
    assert_eq!(['2', '1', '2', '1'].map(|key| made(&mut view, key)), [(1, 119), (0, 19), (0, 119), (0, 19)]);
    view.put(level(30).named("a".into())).unwrap();
    assert!(view.press(',') && view.title().starts_with("a (1 of 3; frame 1 of 1, paused)"), "{}", view.title());
}

#[test]
fn a_difference_follows_the_frames_of_what_it_is_of() {
    let Some((display, _)) = gl() else { return };
    let arrays = vec![level(10), level(3).named("b".into())];
    let mut view = ArrayView::open(&display, arrays, Request::default()).unwrap();
    view.put(level(20)).unwrap();
    view.press('d');
    let value = |view: &mut ArrayView| point(view, 5.0, 5.0).unwrap();
    assert_eq!(value(&mut view), "row 0, column 0: 17.0; a 20; b 3");
    assert!(view.press(','));
    assert_eq!(value(&mut view), "row 0, column 0: 7.0; a 10; b 3");
    view.put(level(90)).unwrap();
    assert_eq!(value(&mut view), "row 0, column 0: 7.0; a 10; b 3");
    assert!(view.title().contains("frame 1 of 2, paused, 1 newer"), "{}", view.title());
    assert!(view.press(' '));
    assert_eq!(value(&mut view), "row 0, column 0: 87.0; a 90; b 3");
}

/// A video of 40 x 30 grey pixels, one level for each frame, with a second for each; cut within the last.
fn video(levels: std::ops::Range<u8>) -> Vec<u8> {
    let mut file = b"YUV4MPEG2 W40 H30 F1:1 Cmono XCOLORRANGE=FULL\n".to_vec();
    for level in levels {
        file.extend(b"FRAME\n");
        file.extend([level; 1200]);
    }
    file.pop();
    file
}

#[test]
fn a_video_plays_pauses_and_is_stepped_through() {
    let Some((display, target)) = gl() else { return };
    let opened = FileContent::read_from(Cursor::new(video(100..112)), "a", None).unwrap();
    let film = opened.film.unwrap();
    let mut view = ArrayView::open(&display, opened.arrays, Request::default()).unwrap();
    let shown = |view: &mut ArrayView| drawn(view, &target)(205, 155)[0];
    assert_eq!(shown(&mut view), 100);
    let wait = |view: &mut ArrayView| {
        let mut patience = Patience::new();
        while !view.watch(&film) {
            assert!(!patience.is_over(), "no frame came");
            sleep(Duration::from_millis(2));
        }
        shown(view)
    };
    // By time, then by steps, which need not wait for it.
    assert_eq!([wait(&mut view), wait(&mut view)], [101, 102]);
    assert!(view.press(',') && is_at(&view, "frame 2 of 3, paused") && !view.watch(&film));
    assert!(view.press('.') && !view.watch(&film) && is_at(&view, "frame 3 of 3, paused"));
    for level in 103..111 {
        assert!(view.press('.') && wait(&mut view) == level, "{level}");
    }
    assert!(is_at(&view, "frame 8 of 8, paused") && view.kept() == 7 * 1200, "{}", view.title());
    assert!(view.press(',') && !view.watch(&film) && view.press(' ') && view.title().starts_with("a - "));
    // The last one is cut, which is said and leaves the one before.
    assert_eq!(wait(&mut view), 110);
    view.press(' ');
    assert!(view.press('.') && !view.watch(&film));
    let error = FileContent::read_from(Cursor::new(video(0..1)), "a", None).map(drop).unwrap_err();
    assert!(matches!(error, ReadError::Video(SourceError::Cut { at: 1251, frame: 0, missing: 1 })), "{error}");
}
