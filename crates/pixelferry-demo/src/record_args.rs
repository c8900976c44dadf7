//! Options of every command that can record what it shows.

use crate::{say, terminal};
use clap::Args;
use pixelferry::driver::describe::words::counted;
use pixelferry_media::record::{Output, RecordError, RecordOptions, Recorded, Recorder};
use std::path::{Path, PathBuf};

/// The film of a command whose frames tell the time on their own, or not at all.
#[derive(Debug, Clone, Args)]
pub struct FilmArgs {
    /// Record what is shown: .mp4, .mkv, .ts or .h264 by GStreamer, .y4m, frames/%05d.png, or - for Y4M on standard output.
    #[arg(long, value_name = "FILE", value_parser = |text: &str| Output::named(text))]
    pub record: Option<Output>,
    /// Frames of the film a second.
    #[arg(long, value_name = "N", default_value_t = RecordOptions::default().rate, requires = "record")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rate: u32,
}

/// The film of any other command.
#[derive(Debug, Clone, Args)]
pub struct RecordArgs {
    /// The film.
    #[command(flatten)]
    pub film: FilmArgs,
    /// Each picture is one frame of the film, however long it takes: smooth films of slow kernels, and none is dropped.
    #[arg(long, requires = "record")]
    pub step: bool,
}

impl RecordArgs {
    /// Begins the film, where there is to be one; `steps` where time passes by the frame anyway.
    ///
    /// # Errors
    /// Those of [`FilmArgs::begin`].
    pub fn begin(&self, steps: bool) -> Result<Option<Recorder>, RecordError> {
        self.film.begin(self.step || steps)
    }
}

impl FilmArgs {
    /// Lets messages go to standard error from now on where standard output is the film.
    pub fn leave_output(&self) {
        if self.record == Some(Output::Standard) {
            terminal::leave_output();
        }
    }

    /// Refuses a film that would be written over one of the files that are shown.
    ///
    /// # Errors
    /// Which one that is.
    pub fn check_spares(&self, shown: &[PathBuf]) -> Result<(), String> {
        let Some(Output::Y4m(film) | Output::Video(film)) = &self.record else { return Ok(()) };
        let real = |path: &Path| path.canonicalize().ok();
        let same = real(film).and_then(|film| shown.iter().find(|file| real(file).as_ref() == Some(&film)));
        same.map_or(Ok(()), |file| Err(format!("{} is shown; record to another file", file.display())))
    }

    /// Begins the film, where there is to be one; with `steps` each picture is one frame. Leaves standard output to it.
    ///
    /// # Errors
    /// Those of [`Recorder::create`].
    pub fn begin(&self, steps: bool) -> Result<Option<Recorder>, RecordError> {
        let Some(output) = &self.record else { return Ok(None) };
        self.leave_output();
        let options = RecordOptions::default().with_rate(self.rate).with_step(steps);
        Recorder::create(output.clone(), options).map(Some)
    }

    /// Ends it, and says what is in it.
    ///
    /// # Errors
    /// Those of [`Recorder::finish`], and where that cannot be said.
    pub fn end(&self, recorder: Option<Recorder>) -> Result<(), Box<dyn std::error::Error>> {
        let (Some(output), Some(recorder)) = (&self.record, recorder) else { return Ok(()) };
        let Recorded { frames, dropped, extent, .. } = recorder.finish()?;
        let missing = if dropped > 0 { format!(", {dropped} dropped as the writer was behind") } else { String::new() };
        Ok(say!("recorded {} to {}, {extent}{missing}", counted(frames, "frame"), output.name())?)
    }
}
