//! Arrays in a framebuffer of OpenGL: what is drawn, what is under the pointer, and what makes a new picture.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod devices;
mod files;
mod frames;
mod listening;
#[cfg(feature = "serve")]
mod serving;
mod several;

use pixelferry::Extent;
use pixelferry::api::gl::winit::dpi::PhysicalPosition;
use pixelferry::api::gl::winit::event::{DeviceId, WindowEvent};
use pixelferry::api::gl::{GlDisplay, HeadlessOptions, OffscreenTarget};
use pixelferry_look::{Number, Request};
use pixelferry_testing::{Need, need};
use pixelferry_view::{Array, ArrayView, ViewError};
use std::sync::Arc;

const WINDOW: Extent = Extent::new(400, 300);

fn gl() -> Option<(Arc<GlDisplay>, OffscreenTarget)> {
    let display = need(Need::Egl, GlDisplay::headless(HeadlessOptions::default()))?;
    let target = display.create_offscreen_target(WINDOW.width, WINDOW.height).unwrap();
    Some((display, target))
}

fn array(shape: &[i64], name: &str, bytes: &[u8]) -> Array {
    Array::new("a", bytes, shape.to_vec(), Number::of_name(name).unwrap()).unwrap()
}

fn open(display: &Arc<GlDisplay>, array: Array) -> ArrayView {
    ArrayView::open(display, vec![array], Request::default()).unwrap()
}

/// The window's pixels, rows from the top.
fn drawn(view: &mut ArrayView, target: &OffscreenTarget) -> impl Fn(usize, usize) -> [u8; 3] + use<> {
    target.bind().unwrap();
    view.draw(WINDOW, 1.0).unwrap();
    let pixels = target.read_pixels().unwrap();
    move |x, y| *pixels[4 * (y * WINDOW.width as usize + x)..].first_chunk().unwrap()
}

fn point(view: &mut ArrayView, x: f64, y: f64) -> Option<String> {
    let position = PhysicalPosition::new(x, y);
    view.event(&WindowEvent::CursorMoved { device_id: DeviceId::dummy(), position }, WINDOW);
    view.under_pointer(WINDOW)
}

#[test]
fn a_picture_is_made_when_the_look_changes_and_never_by_zoom_or_pan() {
    let Some((display, target)) = gl() else { return };
    // 40 by 30 levels, ten window pixels for each.
    let bytes: Vec<u8> = (0..1200_u32).map(|n| (n % 40 * 5 + n / 40) as u8).collect();
    let mut view = open(&display, array(&[30, 40], "uint8", &bytes));
    let at = drawn(&mut view, &target);
    for (column, row) in [(0, 0), (39, 0), (17, 11), (5, 20)] {
        assert_eq!(at(column * 10 + 5, row * 10 + 5), [(column * 5 + row) as u8; 3], "{column}, {row}");
        assert_ne!(at(column * 10 + 5, row * 10), at(column * 10 + 5, row * 10 + 5), "no frame around {column}, {row}");
    }
    let image = view.image();
    for step in 0..20 {
        view.camera().zoom(if step < 12 { 1.3 } else { 0.8 }, [205.0, 155.0], image, WINDOW);
        view.camera().pan([1.0, -2.0], image, WINDOW);
        view.draw(WINDOW, 1.0).unwrap();
    }
    assert_eq!(view.pictures(), 1);
    view.camera().fit();
    assert!(view.press('e') && view.press('E') && view.pictures() == 3);
    assert_eq!(drawn(&mut view, &target)(175, 115), at(175, 115));
    // Ranges and their colours; what is no key does nothing.
    assert!(view.press('r') && view.press('c') && !view.press('z'));
    assert!(view.title().contains("colormap viridis"), "{}", view.title());
}

#[test]
fn under_the_pointer_is_the_arrays_own_number() {
    let Some((display, _)) = gl() else { return };
    let numbers: Vec<i64> = (0..1200).map(|n| i64::MAX - n).collect();
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
    let mut view = open(&display, array(&[30, 40], "int64", &bytes));
    assert_eq!(view.under_pointer(WINDOW), None);
    assert_eq!(point(&mut view, 399.5, 0.5).unwrap(), format!("row 0, column 39: {}", i64::MAX - 39));
    assert_eq!(point(&mut view, 12.0, 299.0).unwrap(), format!("row 29, column 1: {}", i64::MAX - 29 * 40 - 1));
    view.camera().one_to_one();
    assert_eq!((point(&mut view, 5.0, 5.0), view.under_pointer(WINDOW)), (None, None));
    // Of a grid of pictures: which one. Of complex numbers: both parts.
    let pictures: Vec<u8> = (0..4 * 30 * 40 * 3).map(|n| (n / 3600 * 10 + n % 3) as u8).collect();
    let mut view = open(&display, array(&[4, 30, 40, 3], "uint8", &pictures));
    assert_eq!(point(&mut view, 399.0, 1.0).unwrap(), "picture 1, row 0, column 39: 10 11 12");
    let complex: Vec<u8> = [0.5_f32, -2.0, 1e10, 0.0].iter().flat_map(|part| part.to_ne_bytes()).collect();
    let mut view = open(&display, array(&[1, 2], "complex64", &complex));
    assert_eq!(point(&mut view, 100.0, 150.0).unwrap(), "row 0, column 0: 0.5-2.0i");
}

