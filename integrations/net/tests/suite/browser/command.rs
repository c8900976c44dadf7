//! The command's worker, display and page: the scene answers to mouse and keys, and a display that is killed and started again
//! is seen again.

use super::chromium::Chromium;
use super::{browser, canvas, pixel, wait_for_state, words};
use pixelferry_testing::Patience;
use serde_json::json;
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A part of the command. Ended when it goes.
pub struct CommandChild(Child);

impl CommandChild {
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_with(arguments, &[])
    }

    /// With these variables of its environment.
    pub fn start_with(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pixelferry-net"));
        command.args(arguments).envs(variables.iter().copied());
        Self(command.stdout(Stdio::piped()).spawn().unwrap())
    }

    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Tells where the gateway says that browsers find it.
    pub fn address(&mut self) -> String {
        let mut line = String::new();
        BufReader::new(self.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
        line.trim().strip_prefix("open ").unwrap_or_else(|| panic!("{line}")).into()
    }
}

impl Drop for CommandChild {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Tells where a pixel of the picture lies in the window.
fn place(browser: &mut Chromium, (x, y): (u32, u32)) -> (f64, f64) {
    let script = format!(
        "(() => {{
            const canvas = document.getElementById('picture'), box = canvas.getBoundingClientRect();
            const scale = Math.min(box.width / canvas.width, box.height / canvas.height);
            return [box.left + box.width / 2 + scale * ({x} + 0.5 - canvas.width / 2),
                    box.top + box.height / 2 + scale * ({y} + 0.5 - canvas.height / 2)];
        }})()"
    );
    serde_json::from_value(browser.evaluate(&script).unwrap()).unwrap()
}

fn is_white([red, green, blue, _]: [u8; 4]) -> bool {
    red.min(green).min(blue) >= 240
}

/// Waits until the pixels there are white, or all are not.
#[track_caller]
fn wait_for_spot(browser: &mut Chromium, places: &[(u32, u32)], expected: bool) {
    let mut patience = Patience::new();
    loop {
        let found: Vec<_> = places.iter().map(|&at| pixel(browser, at)).collect();
        if found.iter().all(|&pixel| is_white(pixel) == expected) {
            return;
        }
        assert!(!patience.is_over(), "{places:?} are {found:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The frame on show, and its pixels after at least three more frames.
pub fn later(browser: &mut Chromium) -> Vec<u8> {
    let frame = "Number(document.getElementById('picture').dataset.frame)";
    let first = browser.evaluate(frame).unwrap().as_f64().unwrap();
    let mut patience = Patience::new();
    while browser.evaluate(frame).unwrap().as_f64().unwrap() < first + 3.0 {
        assert!(!patience.is_over(), "no pictures come");
        std::thread::sleep(Duration::from_millis(20));
    }
    canvas(browser)
}

#[test]
fn the_scene_answers_to_mouse_and_keys_and_comes_back() {
    let Some(mut browser) = browser(&[]) else { return };
    // A port that nobody has at the moment.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let hub = format!("tcp/127.0.0.1:{port}");
    let show = || CommandChild::start(&["display", "--listen", &hub, "--size", "320x180"]);
    let mut display = show();
    let _worker = CommandChild::start(&["worker", "--connect", &hub]);
    let mut web = CommandChild::start(&["web", "--connect", &hub, "--listen", "127.0.0.1:0"]);
    let address = web.address();
    browser.open(&format!("{address}/")).unwrap();

    for round in 0..2 {
        wait_for_state(&mut browser, "live");
        let (near, far) = ((100, 80), (250, 40));
        // The size of the picture is known.
        later(&mut browser);
        let (at, there) = (place(&mut browser, near), place(&mut browser, far));
        browser.mouse("mouseMoved", at, 0).unwrap();
        wait_for_spot(&mut browser, &[near, (near.0 + 10, near.1), (near.0, near.1 - 10)], true);
        browser.mouse("mouseMoved", there, 0).unwrap();
        wait_for_spot(&mut browser, &[far], true);
        // A button makes the spot larger, and releasing it smaller.
        browser.mouse("mousePressed", there, 1).unwrap();
        wait_for_spot(&mut browser, &[far, (far.0 + 30, far.1), (far.0, far.1 + 30)], true);
        browser.mouse("mouseReleased", there, 0).unwrap();
        wait_for_spot(&mut browser, &[far, (far.0 + 10, far.1)], true);
        // The space bar stops the waves, and lets them go on.
        browser.key("Space", " ").unwrap();
        later(&mut browser);
        let mut patience = Patience::new();
        while later(&mut browser) != later(&mut browser) {
            assert!(!patience.is_over(), "the waves do not stop");
        }
        browser.key("Space", " ").unwrap();
        let mut patience = Patience::new();
        while later(&mut browser) == later(&mut browser) {
            assert!(!patience.is_over(), "the waves do not go on");
        }
        if round == 0 {
            drop(display);
            wait_for_state(&mut browser, "waiting");
            assert!(words(&mut browser).contains("plasma is not being served"), "{}", words(&mut browser));
            display = show();
        }
    }
    let shown = browser.evaluate("['size', 'rate', 'age', 'bytes'].map((id) => document.getElementById(id).value)");
    let shown: Vec<String> = serde_json::from_value(shown.unwrap()).unwrap();
    assert_eq!(json!(shown[0]), json!("320x180 jpeg"));
    for (words, unit) in shown[1..].iter().zip(["pictures/s", "ms old", "MB/s"]) {
        assert!(words.ends_with(unit) && words.starts_with(|first: char| first.is_ascii_digit()), "{shown:?}");
    }
}
