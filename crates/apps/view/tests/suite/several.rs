//! Several arrays in one window, the difference of two, and the histogram with the range that a hand drags.

use crate::suite::{WINDOW, array, drawn, gl, open, point};
use pixelferry::api::gl::winit::dpi::PhysicalPosition;
use pixelferry::api::gl::winit::event::{DeviceId, ElementState, MouseButton, WindowEvent};
use pixelferry_look::{Colormap, OPTIONS, Request};
use pixelferry_view::ArrayView;

/// 40 x 30 numbers, ten window pixels for each.
const SHAPE: [i64; 2] = [30, 40];
/// Bars of the histogram, and colours in it.
const LEFT: usize = 74;
const WIDTH: usize = 320;
const BAR: [u8; 3] = [120, 132, 158];
const END: [u8; 3] = [255, 196, 92];

fn asked(given: &[(&str, &str)]) -> Request {
    let mut request = Request::default();
    for (name, text) in given {
        OPTIONS.iter().find(|option| option.name == *name).unwrap().set(&mut request, text).unwrap();
    }
    request
}

fn bytes(number: impl Fn(i32, i32) -> u8) -> Vec<u8> {
    (0..1200).map(|n| number(n % 40, n / 40)).collect()
}

fn floats(number: impl Fn(i32, i32) -> f32) -> Vec<u8> {
    (0..1200).flat_map(|n| number(n % 40, n / 40).to_ne_bytes()).collect()
}

fn button(view: &mut ArrayView, state: ElementState) -> bool {
    let event = WindowEvent::MouseInput { device_id: DeviceId::dummy(), state, button: MouseButton::Left };
    view.event(&event, WINDOW)
}

fn moved(view: &mut ArrayView, x: f64, y: f64) {
    let position = PhysicalPosition::new(x, y);
    view.event(&WindowEvent::CursorMoved { device_id: DeviceId::dummy(), position }, WINDOW);
}

#[test]
fn keys_go_from_array_to_array_and_nothing_is_made_twice() {
    let Some((display, target)) = gl() else { return };
    let colours: Vec<u8> = (0..15 * 20 * 3).map(|n| [200, 100, 50][n % 3]).collect();
    let arrays = vec![
        array(&SHAPE, "uint8", &bytes(|x, y| (5 * x + y) as u8)).named("one".into()),
        array(&SHAPE, "float32", &floats(|x, y| (x * y) as f32 / 1200.0)).named("two".into()),
        array(&[15, 20, 3], "uint8", &colours).named("three".into()),
    ];
    let mut view = ArrayView::open(&display, arrays, Request::default()).unwrap();
    let grey = |level: f32| [(level * 255.0 + 0.5) as u8; 3];
    let one = drawn(&mut view, &target);
    assert!(one(175, 205) == [5 * 17 + 20; 3] && view.title().starts_with("one (1 of 3) - uint8"), "{}", view.title());
    assert!(view.press(']') && view.title().starts_with("two (2 of 3) - float32"), "{}", view.title());
    let two = drawn(&mut view, &target);
    assert_eq!((two(175, 205), two(385, 85)), (grey(17.0 * 20.0 / 1200.0), grey(38.0 * 8.0 / 1200.0)));
    assert!((8..60).any(|x| one(x, 14) != two(x, 14) && one(x, 14)[1] > 150), "no name at the top left");
    assert_eq!(view.pictures(), 2);
    // Zoom and pan stay, and pictures that were made are drawn again.
    let image = view.image();
    view.camera().zoom(3.0, [100.0, 200.0], image, WINDOW);
    let placed = view.camera().placement(image, WINDOW);
    for key in ['[', '2', '1', 'f'] {
        assert!(view.press(key));
        assert_eq!(view.camera().placement(image, WINDOW) == placed, key != 'f');
        view.draw(WINDOW, 1.0).unwrap();
    }
    assert_eq!((view.pictures(), drawn(&mut view, &target)(175, 205)), (2, one(175, 205)));
    // Another size is fitted; there is no ninth.
    view.camera().one_to_one();
    assert!(view.press('[') && view.press('9') && view.title().starts_with("three (3 of 3)"), "{}", view.title());
    assert_eq!((drawn(&mut view, &target)(210, 210), view.pictures()), ([200, 100, 50], 3));
    // One look: exposure for all, and colours for those that take them.
    view.press('1');
    view.press('e');
    view.press('c');
    assert_eq!(view.pictures(), 5);
    view.press('2');
    let bright = drawn(&mut view, &target)(175, 205);
    let level = (17.0 * 20.0 / 1200.0 * 2.0_f32.sqrt() * 256.0) as usize;
    assert_eq!(bright, Colormap::Viridis.colours().unwrap()[level][..3]);
    view.press('3');
    let before = view.title();
    let half = |level: u8| (f32::from(level) / 255.0 * 2.0_f32.sqrt()).min(1.0);
    assert_eq!(drawn(&mut view, &target)(210, 210), [200, 100, 50].map(|level| grey(half(level))[0]));
    view.press('c');
    assert_eq!((view.title(), view.pictures()), (before, 7));
    view.press('2');
    assert_eq!((drawn(&mut view, &target)(175, 205), view.pictures()), (bright, 7));
}

