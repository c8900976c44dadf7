//! Measuring in the page. Both kinds of page tell of each picture by an event at their canvas.

use crate::Result;
use crate::chromium::Chromium;
use pixelferry_testing::Patience;
use serde_json::{Value, json};
use std::time::Duration;

const KEYS: u64 = 60;
const SECONDS: f64 = 4.0;
/// `rate` counts pictures of some seconds. `answer` gives the time from a key to the picture whose header has its number.
const SCRIPT: &str = "(() => {
    const canvas = document.getElementById('picture');
    const bench = window.bench = { keys: [], pictures: [], bytes: 0, waits: null };
    canvas.addEventListener('keydown', () => bench.keys.push(performance.now()), true);
    canvas.addEventListener('picture', ({ detail }) => {
        const now = performance.now();
        bench.pictures.push(now);
        bench.bytes += detail.bytes;
        if (bench.waits?.number === detail.time) bench.waits.done(now - bench.keys[detail.time - 1]);
    });
    bench.wait = (number) => { bench.waits = { number }; bench.answer = new Promise((done) => bench.waits.done = done); };
    bench.rate = async (ms) => {
        const [since, before, bytes] = [performance.now(), bench.pictures.length, bench.bytes];
        await new Promise((done) => setTimeout(done, ms));
        const count = bench.pictures.length - before;
        return [1000 * count / (performance.now() - since), (bench.bytes - bytes) / Math.max(1, count)];
    };
    canvas.focus();
})()";

/// Times of one round.
pub struct Sample {
    pub bytes: f64,
    pub rate: f64,
    pub ms: Vec<f64>,
}

/// Measures a page on show. `answering` lets the scene show pictures only as answers to keys.
pub fn measure(browser: &mut Chromium, codec: &str, answering: impl FnOnce()) -> Result<Sample> {
    browser.evaluate(SCRIPT)?;
    let mut patience = Patience::new();
    let seen = format!("bench.last === {codec:?}");
    browser.evaluate(
        "document.getElementById('picture').addEventListener('picture', (e) => bench.last = e.detail.codec)",
    )?;
    while browser.evaluate(&seen)? != json!(true) {
        if patience.is_over() {
            return Err(format!("no {codec} is shown").into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let rate: Value = browser.evaluate(&format!("bench.rate({})", SECONDS * 1000.0))?;
    answering();
    std::thread::sleep(Duration::from_millis(500));
    let mut ms = Vec::new();
    for number in 1..=KEYS {
        browser.evaluate(&format!("bench.wait({number})"))?;
        browser.key("KeyA", "a")?;
        let answered = browser.evaluate("bench.answer")?.as_f64().ok_or("no time")?;
        // The browser's clock says no more.
        ms.push((answered * 100.0).round() / 100.0);
        // Keys come at any time of the browser's frames.
        std::thread::sleep(Duration::from_millis(10 + number * 7 % 17));
    }
    let number = |at: usize| rate[at].as_f64().ok_or("no rate");
    Ok(Sample { bytes: number(1)?, rate: number(0)?, ms })
}