#[test]
fn what_does_not_go_is_refused_or_said() {
    let Some((display, target)) = gl() else { return };
    let colours: Vec<u8> = (0..30 * 40 * 3).map(|n| n as u8).collect();
    let mut view = open(&display, array(&[30, 40, 3], "uint8", &colours));
    let before = drawn(&mut view, &target);
    view.press('c');
    let after = drawn(&mut view, &target);
    // Only the line that says why is another.
    assert_eq!((view.pictures(), before(200, 150)), (1, after(200, 150)));
    assert!((5..60).any(|x| (5..60).any(|y| before(x, y) != after(x, y))), "nothing is said");
    let wide = vec![0; 1 << 20];
    let refused = ArrayView::open(&display, vec![array(&[1, 1 << 20], "uint8", &wide)], Request::default()).map(drop);
    let Err(ViewError::Refused(error)) = refused else { panic!("{refused:?}") };
    let error = error.to_string();
    assert!(error.contains("1048576x1 pixels") && error.contains("a side") && error.len() < 250, "{error}");
    let refused = ArrayView::open(&display, Vec::new(), Request::default()).map(drop);
    assert!(matches!(refused, Err(ViewError::Refused(_))), "{refused:?}");
    // Beside another it is refused when it is chosen, and the other stays.
    let mut view = open(&display, array(&[30, 40], "uint8", &[90; 1200]));
    let before = drawn(&mut view, &target);
    view.put(array(&[1, 1 << 20], "uint8", &wide).named("wide".into())).unwrap();
    assert!(view.press(']') && view.title().starts_with("a (1 of 2)"), "{}", view.title());
    let after = drawn(&mut view, &target);
    assert_eq!((before(205, 205), after(205, 205)), ([90; 3], [90; 3]));
    let is_lit = |at: &dyn Fn(usize, usize) -> [u8; 3], y: usize| (5..395).filter(|x| at(*x, y)[0] > 200).count();
    let lines = |at: &dyn Fn(usize, usize) -> [u8; 3]| (20..120).filter(|y| is_lit(at, *y) > 10).count();
    assert!(lines(&before) == 0 && lines(&after) > 5, "{} and {} rows of text", lines(&before), lines(&after));
}

/// Text would hide all of it.
#[test]
fn a_small_window_shows_the_picture_alone() {
    let Some((display, _)) = gl() else { return };
    let mut view = open(&display, array(&[30, 40], "uint8", &[90; 1200]));
    for (side, is_alone) in [(100, true), (199, true), (200, false)] {
        let target = display.create_offscreen_target(side, side).unwrap();
        target.bind().unwrap();
        view.draw(Extent::new(side, side), 1.0).unwrap();
        let pixels = target.read_pixels().unwrap();
        target.unbind().unwrap();
        let lit = pixels.chunks_exact(4).filter(|pixel| pixel[1] > 150).count();
        assert_eq!(lit == 0, is_alone, "{lit} pixels of text in {side} x {side}");
    }
}

/// In a range that somebody chose, and after brightening, without another key.
#[test]
fn numbers_outside_of_a_range_are_marked() {
    const RED: [u8; 3] = [255, 0, 0];
    const BLUE: [u8; 3] = [0, 0, 255];
    let Some((display, target)) = gl() else { return };
    // 40 by 30 numbers from -1 at the left to 2 at the right.
    let numbers = (0..1200_u16).map(|n| f32::from(n % 40) * 3.0 / 39.0 - 1.0);
    let bytes: Vec<u8> = numbers.flat_map(f32::to_ne_bytes).collect();
    let mut view = open(&display, array(&[30, 40], "float32", &bytes));
    let ends = |view: &mut ArrayView| {
        let at = drawn(view, &target);
        [at(5, 5), at(395, 5)]
    };
    assert_eq!(ends(&mut view), [[0; 3], [255; 3]]);
    // The range of the type.
    for (key, marked) in [('r', [BLUE, RED]), ('m', [[0; 3], [255; 3]]), ('m', [BLUE, RED])] {
        assert!(view.press(key));
        assert_eq!(ends(&mut view), marked, "{key}");
    }
    let mut view = open(&display, array(&[30, 40], "float32", &bytes));
    assert!(view.press('e') && view.title().contains("above red"));
    assert_eq!(ends(&mut view), [[0; 3], RED]);
    // Several channels are colours, of which some are often brighter than white.
    let colours = [bytes.clone(), bytes.clone(), bytes].concat();
    let mut view = open(&display, array(&[30, 40, 3], "float32", &colours));
    assert!(view.press('e') && !view.title().contains("above red"));
}