#[test]
fn the_difference_of_two_is_left_as_it_was_entered() {
    let Some((display, target)) = gl() else { return };
    let (x, y) = (bytes(|x, y| (2 * x + y) as u8), bytes(|x, y| (x + 2 * y) as u8));
    let arrays = vec![
        array(&SHAPE, "uint8", &x).named("a".into()),
        array(&SHAPE, "int8", &y).named("b".into()),
        array(&[40, 30], "uint8", &x).named("c".into()),
    ];
    let mut view = ArrayView::open(&display, arrays, Request::default()).unwrap();
    let image = view.image();
    view.camera().zoom(1.5, [200.0, 150.0], image, WINDOW);
    view.camera().zoom(1.0 / 1.5, [200.0, 150.0], image, WINDOW);
    let (before, title) = (drawn(&mut view, &target), view.title());
    assert!(view.press('d'));
    // From 0 - 29 to 39 - 0.
    assert!(
        view.title().starts_with("a minus b (1 minus 2 of 3) - float32 as HW, 40x30; range -39 to 39"),
        "{}",
        view.title()
    );
    let difference = drawn(&mut view, &target);
    let map = Colormap::RedBlue.colours().unwrap();
    let colour = |x: usize, y: usize| map[(((x as f64 - y as f64) + 39.0) / 78.0 * 256.0).min(255.0) as usize];
    for (x, y) in [(0, 20), (39, 8), (17, 17), (20, 20), (5, 21)] {
        assert_eq!(difference(10 * x + 5, 10 * y + 5), colour(x, y)[..3], "{x}, {y}");
    }
    assert_eq!(point(&mut view, 55.0, 255.0).unwrap(), "row 25, column 5: -20.0; a 35; b 55");
    // Its look is its own, and both are kept.
    assert!(view.press('e') && view.press('c') && view.pictures() == 4);
    let bright = view.title();
    assert!(view.press('d') && view.title() == title && view.pictures() == 4);
    assert_eq!(point(&mut view, 55.0, 255.0).unwrap(), "row 25, column 5: 35");
    moved(&mut view, 395.0, 295.0);
    let after = drawn(&mut view, &target);
    assert!((40..360).all(|x| after(x, 205) == before(x, 205)), "the picture was lost");
    assert!(view.press('d') && view.title() == bright && view.pictures() == 4);
    // The one on show minus the one before.
    assert!(view.press('2') && view.press('d') && view.title().starts_with("b minus a (2 minus 1 of 3)"));
    assert_eq!(point(&mut view, 55.0, 255.0).unwrap(), "row 25, column 5: 20.0; b 55; a 35");
    // Another size is refused, and all stays.
    assert!(view.press('3'));
    let (silent, title, pictures) = (drawn(&mut view, &target), view.title(), view.pictures());
    assert!(view.press('d') && (view.title(), view.pictures()) == (title, pictures));
    let said = drawn(&mut view, &target);
    assert!((8..300).any(|x| (30..70).any(|y| silent(x, y) != said(x, y) && said(x, y) == END)), "nothing is said");
    let mut alone = open(&display, array(&SHAPE, "uint8", &x));
    assert!(alone.press('d') && alone.pictures() == 1 && alone.title().starts_with("a - "));
}

#[test]
fn arrays_that_are_equal_have_the_colour_in_the_middle() {
    let Some((display, target)) = gl() else { return };
    let numbers: Vec<u8> = (0..1200).flat_map(|n| (i64::MAX - n).to_ne_bytes()).collect();
    let arrays = (0..2).map(|_| array(&SHAPE, "int64", &numbers)).collect();
    let mut view = ArrayView::open(&display, arrays, Request::default()).unwrap();
    view.press('d');
    let middle = Colormap::RedBlue.colours().unwrap()[128];
    assert_eq!(drawn(&mut view, &target)(205, 205), middle[..3], "{}", view.title());
}

