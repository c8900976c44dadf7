//! Computes frames without a window.

use crate::error::PlayError;
use crate::pass::TextVoucher;
use crate::player::{Player, PlayerOptions};
use pixelferry::command::check_picture_file;
use pixelferry::save_rgba8;
use pixelferry_media::record::Recorder;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

/// Time limit for a stream's first frame.
const FIRST: Duration = Duration::from_secs(10);
/// Default time per frame.
const STEP: Duration = Duration::from_nanos(16_666_667);

/// Computes a number of frames. Saves the last one if a file is given, and records all of them if there is a recorder.
/// Time advances in steps and starts when every stream has a frame; streams run in real time.
///
/// # Errors
/// [`PlayError::Faults`] for a shader that is invalid or fails, [`PlayError::Channel`] for a stream without a frame in
/// 10 s, [`PlayError::Save`], and those of [`Player::open`].
pub fn play_headless(
    options: PlayerOptions,
    frames: u32,
    out: Option<&Path>,
    mut recorder: Option<&mut Recorder>,
    command: impl FnMut() -> Command + 'static,
    vouched: TextVoucher,
) -> Result<(), PlayError> {
    out.map_or(Ok(()), check_picture_file)?;
    let step = Some(options.step.unwrap_or(STEP));
    let mut player = Player::open(PlayerOptions { step, ..options }, None, command, vouched)?;
    player.settle()?;
    player.running.as_ref().map_or(Ok(()), |running| running.wait_for_streams(FIRST))?;
    // The first frame was computed with the program.
    player.rewind();
    for _ in 0..frames.max(1) {
        player.frame(true);
        player.settle()?;
        if let Some(recorder) = &mut recorder {
            recorder.put_picture(player.picture()?)?;
        }
    }
    out.map_or(Ok(()), |out| Ok(save_rgba8(player.picture()?, out)?))
}

impl Player {
    /// Waits for the trial run.
    ///
    /// # Errors
    /// [`PlayError::Faults`] if the shader has errors.
    pub fn settle(&mut self) -> Result<(), PlayError> {
        while self.is_busy() {
            self.look();
            thread::sleep(Duration::from_millis(1));
        }
        if self.faults().is_empty() { Ok(()) } else { Err(PlayError::Faults(self.faults().to_vec())) }
    }
}
