//! Chromium, for tests of pages and of WebGL.

use std::process::{Command, Stdio};

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Flags for every start of Chromium in a test. It opens no window. It has no sandbox, because containers and root have
/// none and the pages are the test's own. It does not access the internet unasked.
pub const CHROMIUM_FLAGS: [&str; 7] = [
    "--headless",
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// Returns the program's name: `PIXELFERRY_CHROMIUM`, or the first of the usual names that runs. Use it through
/// [`need`](crate::need) with [`Need::Chromium`](crate::Need::Chromium).
///
/// # Errors
/// No such program runs.
pub fn chromium() -> Result<String, String> {
    let given = std::env::var("PIXELFERRY_CHROMIUM").ok();
    let runs = |name: &String| {
        let ran = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        ran.is_ok_and(|status| status.success())
    };
    let mut names = given.into_iter().chain(NAMES.map(String::from));
    names.find(runs).ok_or_else(|| format!("none of {} runs, and PIXELFERRY_CHROMIUM is not set", NAMES.join(", ")))
}
