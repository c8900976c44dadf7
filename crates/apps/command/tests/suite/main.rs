//! The command as a program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod bench;
#[cfg(all(feature = "play", feature = "view", target_os = "linux"))]
mod children;
#[cfg(feature = "overlay")]
mod controls;
mod doctor;
#[cfg(target_os = "linux")] // /dev/full
mod endings;
#[cfg(feature = "manual")]
mod manual;
mod missing_drivers;
#[cfg(all(feature = "play", feature = "view", target_os = "linux"))]
mod play;
mod probe;
#[cfg(all(feature = "view", target_os = "linux"))]
mod record;
mod report;
mod shaders;
#[cfg(target_os = "linux")]
mod sharing;
#[cfg(all(feature = "overlay", feature = "stream", feature = "view", target_os = "linux"))]
mod streams;
mod trace;
#[cfg(all(feature = "view", target_os = "linux"))]
mod view;
#[cfg(target_os = "linux")]
mod window;
mod words;

use pixelferry_tests::by_level;
use std::process::{Command, Output};

/// The program without a screen. At the shortest level it times no paths, where a test is not about the choice.
fn pixelferry(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pixelferry"));
    command.args(arguments).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    command.env("PIXELFERRY_CALIBRATE_MS", by_level("0", "", ""));
    command
}

/// Returns what it said, on standard output and then on standard error.
fn texts(output: &Output) -> [String; 2] {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}
