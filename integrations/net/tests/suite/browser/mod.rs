//! The page in a headless Chromium: what its canvas shows, beside what was served.

mod chromium;
mod command;
mod foreign;
mod shown;
mod video;

use chromium::Chromium;
use pixelferry_testing::{Need, Patience, need};
use serde_json::{Value, json};
use std::time::Duration;

/// A Chromium, or SKIPPED and why.
fn browser(flags: &[&str]) -> Option<Chromium> {
    need(Need::Chromium, pixelferry_testing::chromium()).map(|program| Chromium::start(&program, flags).unwrap())
}

/// Returns what the canvas shows, row by row from the top, RGBA8.
fn canvas(browser: &mut Chromium) -> Vec<u8> {
    let script = "(() => {
        const canvas = document.getElementById('picture');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        return Array.from(data);
    })()";
    serde_json::from_value(browser.evaluate(script).unwrap()).unwrap()
}

/// The pixel of the canvas at a place.
fn pixel(browser: &mut Chromium, (x, y): (u32, u32)) -> [u8; 4] {
    let script =
        format!("Array.from(document.getElementById('picture').getContext('2d').getImageData({x}, {y}, 1, 1).data)");
    serde_json::from_value(browser.evaluate(&script).unwrap()).unwrap()
}

/// Waits until an expression has a value.
#[track_caller]
fn wait_for(browser: &mut Chromium, script: &str, expected: impl Into<Value>) {
    let (expected, mut patience) = (expected.into(), Patience::new());
    loop {
        let found = browser.evaluate(script).unwrap();
        if found == expected {
            return;
        }
        assert!(!patience.is_over(), "{script} is {found}, not {expected}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[track_caller]
fn wait_for_state(browser: &mut Chromium, state: &str) {
    wait_for(browser, "document.body.dataset.state", json!(state));
}

/// The words of the page's line about its state.
fn words(browser: &mut Chromium) -> String {
    browser.evaluate("document.getElementById('state').value").unwrap().as_str().unwrap().to_owned()
}
