//! A real window on a virtual X server: what is on its screen is what the headless picture shows.

use crate::{pixelferry, texts};
use pixelferry_tests::{Need, Patience, Rgb, Viewer, Xvfb, need};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

const SIZE: (u16, u16) = (320, 180);

/// Ends the process with the test, whatever happens.
pub struct RunningChild(pub Child);

impl Drop for RunningChild {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl RunningChild {
    pub fn start(arguments: &[&str], server: &Xvfb) -> Self {
        Self(pixelferry(arguments).env("DISPLAY", server.display()).spawn().unwrap())
    }

    /// The pixels in the screen's corner.
    pub fn screen(&mut self, viewer: &Viewer, size: (u16, u16)) -> Vec<Rgb> {
        if let Some(status) = self.0.try_wait().unwrap() {
            panic!("the window closed by itself: {status}");
        }
        viewer.pixels((0, 0), size).unwrap()
    }
}

fn filter(input: &Path) -> [&str; 8] {
    ["demo", "filter", "--input", input.to_str().unwrap(), "--size", "320x180", "--backend", "cpu"]
}

#[test]
fn the_screen_shows_what_the_picture_shows() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("window");
    std::fs::create_dir_all(&folder).unwrap();
    let Some(server) = need(Need::Xvfb, Xvfb::start(1024, 640)) else { return };
    let viewer = Viewer::of(server.display()).unwrap();

    let (input, out) = (folder.join("input.png"), folder.join("expected.png"));
    image::RgbImage::from_fn(320, 180, |x, y| image::Rgb([(x * y / 40) as u8, (x / 9 * 30) as u8, y as u8]))
        .save(&input)
        .unwrap();
    let headless = pixelferry(&filter(&input)).arg("--headless").arg("--out").arg(&out).output().unwrap();
    assert!(headless.status.success(), "{}", texts(&headless)[1]);
    let expected: Vec<Rgb> = image::open(&out).unwrap().into_rgb8().pixels().map(|p| p.0).collect();

    let mut window = RunningChild::start(&filter(&input), &server);
    let mut patience = Patience::new();
    let mut last = Vec::new();
    while !patience.is_over() {
        last = window.screen(&viewer, SIZE);
        if last == expected {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let different = last.iter().zip(&expected).filter(|(a, b)| a != b).count();
    panic!("{different} of {} pixels on the screen are not those of the picture", expected.len());
}

#[test]
fn the_screen_shows_the_controls_beside_a_picture_that_moves() {
    const WINDOW: (u16, u16) = (1000, 600);
    let Some(server) = need(Need::Xvfb, Xvfb::start(1024, 640)) else { return };
    let viewer = Viewer::of(server.display()).unwrap();
    let arguments = ["demo", "plasma", "--size", "1000x600", "--picture", "160x90", "--backend", "cpu"];
    let mut window = RunningChild::start(&arguments, &server);
    let mut patience = Patience::new();
    let mut seen: Vec<Vec<Rgb>> = Vec::new();
    while !patience.is_over() {
        let screen = window.screen(&viewer, WINDOW);
        let width = usize::from(WINDOW.0);
        let part = |columns: Range<usize>, rows: Range<usize>| -> Vec<Rgb> {
            rows.flat_map(|y| screen[y * width + columns.start..y * width + columns.end].to_vec()).collect()
        };
        let (panel, picture) = (part(0..340, 0..300), part(500..800, 120..180));
        let text = panel.iter().filter(|pixel| pixel[1] > 150).count();
        if panel[4 * 340 + 4] == [22, 24, 31] && text > 500 && picture.iter().any(|pixel| *pixel != picture[0]) {
            seen.push(picture);
        }
        if seen.iter().any(|picture| *picture != seen[0]) {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("no controls beside a picture that moves, {} times controls and a picture", seen.len());
}

#[test]
fn no_display_server_is_explained() {
    let output = pixelferry(&["demo", "plasma", "--backend", "cpu"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let [_, said] = texts(&output);
    assert!(said.contains("error:") && said.contains("--headless"), "{said}");
}