#[test]
fn a_hand_drags_the_range_in_the_histogram() {
    let Some((display, target)) = gl() else { return };
    let odd = |x, y| if (x, y) == (3, 29) { f32::NAN } else { x as f32 };
    let request = asked(&[("range", "minmax")]);
    let mut view = ArrayView::open(&display, vec![array(&SHAPE, "float32", &floats(odd))], request).unwrap();
    let plain = drawn(&mut view, &target);
    assert!(view.press('h'));
    let at = drawn(&mut view, &target);
    // 40 numbers, and a sixteenth more on each side.
    let (low, width) = (-39.0 / 16.0, 39.0 * 1.125);
    let x = |number: f64| (LEFT as f64 + (number - low) / width * WIDTH as f64) as usize;
    let columns = |colour: [u8; 3], y: usize| (LEFT..LEFT + WIDTH).filter(|x| at(*x, y) == colour).collect::<Vec<_>>();
    let bars: Vec<_> = (1..39).map(|number| x(number.into())).collect();
    // Number 3 is one less than the others, one of 30, of 96 pixels.
    assert_eq!(columns(BAR, 100), bars);
    assert_eq!(columns(BAR, 7), bars.iter().copied().filter(|at| *at != x(3.0)).collect::<Vec<_>>());
    let ends = columns(END, 50);
    assert!(matches!(ends[..], [a, b] if a.abs_diff(x(0.0)) <= 1 && b.abs_diff(x(39.0)) <= 1), "{ends:?}");
    let words = (LEFT..LEFT + WIDTH).filter(|x| (110..150).any(|y| at(*x, y)[1] > 190)).count();
    assert!(words > 60, "no words");
    // A drag of the upper end moves the picture's range, not the picture.
    let (image, pictures, title) = (view.image(), view.pictures(), view.title());
    let placed = view.camera().placement(image, WINDOW);
    moved(&mut view, ends[1] as f64 + 2.0, 60.0);
    button(&mut view, ElementState::Pressed);
    for to in [300.0, 250.0, 220.0, 234.0] {
        moved(&mut view, to, 60.0);
    }
    let narrow = drawn(&mut view, &target);
    assert_eq!((view.pictures(), view.camera().placement(image, WINDOW)), (pictures + 1, placed));
    let high = low + (234.0 - LEFT as f64) / WIDTH as f64 * width;
    assert!(view.title().contains(&format!("range 0 to {}", high as f32).replace(".0", "")[..12]), "{}", view.title());
    // The bar of the colours covers the last columns.
    for column in 0..33 {
        let found = narrow(10 * column + 5, 205);
        if column as f64 > high {
            assert_eq!(found, [255, 0, 0], "{column} is beyond the range");
            continue;
        }
        let level = column as f64 / high * 255.0;
        assert!(found.iter().all(|part| (f64::from(*part) - level).abs() <= 1.0), "{column}: {found:?}, {level}");
    }
    // Never beyond the other end.
    moved(&mut view, 10.0, 60.0);
    assert_eq!((drawn(&mut view, &target)(205, 205), view.pictures()), (narrow(205, 205), pictures + 1));
    assert!(button(&mut view, ElementState::Released));
    moved(&mut view, 300.0, 60.0);
    view.draw(WINDOW, 1.0).unwrap();
    assert_eq!(view.pictures(), pictures + 1);
    // Keys do the same, and a double click goes back.
    let narrow = view.title();
    assert!(view.press('w') && view.press('b') && view.press('B') && view.press('W') && view.title() != narrow);
    button(&mut view, ElementState::Pressed);
    button(&mut view, ElementState::Released);
    button(&mut view, ElementState::Pressed);
    assert_eq!((view.title(), drawn(&mut view, &target)(205, 205)), (title, plain(205, 205)));
    // Zoom and pan make nothing, with the histogram too; a drag beside it moves the picture.
    let pictures = view.pictures();
    button(&mut view, ElementState::Released);
    moved(&mut view, 200.0, 250.0);
    button(&mut view, ElementState::Pressed);
    moved(&mut view, 220.0, 240.0);
    button(&mut view, ElementState::Released);
    assert_ne!(view.camera().placement(image, WINDOW), placed);
    view.camera().zoom(2.0, [100.0, 200.0], image, WINDOW);
    assert!(view.press('l'));
    view.draw(WINDOW, 1.0).unwrap();
    assert_eq!(view.pictures(), pictures);
}

