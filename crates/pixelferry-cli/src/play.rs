//! `pixelferry play`: shaders and kernels from files.

use pixelferry::command::Choice as _;
use pixelferry::{BackendChoice, DisplayChoice, Extent};
use pixelferry_demo::FilmArgs;
use pixelferry_demo::options::{choices, parse_frames, parse_size};
use pixelferry_media::record::Recorder;
use pixelferry_play::{Channel, Options, Vouched, Wishes, backend_for, play_headless, serve};
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("windowless").multiple(true))]
pub struct PlayOptions {
    /// Text to play; its ending says the language: .glsl (Shadertoy), .fs (ISF), .comp, .wgsl, .cl, .cu.
    #[arg(value_name = "FILE", required_unless_present = "trial")]
    file: Option<PathBuf>,
    /// Backend to compute with; that of the language, unless it runs on several.
    #[arg(long, value_parser = choices::<BackendChoice>(), default_value = BackendChoice::default().name())]
    backend: BackendChoice,
    /// Size of the window at first, or of the picture, in pixels.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = parse_size, default_value = "800x450")]
    size: (u32, u32),
    /// A picture for a channel that the text does not name: NUMBER=FILE (.png, .jpg, .y4m, others by GStreamer), NUMBER=stream:NAME or
    /// NUMBER=bufA.
    #[arg(long, value_name = "NUMBER=SOURCE", value_parser = parse_channel)]
    channel: Vec<(usize, Channel)>,
    /// A slider's number at first.
    #[arg(long, value_name = "NAME=NUMBER", value_parser = parse_set)]
    set: Vec<(String, f32)>,
    /// Advance time by this much per frame, instead of by the clock; each frame is one frame of a film. [default: 1/60 headless]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    step: Option<Duration>,
    /// Seconds that a text may take in its trial, before it is shown.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "5")]
    limit: Duration,
    /// Open no window; compute so many frames.
    #[arg(long, group = "windowless")]
    headless: bool,
    /// Number of those frames.
    #[arg(long, value_name = "N", value_parser = parse_frames, requires = "windowless", default_value = "1")]
    frames: u32,
    /// File to save the last of them to, with no window (.png, .jpg).
    #[arg(long, value_name = "PICTURE", group = "windowless")]
    out: Option<PathBuf>,
    #[command(flatten)]
    film: FilmArgs,
    /// Try texts that come on standard input: the process of the trial.
    #[arg(long, hide = true)]
    trial: bool,
}

fn parse_channel(text: &str) -> Result<(usize, Channel), String> {
    let (number, source) = text.split_once('=').ok_or("write it as 0=picture.png")?;
    let number = number.parse().ok().filter(|number| *number < 4).ok_or("channels are 0 to 3")?;
    Ok((number, Channel::read(source, Path::new(""))?))
}

fn parse_set(text: &str) -> Result<(String, f32), String> {
    let (name, number) = text.split_once('=').ok_or("write it as speed=2")?;
    Ok((name.to_owned(), number.parse().map_err(|error| format!("{number}: {error}"))?))
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.filter(|seconds| !seconds.is_zero()).ok_or_else(|| "give seconds above 0, such as 0.02".into())
}

/// Lines for help.
pub fn help() -> String {
    format!("Keys of the window:\n{}", pixelferry_play::keys())
}

pub fn run(options: PlayOptions) -> Result<(), Box<dyn Error>> {
    // SAFETY: the user named the text to be run, and the command's help says what that may do.
    let vouched = unsafe { Vouched::new() };
    if options.trial {
        return Ok(serve(io::stdin().lock(), options.backend, vouched)?);
    }
    let Some(file) = options.file else { return Err("give a FILE".into()) };
    let backend = backend_for(&file, options.backend)?;
    let program = std::env::current_exe()?;
    let command = move || {
        let mut command = Command::new(&program);
        command.args(["play", "--trial", "--backend", backend.name()]);
        command
    };
    let record = options.film;
    let is_headless = options.headless || options.out.is_some();
    let mut recorder = record.begin(is_headless || options.step.is_some())?;
    let film = recorder.as_ref().and_then(Recorder::step).map(Duration::from_secs_f32);
    let played = Options {
        wishes: Wishes { backend: options.backend, channels: options.channel },
        display: DisplayChoice::Auto,
        size: Extent::new(options.size.0, options.size.1),
        set: options.set,
        step: options.step.or(film),
        limit: options.limit,
        ..Options::new(file)
    };
    if is_headless {
        play_headless(played, options.frames, options.out.as_deref(), recorder.as_mut(), command, vouched)?;
        return record.end(recorder);
    }
    record.end(pixelferry_play::play(played, recorder, command, vouched)?)
}
