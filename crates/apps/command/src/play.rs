//! `pixelferry play`: shaders and kernels from files.

use pixelferry::command::ApiChoice as _;
use pixelferry::{BackendChoice, DisplayChoice, Extent};
use pixelferry_demo::FilmArgs;
use pixelferry_demo::scene_options::{parse_frames, parse_size};
use pixelferry_demo::values::choices;
use pixelferry_media::record::Recorder;
use pixelferry_play::{Channel, PlayerOptions, TextVoucher, Wishes, backend_for, play_headless, serve};
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("windowless").multiple(true))]
pub struct PlayOptions {
    /// File to play. Its extension selects the language: .glsl (Shadertoy), .fs (ISF), .frag (glslViewer), .comp (GLSL),
    /// .wgsl, .cl (OpenCL C), .cu (CUDA C++).
    #[arg(value_name = "FILE", required_unless_present = "trial")]
    file: Option<PathBuf>,
    /// Backend to compute with; by default the one for the file's language. Some languages run on several.
    #[arg(long, value_parser = choices::<BackendChoice>(), default_value = BackendChoice::default().name())]
    backend: BackendChoice,
    /// Initial size of the window, or size of the picture, in pixels. [default: 800x450; headless, the size of an ISF
    /// filter's image]
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = parse_size)]
    size: Option<(u32, u32)>,
    /// Input for a channel that the shader does not name itself: NUMBER=FILE (.png, .jpg, .y4m, others via GStreamer),
    /// NUMBER=stream:NAME or NUMBER=bufA.
    #[arg(long, value_name = "NUMBER=SOURCE", value_parser = parse_channel)]
    channel: Vec<(usize, Channel)>,
    /// Initial value of a slider.
    #[arg(long, value_name = "NAME=NUMBER", value_parser = parse_set)]
    set: Vec<(String, f32)>,
    /// Advance time by this much per frame, instead of by the clock; each frame is one frame of a film. [default: 1/60
    /// headless]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, allow_negative_numbers = true)]
    step: Option<Duration>,
    /// Seconds that a shader may take in its trial run, before it is shown.
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "5", allow_negative_numbers = true)]
    limit: Duration,
    /// Open no window; compute a number of frames and exit.
    #[arg(long, group = "windowless")]
    headless: bool,
    /// Number of frames to compute.
    #[arg(long, value_name = "N", value_parser = parse_frames, requires = "windowless", default_value = "1")]
    #[arg(allow_negative_numbers = true)]
    frames: u32,
    /// Save the last frame to this file instead of opening a window (.png, .jpg).
    #[arg(long, value_name = "PICTURE", group = "windowless")]
    out: Option<PathBuf>,
    #[command(flatten)]
    film: FilmArgs,
    /// Internal: run as the trial process, which tries shaders that arrive on standard input.
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

/// Formats the keys for help.
pub fn help() -> String {
    format!("Keys of the window:\n{}", pixelferry_play::keys())
}

pub fn run(options: PlayOptions) -> Result<(), Box<dyn Error>> {
    // SAFETY: the user chose the file to run, and the command's help says what it can do.
    let vouched = unsafe { TextVoucher::new() };
    if options.trial {
        return Ok(serve(io::stdin().lock(), options.backend, vouched)?);
    }
    let Some(file) = options.file else { return Err("give a FILE to play".into()) };
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
    let (width, height) = options.size.unwrap_or((800, 450));
    let played = PlayerOptions {
        wishes: Wishes { backend: options.backend, channels: options.channel },
        display: DisplayChoice::Auto,
        size: Extent::new(width, height),
        follows_image: is_headless && options.size.is_none(),
        set: options.set,
        step: options.step.or(film),
        limit: options.limit,
        ..PlayerOptions::new(file)
    };
    if is_headless {
        play_headless(played, options.frames, options.out.as_deref(), recorder.as_mut(), command, vouched)?;
        return record.end(recorder);
    }
    record.end(pixelferry_play::play(played, recorder, command, vouched)?)
}
