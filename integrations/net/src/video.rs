//! `pixelferry-net video`: records a scene's pictures in a file.

use crate::failure::Failure;
use crate::join::{Through, join};
use crate::output::say;
use crate::stop;
use clap::Args;
use pixelferry_media::record::{Output, RecordOptions, Recorder};
use pixelferry_media::wire::{HEADER_BYTES, Header, Limits};
use std::time::{Duration, Instant};

#[derive(Args)]
pub struct VideoOptions {
    #[command(flatten)]
    through: Through,
    /// Name of the scene.
    scene: String,
    /// File to write: .mp4, .mkv, .ts or .h264 via GStreamer, .y4m, or pictures/%05d.png.
    #[arg(long, value_parser = |text: &str| Output::named(text))]
    output: Output,
    /// Frame rate of the recording, in pictures per second.
    #[arg(long, default_value_t = 30)]
    rate: u32,
    /// Seconds to record, starting with the first picture.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
}

/// Records the state of the scene at each frame of the film.
pub fn run(options: &VideoOptions) -> Result<(), Failure> {
    let viewer = join(&options.through)?.view(&options.scene)?;
    let next = |patience| viewer.next_message(&[], patience);
    let patience = Duration::from_secs(options.through.patience);
    let record = RecordOptions::default().with_rate(options.rate);
    let mut recorder = Recorder::create(options.output.clone(), record)?;
    put(&mut recorder, &next(patience).ok_or_else(|| Failure::Unserved(options.scene.clone()))?)?;
    let (until, pause) = (Instant::now() + Duration::from_secs(options.seconds), Duration::from_millis(10));
    let mut written = Ok(());
    while Instant::now() < until && written.is_ok() && !stop::is_asked() {
        if let Some(message) = next(pause) {
            written = put(&mut recorder, &message);
        }
    }
    written?;
    say(format_args!("{}: {} pictures", options.output.name(), recorder.finish()?.frames))
}

fn put(recorder: &mut Recorder, message: &[u8]) -> Result<(), Failure> {
    // The receiver of the message has checked its own limits.
    let header = Header::read(message, &Limits { bytes: u64::MAX, ..Limits::default() })?;
    let pixels = header.unpack(message.get(HEADER_BYTES..).unwrap_or_default())?;
    Ok(recorder.put(header.image, pixels)?)
}
