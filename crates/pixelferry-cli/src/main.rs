//! The command `pixelferry`: what this machine can do, and a picture to prove it.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where the reader has gone

mod absent;
#[cfg(feature = "bench")]
mod bench;
mod demo;
mod doctor;
mod exit;
mod json;
#[cfg(feature = "manual")]
mod manual;
mod output;
#[cfg(feature = "play")]
mod play;
mod probe;
mod report;
mod scrub;
#[cfg(all(feature = "stream", target_os = "linux"))]
mod streams;
mod table;
#[cfg(feature = "view")]
mod view;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use exit::Exit;
use output::OutputOptions;
use pixelferry_demo::terminal;
use pixelferry_demo::trace::Trace;
use std::error::Error;
use std::process::ExitCode;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// Shows which ways from compute to display really work on this machine, and uses them.
#[derive(Parser)]
#[command(
    name = "pixelferry",
    version = absent::VERSION.as_str(),
    arg_required_else_help = true,
    after_help = "Set PIXELFERRY_LOG (e.g. info, interop_core=debug) to log by part.",
    after_long_help = format!("{}\n\nSet PIXELFERRY_LOG (e.g. info, interop_core=debug) to log by part.", exit::help())
)]
struct Cli {
    #[command(flatten)]
    output: OutputOptions,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Try every path between every compute device and every display, prove each by pixels, and report.
    #[command(after_help = exit::help())]
    Probe(probe::ProbeOptions),
    /// Measure which path is fastest for every compute device and display, and whether pixelferry chooses it automatically.
    #[cfg(feature = "bench")]
    Bench(Box<bench::BenchOptions>),
    /// Compute a picture on the best device and show it in a window, or save it.
    Demo(Box<demo::DemoOptions>),
    /// Look closely at arrays of NumPy's or pictures: zoom, values, range, colormap, histogram, difference.
    #[cfg(feature = "view")]
    #[command(after_help = view::help())]
    View(view::ViewOptions),
    /// Show a shader or kernel from a file, built again whenever it is saved: Shadertoy's text, ISF, GLSL, WGSL, OpenCL C, CUDA C++.
    ///
    /// A text may do whatever a program of yours may do: play only texts that you would run. WGSL alone is kept inside its memory.
    #[cfg(feature = "play")]
    #[command(after_help = play::help())]
    Play(play::PlayOptions),
    /// List the streams that processes of this user publish for others, which `view --attach` shows.
    #[cfg(all(feature = "stream", target_os = "linux"))]
    #[command(after_help = exit::help())]
    Streams(streams::StreamsOptions),
    /// Find out why frames take a slow path or none, and name the command that mends it.
    #[command(after_help = exit::help())]
    Doctor(doctor::DoctorOptions),
    /// Write one file for a report of a bug, with nothing private in it.
    Report(report::ReportOptions),
    /// Print what a shell needs to complete this command's words.
    #[cfg(feature = "manual")]
    Completions(manual::CompletionsOptions),
    /// Write manual pages into a folder.
    #[cfg(feature = "manual")]
    Man(manual::ManOptions),
}

/// Leaves out Mesa's choice of a Vulkan device for a desktop where there is none: it says on standard error, four times, that it looked
/// for Wayland.
#[cfg(target_os = "linux")]
fn leave_wayland() {
    const DESKTOP: [&str; 4] = ["DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "MESA_VK_DEVICE_SELECT"];
    if DESKTOP.iter().all(|name| std::env::var_os(name).is_none_or(|value| value.is_empty())) {
        // SAFETY: no other thread runs yet.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    leave_wayland();
    let cli = match parse() {
        Ok(cli) => cli,
        Err(error) => return absent::end(error),
    };
    match run(cli) {
        Ok(exit) => exit.into(),
        Err(error) => terminal::end(Err(error)),
    }
}

/// Reads the arguments. How errors and help are coloured must be known before.
fn parse() -> Result<Cli, clap::Error> {
    let arguments: Vec<_> = std::env::args_os().collect();
    let command = Cli::command().color(output::color_of(&arguments));
    Cli::from_arg_matches(&command.try_get_matches_from(arguments)?)
}

fn run(Cli { output, command }: Cli) -> Result<Exit, Box<dyn Error>> {
    let trace = match &command {
        Command::Demo(options) => options.trace().map(Trace::create).transpose()?,
        _ => None,
    };
    let usual = match &command {
        #[cfg(feature = "view")]
        Command::View(options) => options.logged(),
        _ => "error",
    };
    let log =
        fmt::layer().with_writer(std::io::stderr).with_ansi(output.is_colored()).with_filter(output.filter(usual)?);
    let subscriber = tracing_subscriber::registry().with(log).with(trace.as_ref().map(Trace::layer));
    #[cfg(feature = "overlay")]
    let messages = demo::Log::default();
    #[cfg(feature = "overlay")]
    let subscriber = subscriber.with(matches!(command, Command::Demo(_)).then(|| messages.layer()));
    subscriber.init();
    match command {
        Command::Probe(options) => return probe::run(&options),
        Command::Doctor(options) => return doctor::run(&options),
        #[cfg(all(feature = "stream", target_os = "linux"))]
        Command::Streams(options) => return streams::run(&options),
        #[cfg(feature = "view")]
        Command::View(options) => view::run(&options)?,
        #[cfg(feature = "play")]
        Command::Play(options) => play::run(options)?,
        Command::Report(options) => report::run(&options)?,
        #[cfg(feature = "bench")]
        Command::Bench(options) => bench::execute(&options, &mut terminal::Output)?,
        #[cfg(feature = "overlay")]
        Command::Demo(options) => demo::run(*options, trace, &messages)?,
        #[cfg(not(feature = "overlay"))]
        Command::Demo(options) => demo::bare(*options, trace)?,
        #[cfg(feature = "manual")]
        Command::Completions(options) => manual::complete(&options, &mut Cli::command())?,
        #[cfg(feature = "manual")]
        Command::Man(options) => manual::write(&options, Cli::command())?,
    }
    Ok(Exit::Done)
}
