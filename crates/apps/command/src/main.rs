//! The command `pixelferry`: what this machine can do, and a picture to prove it.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic on a closed pipe

mod absent;
#[cfg(feature = "bench")]
mod bench;
#[cfg(target_os = "linux")]
mod clgl;
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

/// Find the fastest path from compute to display that works on this machine, and use it.
#[derive(Parser)]
#[command(
    name = "pixelferry",
    version = absent::VERSION.as_str(),
    arg_required_else_help = true,
    after_help = "Set PIXELFERRY_LOG (e.g. info, interop_core=debug) to set log levels by module.",
    after_long_help = format!("{}\n\nSet PIXELFERRY_LOG (e.g. info, interop_core=debug) to set log levels by \
                               module.", exit::help())
)]
struct Cli {
    #[command(flatten)]
    output: OutputOptions,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Try every path between every compute device and every display, check the pixels of each, and report.
    #[command(after_help = exit::help())]
    Probe(probe::ProbeOptions),
    /// Measure which path is fastest for every compute device and display, and whether pixelferry chooses it
    /// automatically.
    #[cfg(feature = "bench")]
    Bench(Box<bench::BenchOptions>),
    /// Compute a scene on the best device and show it in a window, or save it.
    Demo(Box<demo::DemoOptions>),
    /// View NumPy arrays and pictures: zoom, values, range, colormap, histogram, difference.
    #[cfg(feature = "view")]
    #[command(after_help = view::help())]
    View(view::ViewOptions),
    /// Run a shader or kernel from a file and rebuild it whenever the file is saved: Shadertoy, ISF, GLSL, WGSL, OpenCL
    /// C, CUDA C++.
    ///
    /// A shader can do whatever a program of yours can do: play only files that you would run. Only WGSL is confined to
    /// its own memory.
    #[cfg(feature = "play")]
    #[command(after_help = play::help())]
    Play(play::PlayOptions),
    /// List the streams that processes of this user publish; `view --attach` shows them.
    #[cfg(all(feature = "stream", target_os = "linux"))]
    #[command(after_help = exit::help())]
    Streams(streams::StreamsOptions),
    /// Run any program of OpenCL and OpenGL so that the two share memory, whatever the OpenCL driver.
    #[cfg(target_os = "linux")]
    Clgl(clgl::ClglOptions),
    /// Find out why frames take a slow path or no path, and print the command that fixes it.
    #[command(after_help = exit::help())]
    Doctor(doctor::DoctorOptions),
    /// Write one file for a bug report, without private data.
    Report(report::ReportOptions),
    /// Print the completion script for a shell.
    #[cfg(feature = "manual")]
    Completions(manual::CompletionsOptions),
    /// Write the manual pages to a folder.
    #[cfg(feature = "manual")]
    Man(manual::ManOptions),
}

/// Stops Mesa's layer from choosing a Vulkan device for a desktop when there is no desktop. The layer would print four
/// times on standard error that it looked for Wayland.
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

/// Parses the arguments. `--color` must be known before, because help and errors are coloured.
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
        #[cfg(target_os = "linux")]
        Command::Clgl(options) => return clgl::run(&options),
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
