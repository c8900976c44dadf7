//! Chromium, for tests of pages and of WebGL.

use std::process::{Command, Stdio};

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

/// Flags that every test gives it: no window; no sandbox, as containers and root have none, for pages that are the test's own; and
/// nothing that goes to the internet on its own.
pub const CHROMIUM_FLAGS: [&str; 7] = [
    "--headless",
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// The program's name: `PIXELFERRY_CHROMIUM`, or the first of the usual ones that is there. Ask by [`need`](crate::need) for
/// [`Need::Chromium`](crate::Need::Chromium).
///
/// # Errors
/// None of them runs.
pub fn chromium() -> Result<String, String> {
    let given = std::env::var("PIXELFERRY_CHROMIUM").ok();
    let runs = |name: &String| {
        let ran = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        ran.is_ok_and(|status| status.success())
    };
    let mut names = given.into_iter().chain(NAMES.map(String::from));
    names.find(runs).ok_or_else(|| format!("none of {} runs, and no PIXELFERRY_CHROMIUM", NAMES.join(", ")))
}
