//! Options of every command that can record what it shows.

use crate::{say, terminal};
use clap::Args;
use pixelferry::driver::describe::words::counted;
use pixelferry_media::record::{FilmSummary, Output, RecordError, RecordOptions, Recorder};
use std::path::{Path, PathBuf};

/// Recording options of a command whose frames follow the real time, or have no time.
#[derive(Debug, Clone, Args)]
pub struct FilmArgs {
    /// Record what is shown: .mp4, .mkv, .ts or .h264 via GStreamer, .y4m, frames/%05d.png, or - for Y4M on standard
    /// output.
    #[arg(long, value_name = "FILE", value_parser = |text: &str| Output::named(text))]
    pub record: Option<Output>,
    /// Frame rate of the recording, in frames per second.
    #[arg(long, value_name = "N", default_value_t = RecordOptions::default().rate, requires = "record")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rate: u32,
}

/// Recording options of all other commands.
#[derive(Debug, Clone, Args)]
pub struct RecordArgs {
    /// Options of the film.
    #[command(flatten)]
    pub film: FilmArgs,
    /// Record each picture as one frame, however long it takes: gives smooth films of slow kernels, and drops no
    /// frames.
    #[arg(long, requires = "record")]
    pub step: bool,
}

impl RecordArgs {
    /// Begins the film, if there is one; `steps` means that time advances per frame anyway.
    ///
    /// # Errors
    /// Those of [`FilmArgs::begin`].
    pub fn begin(&self, steps: bool) -> Result<Option<Recorder>, RecordError> {
        self.film.begin(self.step || steps)
    }
}

impl FilmArgs {
    /// Sends messages to standard error from now on if the film goes to standard output.
    pub fn leave_output(&self) {
        if self.record == Some(Output::Standard) {
            terminal::leave_output();
        }
    }

    /// Refuses a film that would overwrite one of the shown files.
    ///
    /// # Errors
    /// Names that file.
    pub fn check_spares(&self, shown: &[PathBuf]) -> Result<(), String> {
        let Some(Output::Y4m(film) | Output::Video(film)) = &self.record else { return Ok(()) };
        let real = |path: &Path| path.canonicalize().ok();
        let same = real(film).and_then(|film| shown.iter().find(|file| real(file).as_ref() == Some(&film)));
        same.map_or(Ok(()), |file| Err(format!("{} is being shown; record to another file", file.display())))
    }

    /// Begins the film, if there is one; with `steps` each picture is one frame. Reserves standard output for a film
    /// that goes there.
    ///
    /// # Errors
    /// Those of [`Recorder::create`].
    pub fn begin(&self, steps: bool) -> Result<Option<Recorder>, RecordError> {
        let Some(output) = &self.record else { return Ok(None) };
        self.leave_output();
        let options = RecordOptions::default().with_rate(self.rate).with_step(steps);
        Recorder::create(output.clone(), options).map(Some)
    }

    /// Ends the film and prints its number of frames.
    ///
    /// # Errors
    /// Those of [`Recorder::finish`], and a failure of standard output.
    pub fn end(&self, recorder: Option<Recorder>) -> Result<(), Box<dyn std::error::Error>> {
        let (Some(output), Some(recorder)) = (&self.record, recorder) else { return Ok(()) };
        let FilmSummary { frames, dropped, extent, .. } = recorder.finish()?;
        let missing =
            if dropped > 0 { format!(", {dropped} dropped because the writer was behind") } else { String::new() };
        Ok(say!("recorded {} to {}, {extent}{missing}", counted(frames, "frame"), output.name())?)
    }
}
