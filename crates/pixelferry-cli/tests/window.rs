//! A real window on a virtual X server: what is on its screen is what the headless picture shows.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

use pixelferry_tests::{Driver, need};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const BIN: &str = env!("CARGO_BIN_EXE_pixelferry");
const SIZE: (usize, usize) = (320, 180);

/// Ends the process with the test, whatever happens.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Server {
    _process: Running,
    display: String,
    /// The screen as an XWD file that the server keeps up to date.
    screen: PathBuf,
}

fn start_server(folder: &Path) -> Result<Server, String> {
    let mut process = Command::new("Xvfb")
        .args(["-displayfd", "1", "-screen", "0", "1024x640x24", "-nolisten", "tcp", "-fbdir"])
        .arg(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| format!("Xvfb does not start: {e}"))?;
    let stdout = process.stdout.take().unwrap();
    let process = Running(process);
    let mut number = String::new();
    BufReader::new(stdout).read_line(&mut number).map_err(|e| e.to_string())?;
    if number.trim().is_empty() {
        return Err("Xvfb gave no display number".into());
    }
    Ok(Server { _process: process, display: format!(":{}", number.trim()), screen: folder.join("Xvfb_screen0") })
}

/// The top left pixels of the screen as RGB.
fn screenshot(path: &Path, size: (usize, usize)) -> Option<Vec<[u8; 3]>> {
    let file = std::fs::read(path).ok()?;
    // XWD: a header of big-endian words, a colour map of 12 bytes each, then rows.
    let word = |i: usize| Some(u32::from_be_bytes(file.get(4 * i..4 * i + 4)?.try_into().ok()?) as usize);
    let (header, lsb_first, bits, pitch, colours) = (word(0)?, word(7)? == 0, word(11)?, word(12)?, word(19)?);
    assert!(lsb_first && bits == 32, "a screen of another kind: {bits} bits");
    let pixels = file.get(header + 12 * colours..)?;
    let mut rgb = Vec::with_capacity(size.0 * size.1);
    for row in pixels.chunks(pitch).take(size.1) {
        rgb.extend(row.get(..4 * size.0)?.chunks_exact(4).map(|p| [p[2], p[1], p[0]]));
    }
    Some(rgb)
}

fn arguments(file: &str) -> Vec<String> {
    let input = format!("{}/../../examples/assets/{file}", env!("CARGO_MANIFEST_DIR"));
    let size = format!("{}x{}", SIZE.0, SIZE.1);
    ["demo", "filter", "--input", &input, "--size", &size, "--backend", "cpu"].map(str::to_owned).to_vec()
}

#[test]
fn the_screen_shows_what_the_picture_shows() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("window");
    std::fs::create_dir_all(&folder).unwrap();
    let Some(server) = need(Driver::Xvfb, start_server(&folder)) else { return };

    let out = folder.join("expected.png");
    let headless = Command::new(BIN).args(arguments("lake.jpg")).arg("--headless").arg("--out").arg(&out).output();
    let headless = headless.unwrap();
    assert!(headless.status.success(), "{}", String::from_utf8_lossy(&headless.stderr));
    let expected: Vec<[u8; 3]> = image::open(&out).unwrap().into_rgb8().pixels().map(|p| p.0).collect();

    let window = Command::new(BIN)
        .args(arguments("lake.jpg"))
        .env("DISPLAY", &server.display)
        .env_remove("WAYLAND_DISPLAY")
        .spawn()
        .unwrap();
    let mut window = Running(window);
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut last = None;
    while Instant::now() < deadline {
        if let Some(status) = window.0.try_wait().unwrap() {
            panic!("the window closed by itself: {status}");
        }
        last = screenshot(&server.screen, SIZE);
        if last.as_ref() == Some(&expected) {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let different = last.unwrap().iter().zip(&expected).filter(|(a, b)| a != b).count();
    panic!("{different} of {} pixels on the screen are not those of the picture", expected.len());
}

#[test]
fn the_screen_shows_the_controls_beside_a_picture_that_moves() {
    const WINDOW: (usize, usize) = (1000, 600);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("controls");
    std::fs::create_dir_all(&folder).unwrap();
    let Some(server) = need(Driver::Xvfb, start_server(&folder)) else { return };
    let window = Command::new(BIN)
        .args(["demo", "plasma", "--size", "1000x600", "--picture", "160x90", "--backend", "cpu"])
        .env("DISPLAY", &server.display)
        .env_remove("WAYLAND_DISPLAY")
        .spawn()
        .unwrap();
    let mut window = Running(window);
    let deadline = Instant::now() + Duration::from_secs(90);
    let mut seen: Vec<Vec<[u8; 3]>> = Vec::new();
    while Instant::now() < deadline {
        if let Some(status) = window.0.try_wait().unwrap() {
            panic!("the window closed by itself: {status}");
        }
        if let Some(screen) = screenshot(&server.screen, WINDOW) {
            let part = |columns: std::ops::Range<usize>, rows: std::ops::Range<usize>| -> Vec<[u8; 3]> {
                rows.flat_map(|y| screen[y * WINDOW.0 + columns.start..y * WINDOW.0 + columns.end].to_vec()).collect()
            };
            let (panel, picture) = (part(0..340, 0..300), part(500..800, 120..180));
            let text = panel.iter().filter(|pixel| pixel[1] > 150).count();
            if panel[4 * 340 + 4] == [22, 24, 31] && text > 500 && picture.iter().any(|pixel| *pixel != picture[0]) {
                seen.push(picture);
            }
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
