//! The command `pixelferry`: what this machine can do, and a picture to prove it.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where the reader has gone

#[cfg(feature = "bench")]
mod bench;
mod demo;
mod probe;
mod table;

use clap::{Parser, Subcommand};
use pixelferry_demo::terminal;
use pixelferry_demo::trace::Trace;
use std::error::Error;
use std::process::ExitCode;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, fmt};

/// Shows which ways from compute to display really work on this machine, and uses them.
///
/// Set PIXELFERRY_LOG (e.g. `info`, `debug`) to see more of what happens.
#[derive(Parser)]
#[command(version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Try every path between every compute device and every display, prove each by pixels, and report.
    Probe(probe::ProbeOptions),
    /// Measure which path is fastest for every compute device and display, and whether it is the one taken by itself.
    #[cfg(feature = "bench")]
    Bench(Box<bench::BenchOptions>),
    /// Compute a picture on the best device and show it in a window, or save it.
    Demo(Box<demo::DemoOptions>),
}

fn main() -> ExitCode {
    terminal::end(run(Cli::parse().command))
}

fn run(command: Command) -> Result<(), Box<dyn Error>> {
    let trace = match &command {
        Command::Demo(options) => options.trace().map(Trace::create).transpose()?,
        _ => None,
    };
    let filter = match std::env::var("PIXELFERRY_LOG") {
        Ok(text) if !text.is_empty() => EnvFilter::try_new(&text).map_err(|e| {
            format!("PIXELFERRY_LOG is '{text}' ({e}); give a level such as info, or opencl_backend=debug")
        })?,
        _ => EnvFilter::new("error"),
    };
    let log = fmt::layer().with_writer(std::io::stderr).with_filter(filter);
    let subscriber = tracing_subscriber::registry().with(log).with(trace.as_ref().map(Trace::layer));
    #[cfg(feature = "overlay")]
    let messages = demo::Log::default();
    #[cfg(feature = "overlay")]
    let subscriber = subscriber.with(matches!(command, Command::Demo(_)).then(|| messages.layer()));
    subscriber.init();
    match command {
        Command::Probe(options) => probe::run(&options),
        #[cfg(feature = "bench")]
        Command::Bench(options) => Ok(bench::execute(&options, &mut terminal::Output)?),
        #[cfg(feature = "overlay")]
        Command::Demo(options) => demo::run(*options, trace, &messages),
        #[cfg(not(feature = "overlay"))]
        Command::Demo(options) => demo::bare(*options, trace),
    }
}
