//! `pixelferry::show`: in a window that its user zooms, moves and closes, and where there is none.

use pixelferry::prelude::*;
use pixelferry_tests::{Need, Patience, Rgb, Viewer, Xvfb, need, pass_in_child};
use std::path::{Path, PathBuf};
use std::time::Duration;

const SIZE: (u16, u16) = (160, 120);

/// Each pixel tells its place.
fn places() -> Show {
    let places = KernelSource::new("places").cpu_image(|out, args| {
        let blue = (args.f32(0)? * 10.0).min(255.0) as u8;
        out.par_pixels(|x, y| [x as u8, y as u8, blue, 255])
    });
    Show::new(places).size(SIZE.0.into(), SIZE.1.into()).arguments(|time| [Arg::F32(time)])
}

/// Waits for a screen as `seen` wants it: red and green are column and row of the picture's pixel that stands there.
fn wait_for(viewer: &Viewer, what: &str, seen: impl Fn(&dyn Fn(u16, u16) -> Rgb) -> bool) {
    let mut patience = Patience::new();
    loop {
        let pixels = viewer.pixels((0, 0), SIZE).unwrap();
        if seen(&|x, y| pixels[usize::from(y) * usize::from(SIZE.0) + usize::from(x)]) {
            return;
        }
        assert!(!patience.is_over(), "never seen: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What a user does; ends by Escape.
fn user(display: &str) {
    let viewer = Viewer::of(display).unwrap();
    let about = |found: u8, wanted: u16| u16::from(found).abs_diff(wanted) <= 1;
    wait_for(&viewer, "the picture at its own size", |at| at(1, 2)[..2] == [1, 2] && at(150, 110)[..2] == [150, 110]);
    viewer.focus((5, 5)).unwrap();
    viewer.point((40, 30)).unwrap();
    // winit takes a wheel that is made of buttons for two steps: one when it is pressed, one when it is let go.
    for _ in 0..2 {
        viewer.click(4).unwrap();
    }
    // 1.2 to the power of 4 is 2.07.
    let zoomed = |start: u16, at: u16| start + ((f64::from(at) - f64::from(start)) / 2.0736) as u16;
    wait_for(&viewer, "the picture zoomed about the pointer", |at| {
        let far = at(150, 110);
        about(at(40, 30)[0], 40)
            && about(at(40, 30)[1], 30)
            && about(far[0], zoomed(40, 150))
            && about(far[1], zoomed(30, 110))
    });
    // F contains it again.
    viewer.key(41).unwrap();
    wait_for(&viewer, "the picture at its own size again", |at| {
        at(1, 2)[..2] == [1, 2] && at(150, 110)[..2] == [150, 110]
    });
    // The question mark of a keyboard from the United States.
    viewer.shifted(61).unwrap();
    viewer.key(9).unwrap();
}

#[test]
#[ignore = "run by the tests below, each in a process of its own"]
fn child_window() {
    let display = std::env::var("DISPLAY").unwrap();
    let user = std::thread::spawn(move || user(&display));
    pixelferry::show(places().picture(picture())).unwrap();
    user.join().unwrap();
    assert!(!Path::new(&picture()).exists(), "a picture was saved, though there was a window");
}

#[test]
#[ignore = "run by the tests below, each in a process of its own"]
fn child_no_window() {
    pixelferry::show(places().picture(picture())).unwrap();
    let saved = image::open(picture()).unwrap().into_rgba8();
    assert_eq!(saved.get_pixel(17, 93).0, [17, 93, 10, 255], "the frame at one second");
    std::fs::remove_file(picture()).unwrap();
    // What cannot be saved is said before anything is computed.
    let refused = places().picture("absent/folder/a.png").run().unwrap_err().to_string();
    assert!(refused.contains("absent/folder/a.png"), "{refused}");
}

fn picture() -> PathBuf {
    std::env::temp_dir().join(format!("pixelferry-show-{}.png", std::process::id()))
}

fn pass(child: &str, display: &str, said: &str) {
    pass_in_child(&format!("windows::show::{child}"), None, &[("DISPLAY", display)], &[said]);
}

#[test]
fn a_kernel_is_shown_until_its_window_is_closed() {
    let Some(server) = need(Need::Xvfb, Xvfb::start(800, 600)) else { return };
    pass("child_window", server.display(), "Space: pause the time, S: save the picture");
}

#[test]
fn a_picture_is_saved_where_there_is_no_window() {
    pass("child_no_window", "", "1 passed");
}
