//! A real window on a virtual X server: what is on its screen is what the headless picture shows.

use pixelferry_tests::{Need, Patience, Rgb, Viewer, Xvfb, need};
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

const BIN: &str = env!("CARGO_BIN_EXE_pixelferry");
const SIZE: (u16, u16) = (320, 180);

/// Ends the process with the test, whatever happens.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn arguments(file: &str) -> Vec<String> {
    let input = format!("{}/../pixelferry-demo/assets/{file}", env!("CARGO_MANIFEST_DIR"));
    let size = format!("{}x{}", SIZE.0, SIZE.1);
    ["demo", "filter", "--input", &input, "--size", &size, "--backend", "cpu"].map(str::to_owned).to_vec()
}

#[test]
fn the_screen_shows_what_the_picture_shows() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("window");
    std::fs::create_dir_all(&folder).unwrap();
    let Some(server) = need(Need::Xvfb, Xvfb::start(1024, 640)) else { return };
    let viewer = Viewer::of(server.display()).unwrap();

    let out = folder.join("expected.png");
    let headless = Command::new(BIN).args(arguments("lake.jpg")).arg("--headless").arg("--out").arg(&out).output();
    let headless = headless.unwrap();
    assert!(headless.status.success(), "{}", String::from_utf8_lossy(&headless.stderr));
    let expected: Vec<Rgb> = image::open(&out).unwrap().into_rgb8().pixels().map(|p| p.0).collect();

    let window = Command::new(BIN)
        .args(arguments("lake.jpg"))
        .env("DISPLAY", server.display())
        .env_remove("WAYLAND_DISPLAY")
        .spawn()
        .unwrap();
    let mut window = Running(window);
    let mut patience = Patience::new();
    let mut last = Vec::new();
    while !patience.is_over() {
        if let Some(status) = window.0.try_wait().unwrap() {
            panic!("the window closed by itself: {status}");
        }
        last = viewer.pixels((0, 0), SIZE).unwrap();
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
    let window = Command::new(BIN)
        .args(["demo", "plasma", "--size", "1000x600", "--picture", "160x90", "--backend", "cpu"])
        .env("DISPLAY", server.display())
        .env_remove("WAYLAND_DISPLAY")
        .spawn()
        .unwrap();
    let mut window = Running(window);
    let mut patience = Patience::new();
    let mut seen: Vec<Vec<Rgb>> = Vec::new();
    while !patience.is_over() {
        if let Some(status) = window.0.try_wait().unwrap() {
            panic!("the window closed by itself: {status}");
        }
        let screen = viewer.pixels((0, 0), WINDOW).unwrap();
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
    let output = Command::new(BIN)
        .args(arguments("lake.jpg"))
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("error:") && said.contains("--headless"), "{said}");
}
