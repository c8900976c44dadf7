//! Texts that are played: their pixels, what is wrong in them, and what becomes of the picture meanwhile.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

mod cases;
mod channels;
mod faults;
mod isf_reasons;
mod mutated;
mod rivals;
mod shadertoy;
#[cfg(target_os = "linux")]
mod streamed;
mod webgl;
mod worked;

use pixelferry::command::ApiChoice as _;
use pixelferry::{BackendChoice, Extent};
use pixelferry_play::{PlayError, Player, PlayerOptions, TextVoucher, Wishes, serve};
use pixelferry_testing::{Need, need};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Tells the process of a trial its backend.
const BACKEND: &str = "PIXELFERRY_TEST_TRIAL";
const SIZE: Extent = Extent::new(96, 54);

fn vouched() -> TextVoucher {
    // SAFETY: the tests' own texts; mutated ones run in a process of their own first.
    unsafe { TextVoucher::new() }
}

#[test]
#[ignore = "the process of a trial, run by the tests"]
fn trial_child() {
    let backend = std::env::var(BACKEND).expect("the tests start it");
    let backend = BackendChoice::parse(&backend).unwrap();
    // Its parent may have ended it.
    let _ = serve(std::io::stdin().lock(), backend, vouched());
}

fn trial(backend: BackendChoice) -> impl FnMut() -> Command {
    move || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["suite::trial_child", "--exact", "--include-ignored", "--nocapture", "--test-threads=1"]);
        command.env(BACKEND, backend.name());
        command
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::current_exe().unwrap().with_file_name("play-tests").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn options(file: &Path, backend: BackendChoice) -> PlayerOptions {
    PlayerOptions {
        wishes: Wishes { backend, ..Wishes::default() },
        size: SIZE,
        step: Some(Duration::from_millis(250)),
        limit: Duration::from_secs(120),
        ..PlayerOptions::new(file)
    }
}

/// A file's player with its first picture; `None` where the machine lacks the driver.
fn opened(options: PlayerOptions, backend: BackendChoice, of: Need) -> Option<Result<Player, PlayError>> {
    match Player::open(options, None, trial(backend), vouched()) {
        Err(
            PlayError::Driver(error @ pixelferry::Error::Unavailable { .. })
            | PlayError::NoOpenGl { reason: error, .. },
        ) => {
            need(of, Err::<(), _>(error));
            None
        }
        Ok(mut player) => Some(player.settle().map(|()| player)),
        Err(error) => Some(Err(error)),
    }
}

/// The pixel of a column and a row from the top.
fn pixels(player: &mut Player) -> impl Fn(u32, u32) -> [u8; 4] + use<> {
    let bytes = player.picture().unwrap().into_raw();
    let width = player.size().width;
    move |x, y| *bytes[4 * (y * width + x) as usize..].first_chunk().unwrap()
}
