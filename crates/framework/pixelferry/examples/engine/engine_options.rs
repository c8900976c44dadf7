//! The engines' command line.

use clap::Parser;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use pixelferry::command::{ApiChoice as _, check_picture_file};
use pixelferry::{BackendChoice, Extent, LinkOptions, Mode, Policy};
use std::path::PathBuf;

/// Any error that ends an engine.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The options of the engines.
#[derive(Debug, Clone, Parser)]
#[command(about = "A small render engine that shows a computed planet, sea and radar")]
pub struct EngineOptions {
    /// Open no window.
    #[arg(long)]
    pub headless: bool,
    /// File to save the last frame to (.png, .jpg).
    #[arg(long, value_name = "FILE", requires = "headless")]
    pub out: Option<PathBuf>,
    /// Size of the picture, or of each window at first.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = parse_size, default_value = "960x540")]
    pub size: (u32, u32),
    /// End after so many frames. [default: 60 headless, else endless]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub frames: Option<u32>,
    /// Number of windows to open.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..))]
    pub windows: u8,
    /// Backend to compute with.
    #[arg(long, value_parser = backends(), default_value = BackendChoice::default().name())]
    pub backend: BackendChoice,
    /// Show the frame finished so many frames before the last, so that compute and display overlap; `auto` measures how many
    /// are worth it.
    #[arg(long, value_name = "N", value_parser = parse_mode, default_value = "1")]
    pub frames_behind: Mode,
    /// Lose the context or device before this frame, to be made again.
    #[arg(long, value_name = "N")]
    pub lose_at: Option<u64>,
    /// Another size every N frames, and windows closed and opened again after every fourth: for finding leaks.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub churn: Option<u64>,
}

impl EngineOptions {
    /// Checks whether the picture can be saved, before it is rendered.
    pub fn check_out(&self) -> Result<(), Failure> {
        Ok(self.out.as_ref().map_or(Ok(()), check_picture_file)?)
    }

    /// Returns the options with which links are opened.
    pub fn link_options(&self) -> LinkOptions {
        LinkOptions::new(Policy::default().with_mode(self.frames_behind))
    }

    /// Returns true if `frame` is past the last one.
    pub fn is_over(&self, frame: u64) -> bool {
        self.frames.or(self.headless.then_some(60)).is_some_and(|frames| frame >= frames.into())
    }

    /// Returns the time in seconds at which `frame` is shown.
    pub fn seconds(&self, frame: u64) -> f32 {
        frame as f32 / 60.0
    }

    /// Returns the size to change to before `frame`.
    pub fn new_size(&self, frame: u64) -> Option<(u32, u32)> {
        let every = self.churn?;
        let (width, height) = self.size;
        let part = |side: u32| (side / 4 * (3 + (frame / every % 3) as u32)).max(1);
        (frame > 0 && frame.is_multiple_of(every)).then(|| (part(width), part(height)))
    }

    /// Returns true if windows are closed and opened again before `frame`.
    pub fn reopens(&self, frame: u64) -> bool {
        self.churn.is_some_and(|every| frame > 0 && frame.is_multiple_of(4 * every))
    }
}

/// Parses a backend by its name; help lists the names with their meaning.
fn backends() -> impl TypedValueParser<Value = BackendChoice> {
    let shown = BackendChoice::all().map(|row| PossibleValue::new(row.name).aliases(row.aliases).help(row.about));
    PossibleValuesParser::new(shown).try_map(|text| BackendChoice::parse(&text))
}

fn parse_size(text: &str) -> Result<(u32, u32), pixelferry::ExtentError> {
    text.parse().map(|Extent { width, height }| (width, height))
}

/// Parses a number of frames, or `auto`.
fn parse_mode(text: &str) -> Result<Mode, String> {
    const MOST: usize = 16;
    match text {
        "auto" => Ok(Mode::Throughput { most: MOST }),
        number => match number.parse() {
            Ok(0) => Ok(Mode::Latency),
            Ok(late) if late <= MOST => Ok(Mode::FramesBehind(late)),
            _ => Err(format!("give a number of frames from 0 to {MOST}, or auto")),
        },
    }
}