#[test]
fn a_name_has_the_look_that_it_was_put_with() {
    let Some((display, _)) = gl() else { return };
    let one = || array(&SHAPE, "uint8", &bytes(|x, _| x as u8));
    let mut view = open(&display, one().named("a".into()));
    let mut magma = asked(&[("range", "0,50"), ("colormap", "magma")]);
    magma.look.marks = Some(true);
    view.put_as(one().named("b".into()), Some(magma)).unwrap();
    view.put(one().named("c".into())).unwrap();
    let titles = |view: &mut ArrayView| ['1', '2', '3'].map(|key| view.press(key).then(|| view.title()).unwrap());
    let [a, b, c] = titles(&mut view);
    assert!(b.contains("range 0 to 50") && b.contains("magma") && b.contains("above red"), "{b}");
    assert!([&a, &c].iter().all(|title| title.contains("range 0 to 255") && !title.contains("magma")), "{a} {c}");
    // What is on show changes, others with a look of their own do not; and the other way round.
    view.press('1');
    view.press('e');
    let [a, b, c] = titles(&mut view);
    assert!(a.contains("exposure") && c.contains("exposure") && !b.contains("exposure"), "{a} {b} {c}");
    view.press('2');
    view.press('E');
    let [a, b, _] = titles(&mut view);
    assert!(a.contains("exposure 0.5") != b.contains("exposure 0.5") && b.contains("exposure -"), "{a} {b}");
    // It comes again: as the user has it, without options or with the same ones, and as asked for with others.
    for own in [None, Some(magma)] {
        view.put_as(one().named("b".into()), own).unwrap();
        let [_, b, _] = titles(&mut view);
        assert!(b.contains("magma") && b.contains("exposure -"), "{own:?}: {b}");
    }
    view.put_as(one().named("b".into()), Some(asked(&[("range", "0,9")]))).unwrap();
    let [_, b, _] = titles(&mut view);
    assert!(b.contains("range 0 to 9") && !b.contains("magma") && !b.contains("exposure"), "{b}");
    // In a pause it is taken over with the newest frame.
    view.press(' ');
    view.put_as(one().named("b".into()), Some(magma)).unwrap();
    view.press(' ');
    let [_, b, _] = titles(&mut view);
    assert!(b.contains("magma"), "{b}");
    // What does not go is refused, and changes nothing.
    let colours = array(&[30, 40, 3], "uint8", &[0; 3600]).named("b".into());
    let refused = view.put_as(colours, Some(magma));
    assert!(refused.is_err() && titles(&mut view)[1] == b);
}

#[test]
fn a_wave_is_shown_from_its_minimum_to_its_maximum_with_a_bar() {
    let Some((display, target)) = gl() else { return };
    let wave = |x: i32, _: i32| x as f32 / 19.5 - 1.0;
    let mut view =
        ArrayView::open(&display, vec![array(&SHAPE, "float32", &floats(wave))], Request::default()).unwrap();
    assert!(view.title().contains("range -1 to 1"), "{}", view.title());
    let at = drawn(&mut view, &target);
    assert_eq!([at(5, 155), at(395, 25)], [[0; 3], [255; 3]]);
    // What is shown, until the pointer is over a number.
    let rows = |x: usize| (270..295).map(move |y| (x, y));
    assert!((8..60).flat_map(rows).any(|(x, y)| at(x, y)[1] > 150), "no line at the bottom left");
    // The bar is white at its upper end and black at its lower end.
    let bar: Vec<u8> = (0..300).rev().map(|y| at(388, y)[0]).collect();
    assert!(bar.windows(100).any(|rows| rows.is_sorted() && rows[0] < 10 && rows[99] > 200), "{bar:?}");
    // The full range of the type, and numbers within it.
    assert!(view.press('r') && view.title().contains("range 0 to 1"), "{}", view.title());
    let inside = |x: i32, _: i32| x as f32 / 39.0;
    let request = Request::default();
    let view = ArrayView::open(&display, vec![array(&SHAPE, "float32", &floats(inside))], request).unwrap();
    assert!(view.title().contains("range 0 to 1"), "{}", view.title());
}
