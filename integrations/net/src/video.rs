//! `pixelferry-net video`: a scene's pictures in a file.

use crate::failure::Failure;
use crate::join::{Through, join};
use crate::output::say;
use crate::stop;
use clap::Args;
use pixelferry_media::video::Recorder;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[derive(Args)]
pub struct Options {
    #[command(flatten)]
    through: Through,
    /// Name of the scene.
    scene: String,
    /// File to write; its ending says the container: .mp4, .mkv, .ts, .h264.
    #[arg(long)]
    output: PathBuf,
    /// Pictures of the file a second.
    #[arg(long, default_value_t = 30)]
    rate: u32,
    /// Seconds to record, from the first picture on.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
}

/// Records as H.264, by GStreamer.
pub fn run(options: &Options) -> Result<(), Failure> {
    let viewer = join(&options.through)?.view(&options.scene)?;
    let next = |patience| viewer.next_message(&[], patience);
    let patience = Duration::from_secs(options.through.patience);
    let first = next(patience).ok_or_else(|| Failure::Unserved(options.scene.clone()))?.into();
    let mut recorder = Recorder::start(&options.output, options.rate, &first)?;
    let (until, pause) = (Instant::now() + Duration::from_secs(options.seconds), Duration::from_millis(10));
    let mut written = Ok(());
    while Instant::now() < until && written.is_ok() && !stop::is_asked() {
        if let Some(message) = next(pause) {
            written = recorder.write(&message);
        }
    }
    let element = recorder.element().name;
    let pictures = recorder.finish()?;
    say(format_args!("{}: {pictures} pictures by {element}", options.output.display()))?;
    Ok(written?)
}
